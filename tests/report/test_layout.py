"""How a table is laid out: rows, columns, and the values of few seeds."""

import pandas as pd
import pytest

from tests._runs import as_frame, run
from workflow.report.comparison import compare
from workflow.report.layout import list_columns, text_of
from workflow.report.tables.cells import measured
from workflow.report.tables.paired import gain
from workflow.results.statistics import over_seeds


def scored(*values: float) -> pd.DataFrame:
    names = ("dev_bpc", "dev_complete", "mean_span")
    rows = [
        run(seed=seed, **dict.fromkeys(names, value)) for seed, value in enumerate(values, start=1)
    ]
    return as_frame(rows)


def texts(quantity: str, unit: str, *rows: tuple[float, ...]) -> list[str]:
    """Write one column, whose rows are these seeds."""
    cells = [
        compare(measured(str(number), "column", scored(*values), quantity, unit=unit))
        for number, values in enumerate(rows)
    ]
    (column,) = list_columns(cells)
    return [text_of(cell, column.form) for cell in cells]


def test_few_seeds_are_shown_as_themselves_and_more_by_their_interval():
    """Mean 2.1, standard error .1 / sqrt(3), t(.975, 2) = 4.303."""
    two = over_seeds([18.3, 26.8])
    assert two.value == pytest.approx(22.55)
    assert two.points == [18.3, 26.8]
    assert two.low is None
    three = over_seeds([2.0, 2.1, 2.2])
    assert three.high - 2.1 == pytest.approx(4.303 * 0.1 / 3**0.5, rel=1e-3)
    equal = over_seeds([7.0] * 4)
    assert equal.value == 7.0
    assert equal.points is None
    assert equal.low is None
    assert over_seeds([]).value is None
    shown = texts("dev_bpc", "BLEU", (18.3, 26.8), (20.0, 21.0, 22.0))
    assert shown == ["18.3, 26.8", "21.0 ± 2.5"]


def test_an_interval_ends_where_its_score_does():
    """Mean 30, standard error 30: Student's would be 30 ± 129.

    Mean 93, s = 7.211: 93 ± 17.9 is above 100.
    """
    shown = texts("dev_complete", "%", (0.0, 0.0, 90.0), (85.0, 95.0, 99.0), (40.0, 41.0, 42.0))
    assert shown == ["30.0 (0.0 to 100.0)", "93.0 (75.1 to 100.0)", "41.0 ± 2.5"]
    below = measured("r", "span", scored(1.0, 2.0, 12.0), "mean_span")
    assert below.low == 0.0
    assert below.high == pytest.approx(5 + 4.302653 * 6.0828 / 3**0.5, rel=1e-4)


def test_a_difference_of_bounded_scores_has_bounds_too():
    """-100, -100 and -10 are at least -100; the interval's other end is 59.1."""
    ours = scored(0.0, 0.0, 80.0)
    base = scored(100.0, 100.0, 90.0)
    cell = gain("r", "gain", ours, base, ("dev_complete", "dev_complete"))
    assert (cell.value, cell.low) == (-70.0, -100.0)
    assert cell.high == pytest.approx(59.1, abs=0.1)
