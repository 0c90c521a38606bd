"""How a table is laid out: rows, columns, and the values of few seeds."""

import pytest

from tests._runs import as_frame, run
from workflow.report.layout import list_columns, list_rows, text_of
from workflow.report.published import join
from workflow.report.tables.cells import analytic, cited, make_table, measured
from workflow.results.statistics import over_seeds


def laid_out(*cells):
    return join(make_table(list(cells))).astype(object).where(lambda frame: frame.notna(), None).to_dict("records")


def scored(*values):
    return as_frame([run(seed=seed, dev_bpc=value) for seed, value in enumerate(values, 1)])


def test_few_seeds_are_shown_as_themselves_and_more_by_their_interval():
    """Mean 2.1, standard error .1 / sqrt(3), t(.975, 2) = 4.303."""
    none = {"low": None, "high": None}
    assert over_seeds([18.3, 26.8]) == {"value": pytest.approx(22.55), "points": [18.3, 26.8]} | none
    three = over_seeds([2.0, 2.1, 2.2])
    assert three["high"] - 2.1 == pytest.approx(4.303 * 0.1 / 3**0.5, rel=1e-3) and three["points"] is None
    assert over_seeds([7.0] * 4) == {"value": 7.0, "points": None} | none
    assert over_seeds([])["value"] is None
    few, more = ((18.3, 26.8), "18.3, 26.8"), ((20.0, 21.0, 22.0), "21.0 ± 2.5")
    cells = laid_out(*(measured(text, "dev", scored(*values), "dev_bpc", unit="BLEU") for values, text in (few, more)))
    (column,) = list_columns(cells)
    assert [text_of(cell, column.form) for cell in cells] == [text for _, text in (few, more)]


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
