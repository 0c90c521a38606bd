"""Predictions are decided by means over seeds and scored; hand-computed cases."""

import pandas as pd
import pytest

from studies.long_context.tables import (
    position_prediction_scores,
    position_predictions,
    prediction_scores,
    predictions,
)
from studies.long_context.tables._predictions import (
    METHODS,
    NAMES,
    POSITIONS,
    PREDICTIONS,
    WITH_POSITIONS,
    Prediction,
    Side,
    best_beats_mean,
    brier,
    hard_loses,
    hard_wins_back,
    keeps_under,
    reaches_further,
    reaches_with,
)
from tests._runs import recalled
from tests.report._cells import at
from workflow.results.runs_table import as_frame
from workflow.settings.questions import load_question


def reaching(**reaches: list[float]):
    """Make runs on sort: of each variant one with each reach."""
    rows = []
    for variant, of_variant in reaches.items():
        for seed, reach in enumerate(of_variant, 1):
            rows.append(recalled(variant=variant, seed=seed, test_reach=reach))
    return as_frame(rows)


def scored(hard: float):
    """Make two runs of softmax on sort; the hard maximum changes token accuracy by `hard`."""
    rows = []
    for seed, noise in ((1, 0.5), (2, -0.5)):
        row = recalled(seed=seed)
        for point in row["over_condition"]:
            metrics = point["metrics"]
            metrics["test_accuracy"] += noise
            metrics["test_hard_accuracy"] = metrics["test_accuracy"] + hard
        rows.append(row)
    return as_frame(rows)


FURTHER = reaches_further("sort", "entmax15", "softmax", 0.8)


@pytest.mark.parametrize(
    "ours, theirs, outcome",
    [
        ([1.0, 2.0], [1.4, 1.5], True),  # 1.5 and 1.45
        ([1.0, 2.0], [1.6, 1.5], False),
        ([1.5], [1.5], False),
        ([1.5], [], None),
    ],
)
def test_the_mean_over_seeds_decides(ours, theirs, outcome):
    assert FURTHER.outcome(reaching(entmax15=ours, softmax=theirs)) is outcome


def test_the_best_seed_decides_only_where_it_is_named():
    runs = reaching(softmax=[0.5, 1.5], entmax15=[1.2, 1.4])
    assert FURTHER.outcome(runs) is True
    assert best_beats_mean("sort", "softmax", "entmax15", 0.5).outcome(runs) is True


@pytest.mark.parametrize("bound, outcome", [(75.1, True), (75.0, False), (60.0, False)])
def test_accuracy_at_a_length_is_compared_with_a_bound(bound, outcome):
    # 75 % at 4 times the training length, in the mean
    assert keeps_under("sort", "softmax", 4, bound, 0.5, "nothing").outcome(scored(0)) is outcome


@pytest.mark.parametrize(
    "hard, wins, loses",
    [(5.0, True, False), (2.5, False, False), (-1.9, False, False), (-2.1, False, True)],
)
def test_what_the_hard_maximum_changes(hard, wins, loses):
    runs = scored(hard)
    assert hard_wins_back("sort", "softmax", 4, 3, 0.5, "nothing").outcome(runs) is wins
    assert hard_loses("sort", "softmax", 0.5).outcome(runs) is loses


def test_a_question_decides_its_own_predictions():
    runs = reaching(entmax15=[1.5], softmax=[1.0])
    positions = runs.assign(question="recall_positions")
    assert FURTHER.outcome(positions) is None
    of_positions = reaches_with("sort", ("entmax15", "nape"), ("softmax", "nape"), 0.5)
    assert of_positions.outcome(runs) is None
    assert of_positions.outcome(positions) is True


def test_other_tasks_scales_and_lengths_decide_nothing():
    runs = reaching(entmax15=[1.0], softmax=[0.5])
    assert reaches_further("reverse", "entmax15", "softmax", 0.5).outcome(runs) is None
    assert FURTHER.outcome(runs.assign(scale="laptop")) is None
    assert keeps_under("sort", "softmax", 64, 50, 0.5, "nothing").outcome(runs) is None


def test_brier_scores():
    # (0.2^2 + 0.5^2) / 2; the base rate is a half
    scores = brier([0.8, 0.5], [True, False])
    assert scores.ours == pytest.approx(0.145)
    assert scores.even == scores.base_rate == 0.25
    # two of three: 2/3 * 1/3
    assert brier([1, 1, 0], [1, 1, 0]).base_rate == pytest.approx(2 / 9)
    assert brier([1, 1, 0], [1, 1, 0]).ours == 0


@pytest.mark.parametrize("prediction", PREDICTIONS, ids=lambda each: each.statement)
def test_each_is_about_what_its_question_asks(prediction: Prediction):
    question = load_question(prediction.question)
    assert prediction.task in question.corpora
    for side in filter(None, (prediction.ours, prediction.than)):
        assert side.variant in question.variants
        method = side.variant.removesuffix("_nope").removesuffix("_alibi").removesuffix("_rotary")
        named = NAMES if prediction.question == METHODS else WITH_POSITIONS
        assert named[method] in prediction.statement
    assert 0 < prediction.probability < 1


def test_tables_show_outcomes_and_scores():
    runs = reaching(entmax15=[1.5, 1.7], softmax=[1.0, 1.2])
    cells = predictions.build(runs)
    row = "sort: entmax-1.5 reaches further than softmax."
    assert at(cells, row, "came true")["value"] == "yes"
    assert at(cells, row, "score")["value"] == pytest.approx(0.15**2)
    undecided = at(cells, "sort: top-2 reaches further than softmax.", "came true")
    assert (undecided["value"], undecided["status"]) == (None, "not run")
    scores = prediction_scores.build(runs)
    assert at(scores, "all tasks", "predictions")["value"] is not None
    assert at(scores, "reverse", "predictions")["status"] == "not run"


def test_each_question_lists_and_scores_its_own():
    of_methods = reaching(entmax15=[1.5], softmax=[1.0]).assign(paper_corpus="mqar")
    of_positions = reaching(softmax=[2.0], softmax_nope=[1.0]).assign(paper_corpus="mqar")
    of_positions = of_positions.assign(question=POSITIONS)
    runs = pd.concat([of_methods, of_positions])
    lists = predictions.build(runs), position_predictions.build(runs)
    assert not set(lists[0]["row"]) & set(lists[1]["row"])
    assert sum(map(len, lists)) == 4 * len(PREDICTIONS)
    for table, mine in (
        (prediction_scores, of_methods),
        (position_prediction_scores, of_positions),
    ):
        behind = at(table.build(runs), "mqar", "came true")["digests"]
        assert set(behind) == set(mine["digest"])


def test_a_side_without_finished_runs_has_no_value():
    diverged = reaching(softmax=[1.0]).assign(status="diverged")
    assert Side("softmax").read(diverged) is None
