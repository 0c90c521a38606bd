"""One colour for each attention, the same in every figure; everything else is coloured by its order.

A variant has the colour that its question names, or that of its attention; several variants of one attention take tones
of it. What is no attention (a k, a head, a text, a kind of layer) takes steps of cividis, from dark to light, so that
no colour means two things. The ten of `COLOURS` are Petroff's (Accessible Color Sequences for Data Visualization,
2021): readers with any of the three colour blindnesses can tell them apart.

On a page, which may be light or dark, ink, greys and paper take the page's colours, and all others are made light or
dark enough to be seen on it. The files of a figure, which are for print, keep the colours given here.
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
LIGHTEST = 0.8  # the lightest shade of cividis in use: a lighter line is lost on the page
ON_DARK = (0.5, 1.0)  # the part of cividis that can be seen on a dark page
FARTHEST = 0.55  # how much of the way from a colour to black (on a dark page to white) its tones go
MOST = 40  # fewer variants than this have shades of their own
PLAIN = ("full", "fixed")  # spans that are left out of the name where another choice is named
XL = "transformer_xl"  # a net that is an attention of its own
LIGHT_PAPER, DARK_PAPER = "#fdfdfb", "#161615"  # the same as in templates/style.css
# The least contrast of a line or mark with its paper: 3 (WCAG 1.4.11), more on dark paper, where thin lines fade.
READABLE = {LIGHT_PAPER: 3.0, DARK_PAPER: 5.0}
OF_THE_PAGE = {"#000000": "var(--ink)", INK: "var(--ink)", GREY: "var(--soft)", "#bbbbbb": "var(--line)"}
COLOUR = re.compile(r"\b(fill|stroke): (#[0-9a-f]{6})")
BACKGROUND = re.compile(r'(<g id="patch_\d+">\s*<path [^>]*style="fill: )#ffffff')
MAP = re.compile(r'(<g id="(?:QuadMesh_\d+|cells-[\d-]+)">.*?</g>)', re.DOTALL)  # as `marks.shows` names one


@cache
def shades(number: int, first: float = 0.0, last: float = LIGHTEST) -> tuple[str, ...]:
    """List so many colours of cividis in order, from dark to light."""
    return tuple(to_hex(colour) for colour in colormaps["cividis"](np.linspace(first, last, number)))


def tones(colour: str, number: int, towards: str = "black") -> list[str]:
    """List a colour and ever darker tones of it (or lighter, towards white), for several variants of one attention."""
    near, far = np.array(to_rgb(colour)), np.array(to_rgb(towards))
    return [to_hex((1 - part) * near + part * far) for part in np.linspace(0, FARTHEST, number)]


@cache
def on_dark() -> dict[str, str]:
    """Map each shade and tone to its colour on a dark page, so that their order can be seen there too."""
    pairs = {}
    for number in range(1, MOST):
        pairs |= zip(shades(number), shades(number, *ON_DARK), strict=True)
    for colour in COLOURS.values():
        for number in range(2, len(COLOURS)):
            pairs |= zip(tones(colour, number)[1:], tones(colour, number, "white")[1:], strict=True)
    return pairs


@cache
def is_shade(colour: str) -> bool:
    """Whether a colour is one of the shades of cividis that some number of variants takes."""
    return any(colour in shades(number) for number in range(1, MOST))


def as_named(runs: pd.DataFrame) -> pd.DataFrame:
    """Put the label of each variant in place of its name in the runs of one question, with its `colour` as hex."""
    labels = dict(zip(runs["variant"], runs["label"], strict=True))
    colours = runs["variant"].map(colours_of(runs))
    return runs.assign(variant=runs["label"], baseline=runs["baseline"].map(labels), colour=colours)


def colours_of(runs: pd.DataFrame) -> dict[str, str]:
    """Choose the colour of each variant of one question, in the order of its runs."""
    told = runs[["variant", "colour", "net", "span", "selection", "normaliser"]]
    firsts = told.drop_duplicates("variant").to_dict("records")
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
    """Name the attention of a run as in `COLOURS`: `adaptive`, `top_k` (on a plain span), `adaptive_top_k`, ..."""
    first = XL if run["net"] == XL else run["span"]
    others = [run[axis] for axis, plain in (("selection", "all"), ("normaliser", "softmax")) if run[axis] != plain]
    return "_".join(others if others and first in PLAIN else [first, *others])


def follow_page(svg: str) -> str:
    """Recolour one of our SVGs so that it can be read on light and dark pages. A heat map keeps its scale."""
    parts = MAP.split(BACKGROUND.sub(r"\1none", svg))
    return "".join(part if number % 2 else COLOUR.sub(_adapt, part) for number, part in enumerate(parts))


def _adapt(match: re.Match) -> str:
    """Write a colour's declarations; a browser that does not know light-dark() keeps the one before it."""
    kind, colour = match.groups()
    if colour in OF_THE_PAGE:
        return f"{kind}: {OF_THE_PAGE[colour]}"
    light, both = fit(colour, LIGHT_PAPER), on_page(colour)
    return f"{kind}: {light}" if light == both else f"{kind}: {light}; {kind}: {both}"


def on_page(colour: str) -> str:
    """Write a colour as CSS: one for all pages, or one for light and one for dark pages."""
    light, dark = fit(colour, LIGHT_PAPER), fit(on_dark().get(colour, colour), DARK_PAPER)
    return light if light == dark else f"light-dark({light}, {dark})"


@cache
def fit(colour: str, paper: str) -> str:
    """Make a colour as much darker on light paper, or lighter on dark, as it takes to be seen; its hue stays."""
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
