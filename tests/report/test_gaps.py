"""Answers where the grid has gaps, a text stands in for two, variants are the same, or names are
odd.
"""

import pytest

from tests._runs import run
from tests.report.test_answers import say, scored
from workflow.report.answers import curves_figure, effect_figure, tuning
from workflow.report.answers.effects import baselines, compare_places, list_places
from workflow.report.tables.cells import measured, summarise
from workflow.results.datasets import with_titles
from workflow.results.runs_table import as_frame

BROKEN = {"status": "oom", "reason": "no memory", "dev_bpc": None}


def places(variant: str, *of_S: tuple[int, float], **changes) -> list[dict]:
    """Runs of three seeds at each S, around a score."""
    return [
        each
        for S, bpc in of_S
        for each in scored(
            variant, bpc, bpc + 0.011, bpc + 0.02, S=S, macs_executed=float(S), **changes
        )
    ]


def test_where_the_largest_place_of_the_baseline_failed_the_place_that_is_compared_is_named():
    rows = [*places("a", (32, 2.0)), *(row | BROKEN for row in places("a", (256, 2.0)))]
    rows += [row | {"macs_executed": 2.0 * row["S"]} for row in places("b", (32, 2.1), (256, 1.9))]
    said = say(rows)
    assert (said.difference.S, len(said.differences)) == (32, 1) and " at S = 32 (" in said.headline
    assert said.difference.mean == pytest.approx(0.1) and not said.costs
    assert any("b at S = 256" in each for each in said.notes)


def test_a_single_variant_is_told_at_its_largest_s_that_ended():
    """Of one seed, so that nothing can be said of the way from the one to the other."""
    rows = [
        *scored("a", 2.0, S=32),
        *scored("a", 1.5, S=64),
        *(row | BROKEN for row in scored("a", 1.0, S=256)),
    ]
    assert say(rows).headline.startswith("1.500 bpc (no interval")


def test_of_many_variants_those_at_the_last_place_are_counted_and_judged():
    rows = places("a", (32, 2.0), (64, 2.0))
    for number in range(4):
        rows += places(f"v{number}", (32, 2.1))
        rows += scored(f"v{number}", 2.001, 2.009, 2.021 - number / 1000, S=64, macs_executed=64.0)
    said = say(rows)
    assert said.headline.startswith("0 of 4 ") and said.status == "inconclusive"


def test_variants_that_are_the_same_have_nothing_to_compare():
    rows = places("a", (64, 2.0))
    same = say([*rows, *(row | {"variant": "b", "label": "b"} for row in rows)])
    assert same.status == "not tested" and "B and a are the same at this scale." in same.notes
    apart = say([*places("a", (32, 2.0), (256, 2.0)), *places("b", (128, 2.0))])
    assert (apart.status, apart.difference) == ("not tested", None)


def test_a_difference_of_zero_on_one_text_disagrees_with_none():
    texts = ({"paper_corpus": "text8", "corpus": "a"}, {"paper_corpus": "enwik8", "corpus": "b"})
    rows = [row for text in texts for row in scored("short", 2.0, 2.1, 2.2, **text)]
    rows += [
        *scored("long", 2.0, 2.1, 2.2, **texts[0]),
        *scored("long", 2.1, 2.2, 2.301, **texts[1]),
    ]
    runs = with_titles(as_frame(rows))
    effect = compare_places(list_places(runs, "dev_bpc"), baselines(runs))[0].effect
    assert effect.by_corpus["a"] == 0


def test_a_run_that_stands_in_for_two_texts_counts_once():
    once = scored("a", 1.97, 2.0, 2.04)
    twice = as_frame([*once, *(row | {"paper_corpus": "enwik8"} for row in once)])
    once = as_frame(once)
    for of in (
        effect_figure.data,
        curves_figure.data,
        lambda rows, key: summarise(rows, ["variant"], key),
    ):
        key = "bpc" if of is curves_figure.data else "dev_bpc"
        pair = of(once, key), of(twice, key)
        assert (
            pair[0]
            .drop(columns="text", errors="ignore")
            .equals(pair[1].drop(columns="text", errors="ignore"))
        )
    cells = [measured("row", "column", rows, "dev_bpc") for rows in (once, twice)]
    assert cells[0].n == cells[1].n == 3 and cells[0].low == cells[1].low


@pytest.mark.parametrize("label", ["S in {8, 32}", "a {} b", "100 %"])
def test_a_label_may_hold_what_a_format_string_reads(label):
    rows = [run("q", "a", seed, label=label, dev_bpc=2.0 + seed / 100) for seed in (1, 2, 3)]
    rows += [
        run("q", "b", seed, label="b", dev_bpc=2.1 + seed / 100 + seed**2 / 1000)
        for seed in (1, 2, 3)
    ]
    assert label in say(rows).sentence


def test_an_edge_is_a_factor_beyond_which_none_was_tried_in_whatever_order():
    tried = [{"lr": lr, "dropout": dropout} for lr in (1, 2, 0.5) for dropout in (1.0,)]
    assert [tuning._is_at_edge(each, tried) for each in tried] == [False, True, True]
