"""Decide every colour of pages and figures: one for each attention, others by their order.

A variant has the colour that its question names, or that of its attention. Of several variants with
the same attention the first keeps its colour, and the others take colours of the ten that the
figure does not use. What is no variant (a k, a head, a corpus, a kind of layer) takes steps of
cividis, from dark to light.

The ten of `COLOURS` follow Petroff (Accessible Color Sequences for Data Visualization, 2021). They
were moved, on light and on dark paper, until any two are at least 15 apart in CIELAB for readers
with full colour vision, protanopia, deuteranopia and tritanopia (Machado et al., 2009), and each
can be seen on its paper.

Text, lines and paper of a page have the colours of `PAGE`, which its style sheet takes from here.
In a figure on a page, which may be light or dark, ink, greys and paper take the page's colours, and
all others are made light or dark enough to be seen on it. The files of a figure, which are for
print, keep the colours given here.
"""

import colorsys
import re
from functools import cache

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.colors import to_hex, to_rgb

COLOURS = {  # on light paper, and in print
    "fixed": "#1164a7",
    "adaptive": "#d22f00",
    "dynamic": "#994ad8",
    "top_k": "#9b1600",
    "adaptive_top_k": "#905642",
    "sparsemax": "#4d9ba5",
    "entmax15": "#9b9255",
    "entmax_alpha": "#d67c00",
    "transformer_xl": "#616573",
    "published": "#374540",
}
ON_DARK_PAPER = {
    "fixed": "#83c1f1",
    "adaptive": "#ff8f4e",
    "dynamic": "#af69f7",
    "top_k": "#f84700",
    "adaptive_top_k": "#bc7956",
    "sparsemax": "#b3f3f7",
    "entmax15": "#c8bb7e",
    "entmax_alpha": "#dab500",
    "transformer_xl": "#898b95",
    "published": "#afc4b9",
}
GREY = "#777777"
INK = "#1b1b1b"
LIGHTEST = 0.8  # the lightest shade of cividis in use: a lighter line is lost on the page
ON_DARK = (0.5, 1.0)  # the part of cividis that can be seen on a dark page
MOST = 40  # fewer steps than this have shades of their own
NAMED = ("span", "selection", "normaliser", "score_scale")  # axes by which attention has a colour
PLAIN = ("full", "fixed")  # spans that are left out of the name where another choice is named
XL = "transformer_xl"  # a model that is an attention of its own
# name of a CSS variable -> its colour on light and on dark pages
PAGE = {
    "ink": ("#1b1b1b", "#e9e8e4"),
    "soft": ("#5c5c5c", "#a8a7a2"),
    "line": ("#d9d9d6", "#3a3a38"),
    "paper": ("#fdfdfb", "#161615"),
    "wash": ("#f3f3ef", "#20201e"),
    "link": ("#0a558c", "#8cc4f0"),
    "bad": ("#a3260f", "#ff9a84"),
    "good": ("#1d6b3a", "#7fd39b"),
    "guess": ("#6b3fa0", "#c9a7f5"),
    "shadow": ("#0000003d", "#ffffff3d"),
}
LIGHT_PAPER, DARK_PAPER = PAGE["paper"]
# The least contrast of a line or mark with its paper: 3 (WCAG 1.4.11), more on dark paper, where
# thin lines fade.
READABLE = {LIGHT_PAPER: 3.0, DARK_PAPER: 5.0}
OF_THE_PAGE = {
    "#ffffff": "var(--paper)",
    "#000000": "var(--ink)",
    INK: "var(--ink)",
    GREY: "var(--soft)",
    "#bbbbbb": "var(--line)",
}
COLOUR = re.compile(r"\b(fill|stroke): (#[0-9a-f]{6})")
BACKGROUND = re.compile(r'(<g id="patch_\d+">\s*<path [^>]*style="fill: )#ffffff')
# as `marks.shows` names one
MAP = re.compile(r'(<g id="(?:QuadMesh_\d+|cells-[\d-]+)">.*?</g>)', re.DOTALL)


def page_colours() -> dict[str, str]:
    """Write the colours of `PAGE` as CSS: `ink` for light and dark pages, `light_ink` for light.

    Not every browser can tell the two.
    """
    written = {}
    for name, (light, dark) in PAGE.items():
        written[name] = f"light-dark({light}, {dark})"
        written[f"light_{name}"] = light
    return written


@cache
def shades(number: int, first: float = 0.0, last: float = LIGHTEST) -> tuple[str, ...]:
    """List so many colours of cividis in order, from dark to light."""
    steps = np.linspace(first, last, number)
    return tuple(to_hex(colour) for colour in colormaps["cividis"](steps))


