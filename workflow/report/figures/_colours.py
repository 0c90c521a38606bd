"""One colour for each attention, the same in every figure; everything else is coloured by its order.

Several variants of one attention take tones of its colour.

The ten colours are Petroff's (Accessible Color Sequences for Data Visualization, 2021): they stay apart for readers
with any of the three colour blindnesses. What is no attention (a k, a head, a text, a kind of layer) takes steps of
cividis, from dark to light, so that no colour means two things.
"""

from functools import cache

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import to_hex, to_rgb

COLOURS = {
    "fixed": "#3f90da",
    "adaptive": "#e76300",
    "dynamic": "#832db6",
    "top_k": "#bd1f01",
    "adaptive_top_k": "#a96b59",
    "sparsemax": "#92dadd",
    "entmax15": "#b9ac70",
    "entmax_alpha": "#ffa90e",
    "transformer_xl": "#717581",
    "published": "#94a4a2",
}
GREY = "#777777"
INK = "#1b1b1b"
LIGHTEST = 0.8  # of cividis: beyond, a line is lost on the page
ON_DARK = (0.5, 1.0)  # the part of cividis that is seen on a dark page
FARTHEST = 0.55  # of the way from a colour to black, or on a dark page to white, that its tones go
MOST = 40  # variants of a question, shades of them


def shades(number: int, first: float = 0.0, last: float = LIGHTEST) -> list[str]:
    """So many colours in order, from dark to light."""
    return [to_hex(colormaps["cividis"](place)) for place in np.linspace(first, last, number)]


def tones(colour: str, number: int, towards: str = "black") -> list[str]:
    """A colour and ever darker ones of it, for several variants of one attention."""
    near, far = np.array(to_rgb(colour)), np.array(to_rgb(towards))
    return [to_hex((1 - part) * near + part * far) for part in np.linspace(0, FARTHEST, number)]


@cache
def on_dark() -> dict[str, str]:
    """Shades and tones, and what stands for each on a dark page, in an order that is seen there too."""
    pairs = {}
    for number in range(1, MOST):
        pairs |= zip(shades(number), shades(number, *ON_DARK), strict=True)
    for colour in COLOURS.values():
        for number in range(2, len(COLOURS)):
            pairs |= zip(tones(colour, number)[1:], tones(colour, number, "white")[1:], strict=True)
    return pairs


@cache
def is_shade(colour: str) -> bool:
    """Whether it is a step of cividis, of as many as there may be variants."""
    return any(colour in shades(number) for number in range(1, MOST))
