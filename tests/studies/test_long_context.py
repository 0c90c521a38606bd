"""The formulas of length: what softmax loses, and what other normalisers keep."""

import math
import re

import numpy as np
import pytest
import torch
from scipy.special import stdtr

from models.attention.choice import Shape
from models.attention.layers import build_choice
from studies.long_context.figures import reach_by_position
from studies.long_context.figures import task_map as drawn_map
from studies.long_context.formulas import (
    TEMPERATURE,
    alibi_cutoff,
    bounded_softmax_entropy,
    entmax15_weight,
    entmax_gap,
    sharpening,
    softmax_weight,
    ssmax_gap,
    ssmax_weight,
)
from studies.long_context.tables import coefficients, controls, reach_by_task
from studies.long_context.tables._controls import controls_of
from studies.long_context.tables._reach import compare_methods
from tests._claims import as_table, both, evidence_of
from tests._runs import recalled
from tests.report._cells import at
from workflow.claims.collect import describe_claim
from workflow.claims.evidence import Line
from workflow.claims.published import find, studies
from workflow.claims.schema import claims_about, load_claim
from workflow.config.files import ROOT
from workflow.results.runs_table import as_frame
from workflow.results.statistics import holm, unpaired_differences
from workflow.settings.questions import load_question

ONE = Shape(4, 1)


def weigh(normaliser: str, scores: list[float]) -> torch.Tensor:
    choice = build_choice("normaliser", {"name": normaliser}, ONE)
    return choice(torch.tensor(scores, dtype=torch.float64))


@pytest.mark.parametrize("n", [1, 2, 7, 500])
@pytest.mark.parametrize("gap", [0.0, 0.7, 1.9, 2.0, 5.0])
def test_weights_are_those_of_the_normalisers(n, gap):
    scores = [gap] + [0.0] * (n - 1)
    assert softmax_weight(n, gap) == pytest.approx(weigh("softmax", scores)[0].item())
    assert entmax15_weight(n, gap) == pytest.approx(weigh("entmax15", scores)[0].item(), abs=1e-9)


def test_ssmax_keeps_the_key_exactly_where_its_scale_times_the_gap_is_above_one():
    """Nakanishi 2025, Figure 1: scores of -2 and +3, s = 0.43."""
    n = 4096
    assert ssmax_weight(n, 5, 0.43) == pytest.approx(n**2.15 / (n**2.15 + n - 1))
    assert ssmax_weight(10**9, 5, 0.43) > 0.99
    assert ssmax_weight(10**9, 2, 0.43) < 0.1
    assert softmax_weight(10**9, 5) < 1e-6


@pytest.mark.parametrize("width", [1.0, 4.0])
def test_bounded_scores_disperse_and_no_scores_within_the_bound_less(width):
    # What is missing to the entropy of even weights does not grow with n: its share halves.
    missing = 1 - bounded_softmax_entropy(100, width)
    assert missing > 0
    assert 1 - bounded_softmax_entropy(100**2, width) == pytest.approx(missing / 2)
    random = np.random.default_rng(0)
    for _ in range(50):
        z = random.uniform(0, width, 100)
        p = np.exp(z) / np.exp(z).sum()
        share = -(p * np.log(p)).sum() / math.log(100)
        assert share >= bounded_softmax_entropy(100, width) - 1e-12


@pytest.mark.parametrize("slope", [1.0, 0.25])
def test_no_key_beyond_the_cutoff_has_weight(slope):
    spread = 3.0
    cutoff = alibi_cutoff(1.5, slope, spread)
    distance = np.arange(400)
    random = np.random.default_rng(1)
    for _ in range(20):
        content = random.uniform(0, spread, len(distance))
        p = weigh("entmax15", list(content - slope * distance)).numpy()
        assert (p[distance >= cutoff] == 0).all()


NORMALISERS = {1.5: "entmax15", 2.0: "sparsemax"}  # by alpha