@cache
def on_dark() -> dict[str, str]:
    """Map each colour and shade to its colour on a dark page, where shades keep their order."""
    pairs = {colour: ON_DARK_PAPER[attention] for attention, colour in COLOURS.items()}
    for number in range(1, MOST):
        pairs.update(zip(shades(number), shades(number, *ON_DARK), strict=True))
    return pairs


def as_named(runs: pd.DataFrame) -> pd.DataFrame:
    """Name the variants of one question by their labels, and add the `colour` of each as hex."""
    labels = dict(zip(runs["variant"], runs["label"], strict=True))
    return runs.assign(
        variant=runs["label"],
        baseline=runs["baseline"].map(labels),
        colour=runs["variant"].map(colours_of(runs)),
    )


def colours_of(runs: pd.DataFrame) -> dict[str, str]:
    """Choose the colour of each variant of one question, in the order of its runs.

    No two of up to ten variants share a colour. Of more, those whose attention has its colour
    already are drawn in ink.
    """
    columns = runs[["variant", "colour", "net", *NAMED]]
    variants = columns.drop_duplicates("variant").to_dict("records")
    chosen: dict[str, str] = {}
    for variant in variants:
        is_named = isinstance(variant["colour"], str)
        colour = variant["colour"] if is_named else COLOURS.get(attention_of(variant))
        if is_named or (colour and colour not in chosen.values()):
            chosen[variant["variant"]] = colour

    names = [variant["variant"] for variant in variants]
    rest = [name for name in names if name not in chosen]
    free = [colour for colour in COLOURS.values() if colour not in chosen.values()]
    if len(rest) > len(free):
        free = [INK] * len(rest)
    chosen.update(zip(rest, free, strict=False))
    return {name: chosen[name] for name in names}


def attention_of(run: dict) -> str:
    """Name the attention of a run as in `COLOURS`: `adaptive`, `top_k`, `adaptive_top_k`, ...

    A plain span is left out of the name where another choice is named.
    """
    first = run["span"]
    if run["net"] == XL:
        first = XL
    elif first in PLAIN:
        first = "fixed"
    others = []
    if run["selection"] != "all":
        others.append(run["selection"])
    if run["normaliser"] != "softmax":
        others.append(run["normaliser"])
    if run["score_scale"] != "none":
        others.append(run["score_scale"])
    if others and first == "fixed":
        return "_".join(others)
    return "_".join([first, *others])


def follow_page(svg: str) -> str:
    """Recolour one of our SVGs for light and dark pages; a heat map keeps its scale."""
    parts = MAP.split(BACKGROUND.sub(r"\1none", svg))
    # split by a group: every second part is a heat map
    for place in range(0, len(parts), 2):
        parts[place] = COLOUR.sub(_adapt, parts[place])
    return "".join(parts)


def _adapt(match: re.Match) -> str:
    """Write a colour's declarations; browsers without light-dark() keep the first one."""
    kind, colour = match.groups()
    if colour in OF_THE_PAGE:
        return f"{kind}: {OF_THE_PAGE[colour]}"
    light = fit(colour, LIGHT_PAPER)
    both = on_page(colour)
    return f"{kind}: {light}" if light == both else f"{kind}: {light}; {kind}: {both}"


def on_page(colour: str) -> str:
    """Write a colour as CSS: one for all pages, or one for light and one for dark pages."""
    light = fit(colour, LIGHT_PAPER)
    dark = fit(on_dark().get(colour, colour), DARK_PAPER)
    return light if light == dark else f"light-dark({light}, {dark})"


@cache
def fit(colour: str, paper: str) -> str:
    """Darken a colour on light paper, or lighten it on dark, until it can be seen; keep its hue."""
    hue, light, saturation = colorsys.rgb_to_hls(*to_rgb(colour))
    step = 0.02 if paper == DARK_PAPER else -0.02
    while contrast(colour, paper) < READABLE[paper]:
        light += step
        colour = to_hex(colorsys.hls_to_rgb(hue, light, saturation))
    return colour


def contrast(a: str, b: str) -> float:
    """Compute the contrast of two colours, as WCAG 2 defines it: 1 to 21."""
    darker, lighter = sorted([_luminance(a), _luminance(b)])
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    """Compute the relative luminance of a colour (WCAG 2): from sRGB to linear, then weighted."""
    linear = []
    for part in to_rgb(colour):
        linear.append(part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)
    red, green, blue = linear
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
