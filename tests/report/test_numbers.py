"""Numbers as people read them: alone, in columns, and with the interval of their seeds."""

import pandas as pd
import pytest

from tests._runs import as_frame, run
from workflow.report.comparison import compare
from workflow.report.layout import list_columns, text_of
from workflow.report.tables.cells import measured
from workflow.report.tables.paired import gain
from workflow.results.numbers import form_of, number
from workflow.results.statistics import over_seeds


@pytest.mark.parametrize(
    "value, unit, text",
    [
        (41_607_168, "MACs/character", "41.61M"),
        (1.0512, "bpc", "1.051"),
        (3 << 30, "bytes", "3.00 GiB"),
        (2504, "parameters", "2,504"),
        (None, "", ""),
        (float("nan"), "bpc", ""),
    ],
)
def test_one_number(value, unit, text):
    assert number(value, unit) == text


@pytest.mark.parametrize(
    "values, halves, unit, texts",
    [
        ([2.78, 2.774], [], "", ["2.780", "2.774"]),  # as many decimals in the column
        # two digits of the narrowest interval
        ([95.87, 21.2], [1.32, 0.34], "BLEU", ["95.87", "21.20"]),
        # nobody reads thousandths of a per cent
        ([99.98, 21.234], [0.004, 3.1], "%", ["100.0", "21.2"]),
        ([65536, 1024], [], "characters", ["65,536", "1,024"]),  # counts in full
        ([41607168, 216650000], [], "", ["41.61M", "216.65M"]),  # one unit in the column
        ([0.3, 0.5], [], "BLEU", ["0.3", "0.5"]),  # no digits that it has not
        ([2 << 30, 5 << 20], [], "bytes", ["2,048.0 MiB", "5.0 MiB"]),
        ([3.3e18, 2.3e19], [], "FLOPs", ["3.3e18", "2.3e19"]),
        ([1.0, 1.0 + 1e-12], [1e-12], "", ["1", "1"]),  # rounding is no interval
    ],
)
def test_a_column_has_one_number_of_decimals(values, halves, unit, texts):
    form = form_of(values, halves, unit)
    assert [form.text(value) for value in values] == texts


def test_few_seeds_are_shown_as_themselves_and_more_have_an_interval():
    """Mean 2.1, standard error .1 / sqrt(3), t(.975, 2) = 4.303."""
    two = over_seeds([18.3, 26.8])
    assert (two.value, two.points, two.low) == (pytest.approx(22.55), [18.3, 26.8], None)
    three = over_seeds([2.0, 2.1, 2.2])
    assert three.high - 2.1 == pytest.approx(4.303 * 0.1 / 3**0.5, rel=1e-3)
    equal = over_seeds([7.0] * 4)
    assert (equal.value, equal.points, equal.low) == (7.0, None, None)
    assert over_seeds([]).value is None


def scored(*values: float) -> pd.DataFrame:
    names = ("dev_bpc", "dev_complete", "mean_span")
    rows = []
    for seed, value in enumerate(values, start=1):
        rows.append(run(seed=seed, **dict.fromkeys(names, value)))
    return as_frame(rows)


@pytest.mark.parametrize(
    "quantity, unit, rows, texts",
    [
        ("dev_bpc", "BLEU", [(18.3, 26.8), (20.0, 21.0, 22.0)], ["18.3, 26.8", "21.0 ± 2.5"]),
        # an interval ends where its score does: Student's would be 30 ± 129, and 93 ± 17.9
        (
            "dev_complete",
            "%",
            [(0.0, 0.0, 90.0), (85.0, 95.0, 99.0), (40.0, 41.0, 42.0)],
            ["30.0 (0.0 to 100.0)", "93.0 (75.1 to 100.0)", "41.0 ± 2.5"],
        ),
        ("mean_span", "characters", [(1.0, 2.0, 12.0)], ["5 (0 to 20)"]),
    ],
)
def test_a_column_shows_seeds_or_intervals(quantity, unit, rows, texts):
    cells = []
    for place, values in enumerate(rows):
        cells.append(compare(measured(str(place), "column", scored(*values), quantity, unit=unit)))
    (column,) = list_columns(cells)
    assert [text_of(cell, column.form) for cell in cells] == texts


def test_a_difference_of_bounded_scores_has_bounds_too():
    """-100, -100 and -10 are at least -100; the interval's other end is 59.1."""
    ours = scored(0.0, 0.0, 80.0)
    base = scored(100.0, 100.0, 90.0)
    cell = gain("r", "gain", ours, base, ("dev_complete", "dev_complete"))
    assert (cell.value, cell.low) == (-70.0, -100.0)
    assert cell.high == pytest.approx(59.1, abs=0.1)
