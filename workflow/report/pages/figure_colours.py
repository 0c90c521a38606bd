"""The colours of our figures on a page that may be dark: ink, greys and paper follow the page, the others are made
as light, or as dark, as it takes to be seen there.

The files that a figure is printed from keep their own.
"""

import colorsys
import re
from functools import cache

from matplotlib.colors import to_hex, to_rgb

from workflow.report.figures._colours import GREY, INK, on_dark

LIGHT_PAPER, DARK_PAPER = "#fdfdfb", "#161615"  # as templates/style.css has them
# Contrast of a line or a mark with the paper behind it: 3 at least (WCAG 1.4.11), more on dark, where thin lines fade.
READABLE = {LIGHT_PAPER: 3.0, DARK_PAPER: 5.0}
OF_THE_PAGE = {"#000000": "var(--ink)", INK: "var(--ink)", GREY: "var(--soft)", "#bbbbbb": "var(--line)"}
COLOUR = re.compile(r"\b(fill|stroke): (#[0-9a-f]{6})")
BACKGROUND = re.compile(r'(<g id="patch_\d+">\s*<path [^>]*style="fill: )#ffffff')
MAP = re.compile(r'(<g id="QuadMesh_\d+">.*?</g>)', re.DOTALL)


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
    """The same hue, as much darker on light paper and lighter on dark as it takes to be seen."""
    hue, light, saturation = colorsys.rgb_to_hls(*to_rgb(colour))
    step = 0.02 if paper == DARK_PAPER else -0.02
    while contrast(colour, paper) < READABLE[paper]:
        light += step
        colour = to_hex(colorsys.hls_to_rgb(hue, light, saturation))
    return colour


def contrast(a: str, b: str) -> float:
    """Of two colours, as WCAG 2 defines it: 1 to 21."""
    lighter, darker = sorted((_luminance(a), _luminance(b)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
