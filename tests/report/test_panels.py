"""Figures on a page: panels as wide as a phone, and marks that know the rows of their numbers."""

import re

import pandas as pd

from workflow.report.figures.marks import ToldRow, shows, tell
from workflow.report.figures.style import (
    SIZE,
    as_svg,
    canvas,
    label_ends,
    share_legend,
)
from workflow.report.pages.site import embed_svg

PIXELS = 4 / 3  # in a point
PHONE = 390 - 32  # pixels between the margins of a page
PANEL = re.compile(
    r'<svg viewBox="[\d.]+ [\d.]+ ([\d.]+) ([\d.]+)" width="([\d.]+)pt" height="([\d.]+)pt">'
)
NUMBERS = pd.DataFrame(
    {
        "variant": ["fixed", "fixed", "adaptive"],
        "S": [32, 64, 64],
        "mean": [2.0, float("nan"), 1.5],
        "low": [1.9, None, None],
        "high": [2.1, None, None],
        "colour": "#000000",
        "runs": ["abc=1.95 def=2.05", "", "fed"],
    }
)


def two_panels() -> str:
    figure, axes = canvas(2)
    for panel in axes:
        for name, end in (("fixed span", 1.0), ("adaptive span", 2.0)):
            panel.plot([1, 2, 3], [0, 1, end], label=name)
        panel.set_xlabel("updates")
    share_legend(figure)
    label_ends(figure)
    return embed_svg(as_svg(figure), "a")


def test_a_panel_fits_a_phone_in_its_own_size_and_its_text_has_11_to_13_pixels():
    page = two_panels()
    panels = PANEL.findall(page)
    assert len(panels) == 2 + 2  # entries of the legend and panels
    for width, height, shown_width, shown_height in panels:
        assert (width, height) == (shown_width, shown_height)
        assert float(width) * PIXELS <= PHONE
    fonts = {float(size) for size in re.findall(r"font(?:-size)?: ([\d.]+)px", page)}
    assert fonts == {SIZE}
    assert 11 <= SIZE * PIXELS <= 13


def test_a_mark_tells_the_values_interval_and_runs_of_its_row():
    figure, axes = canvas()
    first = axes.errorbar([1, 2], [2.0, float("nan")], [0.1, 0.1], marker="o", capsize=3)
    shows([first, axes.axhspan(1, 2)], [0, 1])
    shows(axes.scatter([3], [1.5]), [2])
    svg = embed_svg(as_svg(figure), "a")
    # a point that is not drawn has no row
    assert set(re.findall('data-rows="(.*?)"', svg)) == {"0", "2"}
    # two caps, the bar and the band
    assert svg.count('data-with="0"') == 4
    told = tell(NUMBERS, svg)
    assert told.names == ("S", "mean")
    runs = [["abc", "1.95"], ["def", "2.05"]]
    assert told.rows == {
        0: ToldRow("fixed", ["32", "2.00 (1.90 to 2.10)"], runs, []),
        2: ToldRow("adaptive", ["64", "1.5"], [["fed"]], []),
    }


def test_each_entry_of_a_long_legend_is_whole():
    """The text of each is in the middle of its part, the last one like the first."""
    figure, axes = canvas()
    for number in range(14):
        axes.plot([0, 1], [0, number], label=f"a variant with a long name, {number}")
    share_legend(figure)
    svg = as_svg(figure)
    entries = re.findall(r'<g id="entry_[\d.]+_([\d.]+)_[\d.]+_([\d.]+)">(.*?)</g>', svg, re.DOTALL)
    assert len(entries) == 14
    for top, height, body in entries:
        baseline = float(re.search(r' y="([\d.]+)"', body)[1])
        # two thirds down, where letters stand
        assert float(top) + 0.5 * float(height) < baseline < float(top) + 0.85 * float(height)
