"""The first screen: the matrix of choices, the picture and the findings, from runs worked out by
hand.
"""

import json
from dataclasses import replace

import pytest

from tests._runs import run
from workflow.claims.published import studies
from workflow.report.answers.answer import Difference
from workflow.report.overview.attention import MODEL, SHARED_KEYS, Attention
from workflow.report.overview.collect import (
    Isolated,
    as_content,
    collect_isolated,
    collect_points,
    from_content,
    overview_of,
)
from workflow.report.overview.findings import list_findings
from workflow.report.overview.matrix import make_matrix
from workflow.report.overview.picture import make_picture
from workflow.results.runs_table import Frames, as_frame

PLAIN = Attention("char_lm", "fixed", "all", "softmax", "transformer_xl")


@pytest.mark.parametrize(
    "changes, axis",
    [
        ({}, None),
        ({"span": "adaptive"}, "span"),
        ({"selection": "top_k"}, "selection"),
        ({"key_heads": 1}, SHARED_KEYS),
        ({"span": "adaptive", "selection": "top_k"}, None),
        ({"model": "transformer_xl", "span": "full"}, MODEL),
        ({"model": "transformer_xl", "span": "full", "selection": "top_k"}, None),
    ],
)
def test_a_comparison_isolates_an_axis_where_the_two_differ_on_that_one_alone(changes, axis):
    assert replace(PLAIN, **changes).differs_on(PLAIN) == axis


def frames_of(rows: list[dict]) -> Frames:
    return Frames(as_frame(rows), None)


def scored(variant: str, scores: tuple[float, ...], **changes) -> list[dict]:
    """Make a run for each score, on three seeds."""
    about = {"corpus": "enwik8-4mb", "start_span": 8.0, "mean_span": 40.0, "scale": "overnight"}
    about |= {"position": "transformer_xl"} | changes
    return [
        run("span_types", variant, seed, dev_bpc=score, **about)
        for seed, score in enumerate(scores, 1)
    ]


# adaptive less fixed: -0.03, -0.02, -0.01
FIXED = (2.00, 2.10, 2.20)
ADAPTIVE = (1.97, 2.08, 2.19)


def test_a_choice_is_compared_with_its_baseline_seed_by_seed_with_the_ratios_of_its_costs():
    rows = scored("fixed", FIXED, macs_executed=8e4)
    rows += scored("adaptive", ADAPTIVE, macs_executed=2e4)
    (found,) = collect_isolated(frames_of(rows), "overnight")
    assert found.axis == "span"
    assert found.choice == "adaptive"
    assert found.base_choice == "fixed"
    difference = found.difference
    # the mean of three pairs whose standard deviation is 0.01: 4.303 x 0.01 / sqrt(3) = 0.0248
    assert difference.mean == pytest.approx(-0.02)
    assert difference.n == 3
    assert (difference.low, difference.high) == pytest.approx((-0.0448, 0.0048), abs=1e-4)
    assert found.ratio("macs_executed").value == pytest.approx(0.25)


def test_spans_that_hardly_moved_and_another_learning_rate_give_no_difference():
    still = scored("fixed", FIXED) + scored("adaptive", ADAPTIVE, mean_span=8.0)
    (found,) = collect_isolated(frames_of(still), "overnight")
    assert found.difference is None
    assert found.ratios == ()
    assert make_matrix([found]).groups == ()
    other = scored("fixed", FIXED) + scored("adaptive", ADAPTIVE, lr=0.01)
    assert collect_isolated(frames_of(other), "overnight") == []


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


def cells_of(matrix) -> dict[tuple[str, str], list]:
    cells = {}
    for group in matrix.groups:
        for row in group.rows:
            cells[group.title, row.label] = list(row.cells)
    return cells


