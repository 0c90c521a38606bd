"""The published values: all there, each once, joined by id."""

from collections import Counter

import pytest

from workflow.claims.published import find, studies
from workflow.config.missing import Missing
from workflow.report.comparison import compare
from workflow.report.tables.cells import Cell


def cell(value, kind: str, published: str | None, unit: str = "", as_the_paper=False) -> Cell:
    return Cell(
        row="r",
        column="c",
        value=value,
        unit=unit,
        kind=kind,
        published=published,
        as_the_paper=as_the_paper,
    )


def test_all_451_values_of_the_three_papers_are_there():
    of_papers = []
    for study in studies().values():
        if study.authors:
            of_papers += study.values
    assert len(of_papers) == 451
    assert Counter(value.kind for value in of_papers) == {
        "trained": 127,
        "setting": 124,
        "cited": 99,
        "analytic": 80,
        "speed": 19,
        "memory": 2,
    }


@pytest.mark.parametrize(
    "key, value, kind, source, difference",
    [
        ("as.t1.as_small.flops", 41_607_168, "analytic", "published", -0.935),
        ("as.f3.right.fixed.256", 40_894_464, "analytic", "inferred", None),
        ("as.f4.l1.mean", 300.0, "measured", "digitised", None),
        ("as.t1.t12.test", Missing("not trained here"), "cited", "published", None),
    ],
)
def test_a_cell_is_joined_with_the_published_value_and_where_it_comes_from(
    key, value, kind, source, difference
):
    compared = compare(cell(value, kind, key))
    assert compared.published_value == find(key).plain
    assert compared.published_source == source
    assert compared.difference_pct == (difference and pytest.approx(difference, abs=0.001))


@pytest.mark.parametrize(
    "kind, unit, published, as_the_paper, comparable",
    [
        # a formula, and what the paper prints
        ("analytic", "", "as.t1.as_small.flops", False, True),
        ("analytic", "", "as.f3.right.fixed.256", False, False),  # a formula on both sides
        ("measured", "BLEU", "est.t1.est.ende", False, False),  # smaller models, other corpus
        ("measured", "BLEU", "est.t1.est.ende", True, True),  # the paper's size and corpus
        ("measured", "tokens/s", "est.t4.est.train_speed", True, False),  # of another machine
        ("setting", "layers", "as.t1.as_small.layers", True, False),  # chosen, not found
    ],
)
def test_what_is_comparable(kind, unit, published, as_the_paper, comparable):
    assert compare(cell(2.0, kind, published, unit, as_the_paper)).comparable == comparable


@pytest.mark.parametrize(
    "key, printed_as, place",
    [
        ("as.t1.as_small.flops", "paper", "Table 1"),
        ("as.f3.right.fixed.256", "by formula", "Figure 3"),
        ("long_context.sort.4x.asentmax", "replication", "an independent replication"),
        ("long_context.asentmax.lemma2.1", "by formula", "second-hand"),
    ],
)
def test_a_cell_says_whose_number_it_is_and_where_it_was_seen(key, printed_as, place):
    compared = compare(cell(1.0, "measured", key))
    assert compared.published_as == printed_as
    assert place in compared.published_where
