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
        return third * self.row + third // 2, third * self.column + third // 2


Scene = tuple[SceneObject, ...]


def generate_scenes() -> list[Scene]:
    """Draw `COUNT` different scenes, in a random order."""
    generator = random.Random(SEED)
    scenes: dict[frozenset[SceneObject], Scene] = {}  # keyed without order: that changes no picture
    while len(scenes) < COUNT:
        objects = generator.choice((1, 2, 2))  # two are twice as likely
        cells = generator.sample(range(9), objects)
        scene = tuple(_draw_object(cell, generator) for cell in cells)
        scenes.setdefault(frozenset(scene), scene)
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
        covered = _mask(item.shape, rows - row, columns - column, SIZES[item.size])
        picture[covered] = COLOURS[item.colour]
    return picture.transpose(2, 0, 1)


def _mask(shape: str, y: np.ndarray, x: np.ndarray, half: int) -> np.ndarray:
    """Find the pixels that a shape covers, from their distances to its centre."""
    inside = (abs(y) < half) & (abs(x) < half)
    squared = y * y + x * x  # distance to the centre, squared
    in_circle = squared < half * half
    if shape == "circle":
        return in_circle
    if shape == "ring":
        return in_circle & (4 * squared >= half * half)
    if shape == "triangle":
        return inside & (2 * abs(x) <= y + half)
    if shape == "cross":
        return inside & ((abs(x) < half // 2) | (abs(y) < half // 2))
    return inside


def write_captions(scene: Scene) -> list[str]:
    """Write five captions, by the grammar of one object or of two."""
    return _describe_one(*scene) if len(scene) == 1 else _describe_two(*scene)


def _describe_one(item: SceneObject) -> list[str]:
    return [
        f"a {item.size} {item.colour} {item.shape} in the {item.place}",
        f"there is a {item.colour} {item.shape} in the {item.place} of the picture",
        f"the {item.place} of the picture shows a {item.size} {item.shape}",
        f"a single {item.shape} that is {item.size} and {item.colour}",
        f"one {item.colour} {item.shape} and nothing else",
    ]


def _describe_two(first: SceneObject, second: SceneObject) -> list[str]:
    relation, inverse = _relate(first, second)
    other = f"{second.colour} {second.shape}"
    return [
        f"a {first.size} {first.colour} {first.shape} {relation} a {second.size} {other}",
        f"there is a {other} {inverse} a {first.colour} {first.shape}",
        f"a {first.colour} {first.shape} in the {first.place} and a {other} in the {second.place}",
        f"the {first.shape} in the {first.place} is {first.size} and {first.colour}",
        f"two things , a {first.size} {first.shape} {relation} a {other}",
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
