"""Figures on dark pages: text and axes follow the page, and no line is lost."""

import pytest

from workflow.report.figures._colours import (
    COLOURS,
    DARK_PAPER,
    LIGHT_PAPER,
    READABLE,
    contrast,
    fit,
    follow_page,
    on_dark,
    shades,
    tones,
)
from workflow.report.pages.site import TEMPLATES


def test_contrast_by_hand():
    """White on black is 21; grey #777777 on white 4.48."""
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("paper", [LIGHT_PAPER, DARK_PAPER])
@pytest.mark.parametrize("colour", [*COLOURS.values(), *shades(2), *shades(7)])
def test_every_colour_of_a_line_is_seen_on_both_papers(colour, paper):
    assert contrast(fit(colour, paper), paper) >= READABLE[paper]
    assert fit(colour, paper) == colour or contrast(colour, paper) < READABLE[paper]


@pytest.mark.parametrize("colours", [shades(4), *(tones(colour, 2) for colour in COLOURS.values())])
def test_series_stay_apart_on_a_dark_page(colours):
    """Of one hue by lightness, which has to differ there as it does on a light page."""
    shown = [fit(on_dark().get(colour, colour), DARK_PAPER) for colour in colours]
    assert all(contrast(one, other) > 1.2 for one, other in zip(shown, shown[1:], strict=False)), shown


def test_the_papers_are_those_of_the_pages():
    light, _, dark = (TEMPLATES / "style.css").read_text().partition("prefers-color-scheme: dark")
    assert f"--paper: {LIGHT_PAPER};" in light and f"--paper: {DARK_PAPER};" in dark


def test_ink_and_paper_follow_the_page_and_a_map_keeps_its_scale():
    svg = '<g id="patch_1"><path d="M 0" style="fill: #ffffff"/></g><path style="stroke: #777777; fill: #3f90da"/>'
    svg += '<path style="stroke: #832db6"/><g id="QuadMesh_1"><path style="fill: #08306b"/></g>'
    svg += '<text style="fill: #1b1b1b"/>'
    lifted = fit("#832db6", DARK_PAPER)
    assert follow_page(svg) == (
        '<g id="patch_1"><path d="M 0" style="fill: none"/></g><path style="stroke: var(--soft); fill: #3f90da"/>'
        f'<path style="stroke: #832db6; stroke: light-dark(#832db6, {lifted})"/>'
        '<g id="QuadMesh_1"><path style="fill: #08306b"/></g><text style="fill: var(--ink)"/>'
    )
