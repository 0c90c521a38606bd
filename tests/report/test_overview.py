"""The first screen: the matrix of choices, the picture and the findings, by hand."""

import json
from dataclasses import replace

import pytest

from tests._runs import recalled, run
from workflow.report.answers.answer import Difference
from workflow.report.overview.attention import GATE, MODEL, SHARED_KEYS, Attention
from workflow.report.overview.collect import Isolated, as_content, from_content, overview_of
from workflow.report.overview.findings import list_findings
from workflow.report.overview.matrix import at_strongest, make_matrix
from workflow.results.runs_table import Frames, as_frame

PLAIN = Attention("char_lm", "fixed", "all", "softmax", "transformer_xl")


@pytest.mark.parametrize(
    "changes, axis",
    [
        ({}, None),
        ({"span": "adaptive"}, "span"),
        ({"key_heads": 1}, SHARED_KEYS),
        ({"gate": True}, GATE),
        ({"span": "adaptive", "selection": "top_k"}, None),
        ({"model": "transformer_xl", "span": "full"}, MODEL),
        ({"model": "transformer_xl", "span": "full", "selection": "top_k"}, None),
    ],
)
def test_a_comparison_isolates_an_axis_where_the_two_differ_on_that_one_alone(changes, axis):
    assert replace(PLAIN, **changes).differs_on(PLAIN) == axis


def overview(**of_adaptive):
    """Compare adaptive spans with fixed: -0.03, -0.02, -0.01 by seed, a quarter of the MACs."""
    about = {
        "corpus": "enwik8-4mb",
        "start_span": 8.0,
        "mean_span": 40.0,
        "scale": "overnight",
        "position": "transformer_xl",
    }
    rows = []
    for seed, fixed, adaptive in ((1, 2.00, 1.97), (2, 2.10, 2.08), (3, 2.20, 2.19)):
        base = about | {"dev_bpc": fixed, "macs_executed": 8e4}
        ours = about | {"dev_bpc": adaptive, "macs_executed": 2e4} | of_adaptive
        rows.append(run("span_types", "fixed", seed, **base))
        rows.append(run("span_types", "adaptive", seed, **ours))
    return overview_of(Frames(as_frame(rows), None), "overnight")


def test_a_choice_is_compared_with_its_baseline_seed_by_seed_with_the_ratios_of_its_costs():
    (found,) = overview().isolated
    assert (found.axis, found.choice, found.base_choice) == ("span", "adaptive", "fixed")
    difference = found.difference
    # the mean of three pairs whose standard deviation is 0.01: 4.303 x 0.01 / sqrt(3) = 0.0248
    assert difference.mean == pytest.approx(-0.02)
    assert (difference.low, difference.high) == pytest.approx((-0.0448, 0.0048), abs=1e-4)
    assert found.ratio("macs_executed").value == pytest.approx(0.25)


def test_a_difference_of_censored_scores_is_a_bound():
    rows = [recalled(seed=seed) for seed in (1, 2, 3)]
    for seed in (1, 2, 3):
        rows.append(recalled(variant="entmax15", seed=seed, test_reach=3.0, censored="above"))
    for row in rows:
        row["normaliser"] = row["variant"]
    (found,) = overview_of(Frames(as_frame(rows), None), "overnight").isolated
    assert found.difference.bound == "≥"


def test_tasks_of_their_own_are_shown_at_the_strongest_scale_that_compares_any():
    about = {"task": "symbols", "corpus": "sort"}
    strong = isolated("normaliser", "entmax15", "softmax", 0.4, 0.001, **about, scale="overnight")
    weak = replace(strong, corpus="copy", scale="laptop")
    elsewhere = isolated("normaliser", "entmax15", "softmax", 0.1, scale="laptop")
    assert at_strongest([weak, strong, elsewhere]) == [strong, elsewhere]
    assert at_strongest([weak, elsewhere]) == [weak, elsewhere]


def test_spans_that_hardly_moved_and_another_learning_rate_give_no_difference():
    (found,) = overview(mean_span=8.0).isolated
    assert (found.difference, found.ratios) == (None, ())
    assert make_matrix([found]).groups == ()
    assert overview(lr=0.01).isolated == ()


def test_an_overview_is_read_as_it_was_written():
    written = overview()
    assert len(written.points) == 2
    assert from_content(json.loads(json.dumps(as_content(written)))) == written
    # a set that is known already is not added
    assert written.joined([written, replace(written, isolated=(), points=())]) == written


def isolated(
    axis: str, choice: str, base: str, mean: float, p: float | None = 0.5, **changes
) -> Isolated:
    """Make a comparison. p: None for too few seeds."""
    measure = ("test_bleu", "BLEU") if changes.get("task") == "translation" else ("dev_bpc", "bpc")
    ends = (None, None) if p is None else (mean - 0.01, mean + 0.01)
    numbers = (*measure, mean, *ends, p, None, {"enwik8": mean}, {"enwik8": 3})
    about = {
        "axis": axis,
        "choice": choice,
        "base_choice": base,
        "difference": Difference(choice, base, 512.0, None, *numbers),
        "task": "char_lm",
        "question": "span_limit",
        "set": "overnight",
        "scale": "overnight",
        "size": 1.0,
        "tuned": False,
        "late_gain": 0.0,
        "base_S": 512.0,
        "xl": False,
    }
    return Isolated(**about | changes)