def test_cells_of_a_column_are_corrected_for_each_other_and_what_nothing_tests_is_empty():
    """Holm over three: 0.012 x 3 = 0.036 is significant, then 0.03 x 2 = 0.06 is not; one without p
    is not counted.
    """
    found = [
        isolated("span", "adaptive", "fixed", -0.03, 0.012),
        isolated("selection", "top_k", "all", 0.02, 0.03),
        isolated("normaliser", "entmax15", "softmax", 0.01, 0.6),
        isolated("normaliser", "sparsemax", "softmax", 0.05, None),
        isolated("selection", "top_k", "all", -0.9, 0.01, task="translation"),
    ]
    matrix = make_matrix(found)
    assert [column.title for column in matrix.columns] == ["bpc", "BLEU"]
    cells = cells_of(matrix)
    assert [*cells] == [
        ("Span", "adaptive span"),
        ("Selection", "top-k"),
        ("Normaliser", "entmax-1.5"),
        ("Normaliser", "sparsemax"),
    ]
    adaptive, empty = cells["Span", "adaptive span"]
    assert adaptive.text == "0.030 better"
    assert adaptive.significant
    assert adaptive.better
    assert empty is None
    top_k, bleu = cells["Selection", "top-k"]
    assert (top_k.text, top_k.significant) == ("0.020 worse", False)
    assert bleu.significant
    assert not bleu.better
    assert cells["Normaliser", "sparsemax"][0].mark.low is None
    # one axis for the column, better to the right: the marks are in the order of their numbers
    marks = [row[0].mark for row in cells.values()]
    by_value = sorted(marks, key=lambda mark: mark.value)
    assert [marks.index(mark) for mark in by_value] == [3, 1, 2, 0]
    assert {mark.zero for mark in marks} == {adaptive.mark.zero}


def test_a_converged_scale_comes_first_then_the_strongest():
    late = isolated("span", "adaptive", "fixed", -0.5, set="small", scale="small", late_gain=0.3)
    weak = isolated("span", "adaptive", "fixed", 0.1, set="laptop", scale="laptop")
    strong = isolated("span", "adaptive", "fixed", -0.02)
    (cell,) = cells_of(make_matrix([late, weak, strong]))["Span", "adaptive span"]
    assert cell.page == "overnight/questions/span_limit/index.html"
    assert cell.sort == pytest.approx(0.02)
    (cell,) = cells_of(make_matrix([late]))["Span", "adaptive span"]
    assert "not converged" in cell.title
    assert cell.page.startswith("small/")


def test_findings_answer_what_is_tested_name_scales_that_disagree_and_link_to_their_questions():
    adaptive = ("span", "adaptive", "fixed")
    elsewhere = {"set": "laptop", "scale": "laptop", "question": "known_entropy"}
    found = [
        isolated(*adaptive, -0.03, 0.01),
        isolated(*adaptive, 0.05, 0.01, **elsewhere),
        isolated(*adaptive, -0.04, 0.01, tuned=True),
    ]
    worth, tuned = list_findings(found)
    pages = [part.page for part in worth.parts if part.page]
    assert pages == [
        "overnight/questions/span_limit/index.html",
        "laptop/questions/known_entropy/index.html",
    ]
    for number in ("0.030 bpc better", "0.050 bpc worse"):
        assert number in worth.text
    for number in ("0.040 bpc better", "0.030 bpc better"):
        assert number in tuned.text
    assert list_findings([]) == []


def test_an_overview_is_read_as_it_was_written():
    rows = scored("fixed", FIXED) + scored("adaptive", ADAPTIVE)
    overview = overview_of(frames_of(rows), "overnight")
    assert len(overview.isolated) == 1
    assert len(overview.points) == 2
    assert from_content(json.loads(json.dumps(as_content(overview)))) == overview
    both = overview.joined([overview, replace(overview, isolated=(), points=())])
    assert both == overview  # a set that is known already is not added


def test_panels_show_our_points_with_better_up_and_left():
    rows = scored("fixed", FIXED, macs_executed=8e4)
    rows += scored("adaptive", ADAPTIVE, macs_executed=2e4)
    picture = make_picture(collect_points(frames_of(rows), "overnight"), "overnight")
    (panel,) = picture.main
    marks = {mark.label.text: mark for mark in panel.marks}
    adaptive = marks["adaptive"]
    fixed = marks["fixed"]
    # better and cheaper: up, in SVG a smaller y, and left
    assert adaptive.y < fixed.y
    assert adaptive.x < fixed.x
    for mark in panel.marks:
        assert panel.left <= mark.x <= panel.right
        assert panel.top <= mark.y <= panel.bottom
    spans = studies()["adaptive_span"].title
    assert [each.across for each in picture.papers if each.title == spans] == ["MACs per character"]
