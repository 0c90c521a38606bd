"""One colour per variant, the same in every figure; everything else is coloured by its order.

The ten colours are Petroff's (Accessible Color Sequences for Data Visualization, 2021): they stay apart for readers
with any of the three colour blindnesses. What is no variant (a k, a head, a text, a kind of layer) takes steps of
cividis, from dark to light, so that no colour means two things.
"""

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
LABELS = {
    "fixed": "fixed span",
    "adaptive": "adaptive span",
    "dynamic": "dynamic span",
    "top_k": "top-k",
    "adaptive_top_k": "adaptive span, top-k",
    "adaptive_sparsemax": "adaptive span, sparsemax",
    "adaptive_entmax15": "adaptive span, entmax-1.5",
    "adaptive_entmax_alpha": "adaptive span, entmax-α",
    "sparsemax": "sparsemax",
    "entmax15": "entmax-1.5",
    "entmax_alpha": "entmax-α",
    "transformer_xl": "Transformer-XL",
    "xl": "Transformer-XL",
    "xl_top_k": "Transformer-XL, top-k",
    "xl_sparsemax": "Transformer-XL, sparsemax",
    "xl_entmax15": "Transformer-XL, entmax-1.5",
    "xl_entmax_alpha": "Transformer-XL, entmax-α",
    "as_small": "small adaptive span",
    "as_large": "large adaptive span",
    "txl_12": "small Transformer-XL",
    "txl_24": "large Transformer-XL",
    "published": "published",
}
# the rows of Attention Is All You Need, Table 3, beside its base net
LABELS |= {
    "a1": "heads / 8",
    "a4": "heads / 2",
    "a16": "heads x 2",
    "a32": "heads x 4",
    "b16": "keys' width / 4",
    "b32": "keys' width / 2",
    "cN2": "layers / 3",
    "cN4": "layers x 2/3",
    "cN8": "layers x 4/3",
    "cd256": "width / 2",
    "cd1024": "width x 2",
    "cff1024": "inner width / 2",
    "cff4096": "inner width x 2",
    "d0": "no dropout",
    "d2": "dropout 0.2",
    "ls0": "no label smoothing",
    "ls2": "label smoothing 0.2",
    "e": "learned positions",
}
GREY = "#777777"
INK = "#1b1b1b"  # of a new variant, until it has a line above
ON_LIGHT = "#000001"  # text on a light cell of a map, in light and dark pages alike
LIGHTEST = 0.8  # of cividis: beyond, a line is lost on the page


def shades(number: int) -> list[str]:
    """So many colours in order, from dark to light."""
    return [to_hex(colormaps["cividis"](LIGHTEST * step / max(1, number - 1))) for step in range(number)]