@pytest.mark.parametrize("alpha", NORMALISERS)
@pytest.mark.parametrize("kept", [1, 2, 8])
@pytest.mark.parametrize("others", [1, 500])
def test_entmax_gives_the_highest_scores_all_weight_exactly_from_a_gap_on(alpha, kept, others):
    gap = entmax_gap(alpha, kept)
    for beyond, is_all in ((1e-6, True), (-1e-3, False)):
        scores = [gap + beyond] * kept + [0.0] * others
        p = weigh(NORMALISERS[alpha], scores)
        rest = p[kept:].sum().item()
        assert (rest == 0) == is_all


def test_keys_below_the_threshold_change_no_weight():
    scores = [1.3, 1.0, 0.2]
    alone = weigh("entmax15", scores)
    # p = [z / 2 - tau]_+^2, so that tau follows from the highest weight
    threshold = 2 * (scores[0] / 2 - math.sqrt(alone[0].item()))
    among = weigh("entmax15", [*scores, *[threshold - 1e-6] * 1000])
    assert among[:3].tolist() == pytest.approx(alone.tolist(), abs=1e-12)
    assert (among[3:] == 0).all()


def test_ssmax_keeps_the_key_above_its_gap_and_not_below():
    gap = ssmax_gap(0.43)
    weights = {}
    for n in (10**4, 10**8, 10**12):
        weights[n] = (ssmax_weight(n, gap + 0.5, 0.43), ssmax_weight(n, gap - 0.5, 0.43))
    above, below = zip(*weights.values(), strict=True)
    assert list(above) == sorted(above)
    assert list(below) == sorted(below, reverse=True)
    assert ssmax_weight(10**12, gap, 0.43) == pytest.approx(0.5)


@pytest.mark.parametrize("order", ["published", "ascending"])
@pytest.mark.parametrize("n", [1, 2, 4, 9, 40, 500])
def test_sharpening_is_that_of_adaptive_temperature(order, n):
    choice = build_choice("score_scale", {"name": "adaptive_temperature", "order": order}, ONE)
    choice.eval()
    scores = torch.linspace(1, 2, n, dtype=torch.float64)
    p = scores.softmax(-1)
    entropy = torch.special.entr(p).sum().item()
    in_order = TEMPERATURE if order == "published" else TEMPERATURE[::-1]
    factor = choice.of_scores(scores) / scores
    assert factor.tolist() == pytest.approx([sharpening(entropy, in_order)] * n)


def test_the_table_of_coefficients_has_what_the_docs_say():
    pattern = r"^\| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$"
    rows = re.findall(pattern, (ROOT / "docs" / "fidelity.md").read_text(), re.MULTILINE)
    cells = coefficients.build().set_index(["row", "column"])["value"]
    assert rows
    for entropy, published, released in rows:
        row = cells[f"entropy {entropy} nats"]
        assert row["as published"] == float(published)
        assert row["in the released code"] == float(released)


OF_STUDY = studies()["long_context"].values
BY_FORMULA = [value for value in OF_STUDY if value.recomputed]


@pytest.mark.parametrize("value", BY_FORMULA, ids=lambda value: value.id)
def test_numbers_that_no_paper_prints_are_marked_and_those_of_the_formulas(value):
    assert value.inferred
    assert value.is_rounded(value.recomputed.result)


def test_no_number_from_training_is_printed_as_a_papers_own():
    trained = [value for value in OF_STUDY if value.kind == "trained"]
    assert trained
    assert {value.origin for value in trained} == {"replication"}


def test_a_claim_that_quotes_a_replication_says_so():
    for name in claims_about("where_sparse_helps"):
        claim = load_claim(name)
        quoted = {find(key).origin for key in claim.published}
        assert quoted <= {claim.origin}
        assert claim.caveat
        if claim.origin == "replication":
            assert "independent replication" in describe_claim(name, claim).where


REACHES = {"softmax": (1.0, 2.0), "entmax15": (3.5, 4.0), "ssmax": (1.4, 1.8)}


def two_tasks(**on_sort) -> list[dict]:
    """Make three methods on two tasks, two seeds each. on_sort: changes to entmax-1.5 on sort."""
    rows = []
    for task in ("sort", "reverse"):
        for variant, reaches in REACHES.items():
            for seed, reach in enumerate(reaches, start=1):
                changes = on_sort if (task, variant) == ("sort", "entmax15") else {}
                row = recalled(variant=variant, seed=seed, paper_corpus=task, test_reach=reach)
                rows.append(row | changes)
    return rows


