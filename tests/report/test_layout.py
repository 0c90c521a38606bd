"""How a table is laid out: rows, columns, and the values of few seeds."""

import pytest

from tests._runs import as_frame, run
from workflow.report.comparison import join
from workflow.report.layout import list_columns, list_rows, text_of
from workflow.report.tables.cells import analytic, cited, make_table, measured
from workflow.report.tables.paired import gain
from workflow.results.statistics import over_seeds


def laid_out(*cells):
    return (
        join(make_table(list(cells)))
        .astype(object)
        .where(lambda frame: frame.notna(), None)
        .to_dict("records")
    )


def scored(*values):
    names = ("dev_bpc", "dev_complete", "mean_span")
    return as_frame(
        [run(seed=seed, **dict.fromkeys(names, value)) for seed, value in enumerate(values, 1)]
    )


def test_few_seeds_are_shown_as_themselves_and_more_by_their_interval():
    """Mean 2.1, standard error .1 / sqrt(3), t(.975, 2) = 4.303."""
    none = {"low": None, "high": None}
    assert (
        over_seeds([18.3, 26.8]) == {"value": pytest.approx(22.55), "points": [18.3, 26.8]} | none
    )
    three = over_seeds([2.0, 2.1, 2.2])
    assert (
        three["high"] - 2.1 == pytest.approx(4.303 * 0.1 / 3**0.5, rel=1e-3)
        and three["points"] is None
    )
    assert over_seeds([7.0] * 4) == {"value": 7.0, "points": None} | none
    assert over_seeds([])["value"] is None
    few, more = ((18.3, 26.8), "18.3, 26.8"), ((20.0, 21.0, 22.0), "21.0 ± 2.5")
    cells = laid_out(
        *(
            measured(text, "dev", scored(*values), "dev_bpc", unit="BLEU")
            for values, text in (few, more)
        )
    )
    (column,) = list_columns(cells)
    assert [text_of(cell, column.form) for cell in cells] == [text for _, text in (few, more)]


def test_an_interval_ends_where_its_score_does():
    """Mean 30, standard error 30: Student's would be 30 ± 129. Mean 93, s = 7.211: 93 ± 17.9 is
    above 100.
    """
    scores = {
        "one of three": (0.0, 0.0, 90.0),
        "nearly all": (85.0, 95.0, 99.0),
        "some": (40.0, 41.0, 42.0),
    }
    cells = [
        measured(row, "complete", scored(*values), "dev_complete", unit="%")
        for row, values in scores.items()
    ]
    cells = laid_out(*cells)
    (column,) = list_columns(cells)
    shown = [text_of(cell, column.form) for cell in cells]
    assert shown == ["30.0 (0.0 to 100.0)", "93.0 (75.1 to 100.0)", "41.0 ± 2.5"]
    below = laid_out(measured("spans", "avg. span", scored(1.0, 2.0, 12.0), "mean_span"))
    assert below[0]["low"] == 0.0 and below[0]["high"] == pytest.approx(
        5 + 4.302653 * 6.0828 / 3**0.5, rel=1e-4
    )


def test_a_difference_of_bounded_scores_has_bounds_too():
    """-100, -100 and -10 are at most -100, and 0 above."""
    ours, base = scored(0.0, 0.0, 80.0), scored(100.0, 100.0, 90.0)
    cell = gain("r", "gain", ours, base, ("dev_complete", "dev_complete"))
    assert (cell["value"], cell["low"]) == (-70.0, -100.0) and cell["high"] == pytest.approx(
        59.1, abs=0.1
    )


def test_published_values_stand_apart_unless_they_are_comparable_and_cited_rows_below():
    cells = laid_out(
        cited("theirs", "test", "as.t1.t12.test", "bpc"),
        measured("r", "test", scored(2.0), "dev_bpc", "as.t1.as_small.test"),
        analytic("r", "#FLOPS", 41_607_168, "", "as.t1.as_small.flops"),
        measured("r", "other", scored(2.0), "dev_bpc"),
    )
    apart = {"test": True, "#FLOPS": False, "other": False}
    assert {column.title: column.apart for column in list_columns(cells)} == apart
    assert list_rows(cells) == [("r", False), ("theirs", True)]
