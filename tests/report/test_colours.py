"""One colour for each attention, the same in every question, for readers of every kind."""

from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from tests._runs import run
from workflow.report.figures.colours import (
    COLOURS,
    DARK_PAPER,
    INK,
    LIGHT_PAPER,
    ON_DARK_PAPER,
    READABLE,
    as_named,
    contrast,
    fit,
    shades,
)
from workflow.results.runs_table import as_frame

# what a reader without one kind of cone sees (Machado, Oliveira, Fernandes 2009, severity 1), in
# linear RGB
SEEN = {
    "all three": np.eye(3),
    "no red": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "no green": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
    "no blue": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.3039],
    ],
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
APART = 15  # distance in CIELAB; 2.3 is just seen side by side


def lab(colour: str, seen) -> np.ndarray:
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen_linear = np.clip(np.array(seen) @ linear, 0, 1)
    xyz = XYZ @ seen_linear / XYZ.sum(1)
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    lightness = 116 * y - 16
    return np.array([lightness, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("colours", [COLOURS, ON_DARK_PAPER], ids=["light", "dark"])
@pytest.mark.parametrize("reader", SEEN)
def test_any_two_of_ten_variants_look_different_on_light_and_on_dark(reader, colours):
    places = {name: lab(colour, SEEN[reader]) for name, colour in colours.items()}
    assert places.keys() == COLOURS.keys()
    for one, other in combinations(places, 2):
        distance = np.linalg.norm(places[one] - places[other])
        assert distance >= APART, (one, other)


def test_ten_variants_of_one_attention_have_ten_colours_and_of_more_the_rest_is_ink():
    rows = [run("mine", f"v{number}", span="adaptive") for number in range(12)]
    assert as_named(as_frame(rows[:10]))["colour"].nunique() == 10
    first, *others = as_named(as_frame(rows))["colour"]
    assert first == COLOURS["adaptive"]
    assert set(others) == {INK}


@pytest.mark.parametrize(
    "name, changes, colour",
    [
        ("xl", {"span": "adaptive"}, COLOURS["adaptive"]),
        ("a1", {"span": "fixed", "selection": "top_k"}, COLOURS["top_k"]),
        ("fixed", {"span": "adaptive", "normaliser": "sparsemax"}, COLOURS["fixed"]),
        ("other", {"span": "full", "net": "transformer_xl"}, COLOURS["transformer_xl"]),
        ("mine", {"span": "full", "colour": "#123456"}, "#123456"),
    ],
)
def test_a_colour_stands_for_an_attention_whatever_it_is_called(name, changes, colour):
    named = as_named(as_frame([run("mine", name, **changes)]))
    assert named["colour"].tolist() == [colour]


@pytest.mark.parametrize("paper", [LIGHT_PAPER, DARK_PAPER])
@pytest.mark.parametrize("colour", [*COLOURS.values(), *shades(2), *shades(7)])
def test_every_colour_of_a_line_is_seen_on_both_papers(colour, paper):
    assert contrast(fit(colour, paper), paper) >= READABLE[paper]