def by_name(rows: list[dict]) -> dict:
    return {(each.task, each.name): each for each in compare_methods(as_frame(rows))}


def test_methods_are_compared_with_softmax_and_corrected_over_all_tasks():
    methods = by_name(two_tasks())
    groups = {name: list(reaches) for name, reaches in REACHES.items()}
    alone = unpaired_differences(groups, "softmax")
    p_values = [alone["entmax15"].p, alone["ssmax"].p] * 2
    corrected = holm(p_values)
    of_entmax = methods["reverse", "entmax-1.5"]
    assert of_entmax.difference == alone["entmax15"]
    # s^2 = (0.5 + 0.125 + 0.08) / 3, so t = 2.25 / 0.4848 with 3 degrees of freedom; times 4
    assert of_entmax.difference.p == pytest.approx(2 * stdtr(3, -4.64144), rel=1e-3)
    assert of_entmax.p == pytest.approx(corrected[2]) == pytest.approx(4 * alone["entmax15"].p)
    assert not of_entmax.is_significant
    assert methods["sort", "softmax"].difference is None


def test_nothing_is_concluded_of_a_method_that_does_not_solve_its_training_length():
    rows = two_tasks(test_accuracy=98.9)
    methods = by_name(rows)
    assert methods["sort", "entmax-1.5"].unsolved
    assert not methods["sort", "SSMax"].unsolved
    assert not methods["reverse", "entmax-1.5"].unsolved
    cell = at(reach_by_task.build(as_frame(rows)), "sort: entmax-1.5", "difference")
    assert (cell["value"], cell["note"]) == (None, "not solved at 1×")
    numbers = drawn_map.data(as_frame(rows)).set_index(["task", "variant"])
    assert numbers.at[("sort", "entmax-1.5"), "conclusion"] == "not solved at 1×"
    # without a solved baseline there is no conclusion on the whole task
    for row in rows:
        if row["variant"] == "softmax":
            row["test_accuracy"] = 50.0
    assert all(each.unsolved for each in compare_methods(as_frame(rows)))


def test_reach_by_position_marks_bounds_and_what_is_not_solved():
    every = {
        "softmax": ("softmax, NAPE", {}),
        "entmax15": ("entmax-1.5, NAPE", {"censored": "above"}),
        "softmax_nope": ("softmax, NoPE", {"test_accuracy": 70.0, "test_reach": 0.0}),
    }
    rows = []
    for variant, (label, changes) in every.items():
        for seed in (1, 2, 3):
            place = {"question": "recall_positions", "variant": variant, "seed": seed}
            rows.append(recalled(**place, label=label, **changes))
    rows.append(recalled(variant="softmax", test_reach=9.0))  # of another question
    numbers = reach_by_position.data(as_frame(rows)).set_index(["method", "position"])
    assert numbers.at[("softmax", "NAPE"), "mean"] == pytest.approx(1.45)
    assert list(numbers["bound"]) == ["", "≥", ""]
    assert list(numbers["solved"]) == [True, True, False]
    (panel,) = reach_by_position.draw(numbers.reset_index()).axes
    assert [text.get_text() for text in panel.get_xticklabels()] == ["NAPE", "NoPE"]
    faces = [each.lines[0].get_markerfacecolor() for each in panel.containers]
    assert faces.count("white") == 1


def test_a_task_without_softmax_is_compared_with_nothing():
    rows = two_tasks()
    left = [row for row in rows if (row["paper_corpus"], row["variant"]) != ("reverse", "softmax")]
    methods = by_name(left)
    assert methods["reverse", "SSMax"].difference is None
    assert methods["sort", "SSMax"].difference
    cell = at(reach_by_task.build(as_frame(left)), "reverse: SSMax", "difference")
    assert (cell["value"], cell["note"]) == (None, "no finished run to compare")


