"""Scenes that are drawn, and captions written for them: pictures that every installation can make.

A scene has one or two objects on a grid of three by three places; an object has a shape, a colour and a size. A
picture is drawn in whole numbers, pixel by pixel, so that it is the same on every machine. Five captions are written
for each by a small grammar; no two of a scene are alike.
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
ROWS, COLUMNS = ("top", "middle", "bottom"), ("left", "centre", "right")
GROUND = (40, 44, 52)
COUNT, SEED = 4000, 1


@dataclass(frozen=True)
class Thing:
    shape: str
    colour: str
    size: str
    row: int
    column: int

    @property
    def place(self) -> str:
        row, column = ROWS[self.row], COLUMNS[self.column]
        return "middle" if (self.row, self.column) == (1, 1) else f"{row} {column}"

    @property
    def centre(self) -> tuple[int, int]:
        """Row and column of its middle, in pixels."""
        third = PIXELS // 3
        return third * self.row + third // 2, third * self.column + third // 2


def scenes() -> list[tuple[Thing, ...]]:
    """`COUNT` of them, none twice, in an order that does not matter."""
    chance, found = random.Random(SEED), {}
    while len(found) < COUNT:
        places = chance.sample(range(9), chance.choice((1, 2, 2)))
        things = tuple(
            Thing(chance.choice(SHAPES), chance.choice([*COLOURS]), chance.choice([*SIZES]), *divmod(place, 3))
            for place in places
        )
        found.setdefault(frozenset(things), things)  # in another order it would be the same picture
    return list(found.values())


def drawn(scene: tuple[Thing, ...]) -> np.ndarray:
    """3 H W, uint8."""
    picture = np.empty((PIXELS, PIXELS, 3), np.uint8)
    picture[:] = GROUND
    rows, columns = np.mgrid[:PIXELS, :PIXELS]
    for thing in scene:
        row, column = thing.centre
        picture[_covers(thing.shape, rows - row, columns - column, SIZES[thing.size])] = COLOURS[thing.colour]
    return picture.transpose(2, 0, 1)


def _covers(shape: str, y: np.ndarray, x: np.ndarray, half: int) -> np.ndarray:
    """The pixels of a shape, from their distances to its middle."""
    inside = (abs(y) < half) & (abs(x) < half)
    far = y * y + x * x
    return {
        "circle": far < half * half,
        "square": inside,
        "triangle": inside & (2 * abs(x) <= y + half),
        "cross": inside & ((abs(x) < half // 2) | (abs(y) < half // 2)),
        "ring": (far < half * half) & (4 * far >= half * half),
    }[shape]


def captions(scene: tuple[Thing, ...]) -> list[str]:
    """Five, by the grammar of one thing or of two."""
    return _of_one(*scene) if len(scene) == 1 else _of_two(*scene)


def _of_one(one: Thing) -> list[str]:
    return [
        f"a {one.size} {one.colour} {one.shape} in the {one.place}",
        f"there is a {one.colour} {one.shape} in the {one.place} of the picture",
        f"the {one.place} of the picture shows a {one.size} {one.shape}",
        f"a single {one.shape} that is {one.size} and {one.colour}",
        f"one {one.colour} {one.shape} and nothing else",
    ]


def _of_two(one: Thing, other: Thing) -> list[str]:
    relation, back = _relations(one, other)
    return [
        f"a {one.size} {one.colour} {one.shape} {relation} a {other.size} {other.colour} {other.shape}",
        f"there is a {other.colour} {other.shape} {back} a {one.colour} {one.shape}",
        f"a {one.colour} {one.shape} in the {one.place} and a {other.colour} {other.shape} in the {other.place}",
        f"the {one.shape} in the {one.place} is {one.size} and {one.colour}",
        f"two things , a {one.size} {one.shape} {relation} a {other.colour} {other.shape}",
    ]


def _relations(one: Thing, other: Thing) -> tuple[str, str]:
    """How the one stands to the other, and the other to the one: by row, else by column."""
    if one.row != other.row:
        return ("above", "below") if one.row < other.row else ("below", "above")
    return ("left of", "right of") if one.column < other.column else ("right of", "left of")
