"""One colour for each attention, the same in every figure; everything else is coloured by its order.

The ten colours are Petroff's (Accessible Color Sequences for Data Visualization, 2021): they stay apart for readers
with any of the three colour blindnesses. What is no attention (a k, a head, a text, a kind of layer) takes steps of
cividis, from dark to light, so that no colour means two things.
"""

from functools import cache

from matplotlib import colormaps
from matplotlib.colors import to_hex

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
ON_LIGHT = "#000001"  # text on a light cell of a map, in light and dark pages alike
LIGHTEST = 0.8  # of cividis: beyond, a line is lost on the page


def shades(number: int) -> list[str]:
    """So many colours in order, from dark to light."""
    return [to_hex(colormaps["cividis"](LIGHTEST * step / max(1, number - 1))) for step in range(number)]


@cache
def is_shade(colour: str) -> bool:
    """Whether it is a step of cividis, of as many as there may be variants."""
    return any(colour in shades(number) for number in range(1, 40))