def cells_of(*found: Isolated) -> dict[tuple[str, str], tuple]:
    cells = {}
    for group in make_matrix(found).groups:
        for row in group.rows:
            cells[group.title, row.label] = row.cells
    return cells


def test_cells_of_a_column_are_corrected_for_each_other_and_what_nothing_tests_is_empty():
    """Holm over three: 0.012 x 3 = 0.036 is significant, then 0.03 x 2 = 0.06 is not.

    One without p is not counted.
    """
    cells = cells_of(
        isolated("span", "adaptive", "fixed", -0.03, 0.012),
        isolated("selection", "top_k", "all", 0.02, 0.03),
        isolated("normaliser", "entmax15", "softmax", 0.01, 0.6),
        isolated("normaliser", "sparsemax", "softmax", 0.05, None),
        isolated("selection", "top_k", "all", -0.9, 0.01, task="translation"),
    )
    adaptive, empty = cells["Span", "adaptive span"]
    assert (adaptive.text, adaptive.significant) == ("0.030 better", True)
    assert empty is None
    top_k, bleu = cells["Selection", "top-k"]
    assert (top_k.text, top_k.significant) == ("0.020 worse", False)
    assert (bleu.significant, bleu.better) == (True, False)
    # one axis for the column, better to the right: the marks are in the order of their numbers
    values = [row[0].mark.value for row in cells.values()]
    assert [values.index(value) for value in sorted(values)] == [3, 1, 2, 0]


def test_a_converged_scale_comes_first_then_the_strongest():
    adaptive = ("span", "adaptive", "fixed")
    late = isolated(*adaptive, -0.5, set="small", scale="small", late_gain=0.3)
    weak = isolated(*adaptive, 0.1, set="laptop", scale="laptop")
    strong = isolated(*adaptive, -0.02)
    (cell,) = cells_of(late, weak, strong)["Span", "adaptive span"]
    assert cell.page == "overnight/questions/span_limit/index.html"
    (cell,) = cells_of(late)["Span", "adaptive span"]
    assert cell.page.startswith("small/")


def test_of_one_comparison_in_two_questions_that_with_more_variants_comes_first():
    entmax = ("normaliser", "entmax15", "softmax")
    few = isolated(*entmax, 0.1, question="span_by_k", variants=3)
    many = isolated(*entmax, 0.2, question="span_limit", variants=11)
    (cell,) = cells_of(few, many)["Normaliser", "entmax-1.5"]
    assert "span_limit" in cell.page


def test_corpora_that_are_tasks_of_their_own_have_a_column_and_a_sentence_each():
    found = []
    for corpus, mean in (("sort", 0.4), ("maximum retrieval", -0.2)):
        for axis, choice, base in (
            ("selection", "top_k", "all"),
            ("normaliser", "entmax15", "softmax"),
        ):
            changes = {"task": "symbols", "question": "where_sparse_helps", "corpus": corpus}
            each = isolated(axis, choice, base, mean, p=0.001, **changes)
            measured = replace(each.difference, quantity="test_reach", unit="doublings")
            found.append(replace(each, difference=measured))
    matrix = make_matrix(found)
    assert [each.title for each in matrix.columns[:2]] == [
        "sort, doublings",
        "maximum retrieval, doublings",
    ]
    for group in matrix.groups:
        (row,) = group.rows
        sort, maximum = row.cells[:2]
        assert (sort.better, maximum.better) == (True, False)
        assert "0.400" in sort.text
    (sparse,) = [each.text for each in list_findings(found) if "sparse" in each.asks.lower()][:1]
    of_sort, of_maximum = sparse.split("Maximum retrieval")
    assert "sort: yes" in of_sort
    assert "0.40" in of_sort
    assert "no, top-k is 0.20" in of_maximum


def test_sparse_choices_of_a_task_with_different_verdicts_have_one_each():
    found = []
    for axis, choice, base, mean, p in (
        ("selection", "top_k", "all", 0.01, 0.8),
        ("normaliser", "entmax15", "softmax", 1.3, 0.001),
    ):
        changes = {"task": "symbols", "question": "where_sparse_helps", "corpus": "recall"}
        each = isolated(axis, choice, base, mean, p=p, **changes)
        measured = replace(each.difference, quantity="test_reach", unit="doublings")
        found.append(replace(each, difference=measured))
    (sparse,) = [each.text for each in list_findings(found) if "sparse" in each.asks.lower()][:1]
    of_top_k, of_entmax = sparse.split("; ")
    assert "yes" not in of_top_k
    assert of_entmax.startswith("yes for entmax-1.5")