@pytest.mark.parametrize(
    "ours, softmax, bound",
    [
        (None, None, ""),
        ("above", None, "≥"),
        ("below", None, "≤"),
        (None, "above", "≤"),
        (None, "below", "≥"),
        ("above", "above", "≈"),
    ],
)
def test_a_difference_of_censored_lengths_is_a_bound(ours, softmax, bound):
    rows = two_tasks(censored=ours)
    for row in rows:
        if row["variant"] == "softmax":
            row["censored"] = softmax
    assert by_name(rows)["sort", "entmax-1.5"].bound_of_difference == bound


def test_the_table_shows_the_best_seed_and_accuracy_at_each_length():
    cells = reach_by_task.build(as_frame(two_tasks(censored="above")))
    best = at(cells, "sort: entmax-1.5", "best seed")
    assert (best["value"], best["bound"]) == (4.0, "≥")
    assert at(cells, "sort: softmax", "best seed")["value"] == 2.0
    assert at(cells, "sort: softmax", "accuracy at 4×")["value"] == 75.0
    assert "accuracy at 16×" not in set(cells["column"])


def with_hard_maximum(at_training: float, at_16: float) -> list[dict]:
    """Make two seeds of softmax that solve their training length and have 20 and 40 % at 16x."""
    rows = []
    for seed, accuracy in ((1, 20.0), (2, 40.0)):
        over = []
        for multiple, trained, change in ((1.0, 99.5, at_training), (16.0, accuracy, at_16)):
            hard = trained + change * seed
            scores = {"test_accuracy": trained, "test_hard_accuracy": hard}
            scores["test_sharper_accuracy"] = trained
            over.append({"at": multiple, "count": 10, "metrics": scores})
        rows.append(recalled(seed=seed, over_condition=over))
    return rows


def test_what_a_control_wins_back_is_paired_by_seed():
    rows = with_hard_maximum(at_training=-1.0, at_16=10.0)
    hard, sharper = controls_of(as_frame(rows), 16.0)
    assert (hard.won_back, hard.changes, hard.why_not) == ([10.0, 20.0], [-1.0, -2.0], "")
    assert (sharper.won_back, sharper.changes) == ([0.0, 0.0], [0.0, 0.0])
    cells = controls.build(as_frame(rows))
    won = at(cells, "sort: softmax", "hard maximum, won back at 16×")
    assert (won["value"], won["n"]) == (15.0, 2)


def test_a_control_that_hurts_at_the_training_length_supports_no_conclusion():
    rows = with_hard_maximum(at_training=-1.5, at_16=10.0)
    hard, sharper = controls_of(as_frame(rows), 16.0)
    # 1.5 and 3 points
    assert hard.why_not
    assert not sharper.why_not
    cells = controls.build(as_frame(rows))
    won = at(cells, "sort: softmax", "hard maximum, won back at 16×")
    assert (won["value"], won["note"]) == (None, hard.why_not)
    unsolved = as_frame([row | {"test_accuracy": 98.0} for row in rows])
    assert all(each.why_not for each in controls_of(unsolved, 16.0))


def evidence_from_sort(name: str) -> Line:
    """Collect the evidence for a claim from runs on sort, where entmax-1.5 reaches further."""
    rows = []
    for seed in range(1, 6):
        for variant in load_question("where_sparse_helps").variants:
            gain = 1 + 0.03 * seed if variant == "entmax15" else 0
            reach = 1 + 0.01 * seed + gain
            rows.append(recalled(variant=variant, seed=seed, test_reach=reach))
    return evidence_of(load_claim(name), as_table(rows))


def test_claims_about_length_are_judged_on_the_corpora_that_were_run():
    judged = evidence_from_sort("entmax15_reaches_further_in_sort")
    assert judged.n == 5
    assert judged.effect == pytest.approx(1.09)
    assert evidence_from_sort("entmax15_reaches_further_in_reverse").verdict == "not tested"
    assert evidence_from_sort("ssmax_reaches_further_in_retrieval").verdict == "not tested"
    assert evidence_from_sort("asentmax_reaches_further").texts == judged.texts


def test_claims_of_a_question_that_was_not_run_are_not_tested():
    for name in claims_about("where_sparse_helps"):
        assert evidence_of(load_claim(name), both()).verdict == "not tested"
