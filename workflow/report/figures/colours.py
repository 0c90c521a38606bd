"""One colour for each attention, the same in every figure; everything else is coloured by its order.

A variant has the colour that its question names, or that of its attention; several variants of one attention take tones
of it. What is no attention (a k, a head, a text, a kind of layer) takes steps of cividis, from dark to light, so that
no colour means two things. The ten are Petroff's (Accessible Color Sequences for Data Visualization, 2021): they
stay apart for readers with any of the three colour blindnesses.

On a page, which may be dark, ink, greys and paper follow the page, and the others are made as light, or as dark, as it
takes to be seen there. The files that a figure is printed from keep their own.
"""

import colorsys
import re
from functools import cache

import numpy as np
import pandas as pd
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
PLAIN = ("full", "fixed")  # spans that are not named beside another choice
XL = "transformer_xl"  # a net that is an attention of its own
LIGHT_PAPER, DARK_PAPER = "#fdfdfb", "#161615"  # as templates/style.css has them
# Contrast of a line or a mark with the paper behind it: 3 at least (WCAG 1.4.11), more on dark, where thin lines fade.
READABLE = {LIGHT_PAPER: 3.0, DARK_PAPER: 5.0}
OF_THE_PAGE = {"#000000": "var(--ink)", INK: "var(--ink)", GREY: "var(--soft)", "#bbbbbb": "var(--line)"}
COLOUR = re.compile(r"\b(fill|stroke): (#[0-9a-f]{6})")
BACKGROUND = re.compile(r'(<g id="patch_\d+">\s*<path [^>]*style="fill: )#ffffff')
MAP = re.compile(r'(<g id="QuadMesh_\d+">.*?</g>)', re.DOTALL)


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


def as_named(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs of one ablation, the label of each variant in place of its name, with the `colour` of each as hex."""
    return runs.assign(variant=runs["label"], colour=runs["variant"].map(colours_of(runs)))


def colours_of(runs: pd.DataFrame) -> dict[str, str]:
    """By variant, in the order of the runs of one ablation."""
    firsts = runs.drop_duplicates("variant").to_dict("records")
    alike: dict[str, list[str]] = {}
    for run in firsts:
        alike.setdefault(attention_of(run), []).append(run["variant"])
    known = {run["variant"]: None for run in firsts}
    for kind, variants in alike.items():
        if kind in COLOURS:
            known |= zip(variants, tones(COLOURS[kind], len(variants)), strict=True)
    known |= {run["variant"]: run["colour"] for run in firsts if isinstance(run["colour"], str)}
    rest = [variant for variant, colour in known.items() if colour is None]
    return known | dict(zip(rest, shades(len(rest)), strict=True))


def attention_of(run: dict) -> str:
    """`adaptive`, `top_k` of a plain span, `adaptive_top_k`, `transformer_xl`: what tells attentions apart."""
    first = XL if run["net"] == XL else run["span"]
    others = [run[axis] for axis, plain in (("selection", "all"), ("normaliser", "softmax")) if run[axis] != plain]
    return "_".join(others if others and first in PLAIN else [first, *others])


def follow_page(svg: str) -> str:
    """An SVG of ours whose colours can be read on light and on dark. A map keeps its scale."""
    parts = MAP.split(BACKGROUND.sub(r"\1none", svg))
    return "".join(part if number % 2 else COLOUR.sub(_adapt, part) for number, part in enumerate(parts))


def _adapt(match: re.Match) -> str:
    """A browser that does not know light-dark() keeps the declaration before it."""
    kind, colour = match.groups()
    if colour in OF_THE_PAGE:
        return f"{kind}: {OF_THE_PAGE[colour]}"
    light, both = fit(colour, LIGHT_PAPER), on_page(colour)
    return f"{kind}: {light}" if light == both else f"{kind}: {light}; {kind}: {both}"


def on_page(colour: str) -> str:
    """As CSS: the colour, or one for light pages and one for dark."""
    light, dark = fit(colour, LIGHT_PAPER), fit(on_dark().get(colour, colour), DARK_PAPER)
    return light if light == dark else f"light-dark({light}, {dark})"


@cache
def fit(colour: str, paper: str) -> str:
    """Keep the hue, as much darker on light paper and lighter on dark as it takes to be seen."""
    hue, light, saturation = colorsys.rgb_to_hls(*to_rgb(colour))
    step = 0.02 if paper == DARK_PAPER else -0.02
    while contrast(colour, paper) < READABLE[paper]:
        light += step
        colour = to_hex(colorsys.hls_to_rgb(hue, light, saturation))
    return colour


def contrast(a: str, b: str) -> float:
    """Compute the contrast of two colours, as WCAG 2 defines it: 1 to 21."""
    lighter, darker = sorted((_luminance(a), _luminance(b)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
