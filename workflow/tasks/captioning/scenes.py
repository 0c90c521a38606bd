"""Draw scenes with captions: pictures that every installation can make.

A scene has one or two objects on a grid of three by three cells; an object has a shape, a colour
and a size. A picture is drawn in whole numbers, pixel by pixel, so that it is the same on every
machine. Five captions are written for each by a small grammar; no two captions of a scene are
alike.
"""

import random
from dataclasses import dataclass

import numpy as np

PIXELS = 48  # side of a picture
SHAPES = ("circle", "square", "triangle", "cross", "ring")
COLOURS = {
    "red": (214, 39, 40),
    "green": (44, 160, 44),
    "blue": (31, 119, 220),
    "yellow": (240, 210, 40),
    "purple": (148, 80, 200),
    "white": (245, 245, 245),
}
SIZES = {"small": 5, "large": 8}  # half the side, in pixels
ROWS = ("top", "middle", "bottom")
COLUMNS = ("left", "centre", "right")
GROUND = (40, 44, 52)
COUNT = 4000  # scenes
SEED = 1


@dataclass(frozen=True)
class SceneObject:
    shape: str
    colour: str
    size: str
    row: int
    column: int

    @property
    def place(self) -> str:
        if (self.row, self.column) == (1, 1):
            return "middle"
        return f"{ROWS[self.row]} {COLUMNS[self.column]}"

    @property
    def centre(self) -> tuple[int, int]:
        """Return row and column of the centre, in pixels."""
        third = PIXELS // 3
        row = third * self.row + third // 2
        column = third * self.column + third // 2
        return row, column


Scene = tuple[SceneObject, ...]


def generate_scenes() -> list[Scene]:
    """Draw `COUNT` different scenes, in a random order."""
    generator = random.Random(SEED)
    scenes: dict[frozenset[SceneObject], Scene] = {}  # keyed without order: that changes no picture
    while len(scenes) < COUNT:
        objects = generator.choice((1, 2, 2))  # two are twice as likely
        cells = generator.sample(range(9), objects)
        scene = tuple(_draw_object(cell, generator) for cell in cells)
        without_order = frozenset(scene)
        scenes.setdefault(without_order, scene)
    return list(scenes.values())


def _draw_object(cell: int, generator: random.Random) -> SceneObject:
    shape = generator.choice(SHAPES)
    colour = generator.choice([*COLOURS])
    size = generator.choice([*SIZES])
    row, column = divmod(cell, 3)
    return SceneObject(shape, colour, size, row, column)


def draw(scene: Scene) -> np.ndarray:
    """Draw a scene as pixels 3 H W, uint8."""
    picture = np.empty((PIXELS, PIXELS, 3), np.uint8)
    picture[:] = GROUND
    rows, columns = np.mgrid[:PIXELS, :PIXELS]
    for item in scene:
        row, column = item.centre
        y = rows - row
        x = columns - column
        covered = _mask(item.shape, y, x, SIZES[item.size])
        picture[covered] = COLOURS[item.colour]
    return picture.transpose(2, 0, 1)


def _mask(shape: str, y: np.ndarray, x: np.ndarray, half: int) -> np.ndarray:
    """Find the pixels that a shape covers, from their distances to its centre."""
    down = abs(y)
    across = abs(x)
    in_square = (down < half) & (across < half)
    squared = y * y + x * x  # distance to the centre, squared
    in_circle = squared < half * half
    if shape == "circle":
        return in_circle
    if shape == "ring":
        is_outer = 4 * squared >= half * half
        return in_circle & is_outer
    if shape == "triangle":
        below_sides = 2 * across <= y + half
        return in_square & below_sides
    if shape == "cross":
        in_beam = across < half // 2
        in_bar = down < half // 2
        return in_square & (in_beam | in_bar)
    return in_square


def write_captions(scene: Scene) -> list[str]:
    """Write five captions, by the grammar of one object or of two."""
    if len(scene) == 1:
        return _describe_one(*scene)
    return _describe_two(*scene)


def _describe_one(item: SceneObject) -> list[str]:
    size = item.size
    colour = item.colour
    shape = item.shape
    place = item.place
    return [
        f"a {size} {colour} {shape} in the {place}",
        f"there is a {colour} {shape} in the {place} of the picture",
        f"the {place} of the picture shows a {size} {shape}",
        f"a single {shape} that is {size} and {colour}",
        f"one {colour} {shape} and nothing else",
    ]


def _describe_two(first: SceneObject, second: SceneObject) -> list[str]:
    relation, inverse = _relate(first, second)
    size = first.size
    shape = first.shape
    one = f"{first.colour} {shape}"
    other = f"{second.colour} {second.shape}"
    return [
        f"a {size} {one} {relation} a {second.size} {other}",
        f"there is a {other} {inverse} a {one}",
        f"a {one} in the {first.place} and a {other} in the {second.place}",
        f"the {shape} in the {first.place} is {size} and {first.colour}",
        f"two things , a {size} {shape} {relation} a {other}",
    ]


def _relate(first: SceneObject, second: SceneObject) -> tuple[str, str]:
    """Say where the first is relative to the second, and the other way round.

    By row, or by column where the row is the same.
    """
    if first.row < second.row:
        return "above", "below"
    if first.row > second.row:
        return "below", "above"
    if first.column < second.column:
        return "left of", "right of"
    return "right of", "left of"
