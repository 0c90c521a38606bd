"""One colour per variant: known for all that are drawn, told apart by colour-blind readers, and never used twice."""

from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from workflow.plan.ablations import load_ablation
from workflow.report.figures._colours import COLOURS, LABELS, shades

# what a reader without one kind of cone sees (Machado, Oliveira, Fernandes 2009, severity 1), in linear RGB
SEEN = {
    "all three": np.eye(3),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
APART = 15  # distance in CIELAB; 2.3 is just seen side by side


def lab(colour: str, seen) -> np.ndarray:
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    x = XYZ @ np.clip(np.array(seen) @ linear, 0, 1) / XYZ.sum(1)
    f = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("reader", SEEN)
def test_any_two_variants_look_different(reader):
    colours = {name: lab(colour, SEEN[reader]) for name, colour in COLOURS.items()}
    nearest = min((np.linalg.norm(colours[a] - colours[b]), a, b) for a, b in combinations(colours, 2))
    assert nearest[0] > APART, nearest


@pytest.mark.parametrize("reader", SEEN)
def test_what_is_no_variant_goes_from_dark_to_light(reader):
    lightness = [lab(colour, SEEN[reader])[0] for colour in shades(5)]
    assert all(later - earlier > 8 for earlier, later in zip(lightness, lightness[1:], strict=False)), lightness
    assert len(shades(1)) == 1


def test_every_variant_that_is_drawn_has_its_colour_and_its_name():
    ablations = ("quality_against_cost", "span_limit", "dynamic_span")
    drawn = {variant for ablation in ablations for variant in load_ablation(ablation).variants}
    assert drawn <= {*COLOURS} <= {*LABELS}


def test_no_colour_means_two_things():
    assert len({*COLOURS.values()}) == len(COLOURS)
    assert not {*COLOURS.values()} & {colour for number in range(1, 9) for colour in shades(number)}
