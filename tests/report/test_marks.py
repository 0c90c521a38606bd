"""Which rows of its numbers a mark of a figure shows, through the SVG to what a page tells."""

import pandas as pd

from workflow.report.figures.marks import ToldRow, shows, tell
from workflow.report.figures.style import as_svg, canvas
from workflow.report.pages.site import embed_svg

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


def picture() -> str:
    figure, axes = canvas()
    first = axes.errorbar([1, 2], [2.0, float("nan")], [0.1, 0.1], marker="o", capsize=3)
    shows([first, axes.axhspan(1, 2)], [0, 1])
    shows(axes.scatter([3], [1.5]), [2])
    return embed_svg(as_svg(figure), "a")


def test_a_point_that_is_not_drawn_has_no_row_and_parts_go_with_the_first():
    svg = picture()
    assert 'data-rows="0"' in svg
    assert 'data-rows="2"' in svg
    assert 'data-rows="0 1"' not in svg
    assert svg.count('data-with="0"') == 4  # two caps, the bar and the band
    assert "shows-" not in svg


def test_a_row_tells_its_values_its_interval_and_its_runs():
    told = tell(NUMBERS, picture())
    assert told.names == ("S", "mean")
    assert told.rows == {
        0: ToldRow(
            variant="fixed",
            values=["32", "2.00 (1.90 to 2.10)"],
            runs=[["abc", "1.95"], ["def", "2.05"]],
            baseline_runs=[],
        ),
        2: ToldRow("adaptive", ["64", "1.5"], [["fed"]], []),
    }
    assert tell(NUMBERS, "<svg></svg>").as_json() == {}
