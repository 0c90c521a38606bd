"""Variants that are tuned on each corpus: what was chosen, and what else would have been."""

import pandas as pd
import pytest

from tests._runs import recalled
from workflow.report.answers.answering import answer_question, read_basis
from workflow.report.answers.tuning import Choice, doubts, tuning_table
from workflow.results.runs_table import as_frame
from workflow.tasks.spec import TASKS

TASK = TASKS["symbols"]
# factor of the rate -> dev accuracy at 2x, at 4x, dev loss at 1x, reach of the tuning seed
TRIED = {
    0.5: (97.0, 60.0, 0.3, 1.0),
    1.0: (97.5, 80.0, 0.2, 1.5),
    2.0: (90.0, 70.0, 0.1, 2.0),
}


def tuned(variant: str, corpus: str, follows: float, *accuracies: float) -> list[dict]:
    """Make the trials of a variant on a corpus, and seeds that follow the trial with one factor."""
    rows = []
    for factor, (at_2, at_4, loss, reach) in TRIED.items():
        over = [
            {"at": 1.0, "count": 10, "metrics": {"dev_bits": loss, "dev_accuracy": 99.0}},
            {"at": 4.0, "count": 10, "metrics": {"dev_bits": 3.0, "dev_accuracy": at_4}},
        ]
        trial = {
            "tuning": "trial",
            "factors": {"lr": factor},
            "lr": 0.004 * factor,
            "digest": f"{variant}-{corpus}-{factor}",
            "dev_accuracy": at_2,
            "test_reach": reach,
            "over_condition": over,
        }
        rows.append(recalled(variant=variant, seed=101, paper_corpus=corpus, **trial))
    for seed, accuracy in enumerate(accuracies, start=1):
        chosen = {
            "follows": f"{variant}-{corpus}-{follows}",
            "lr": 0.004 * follows,
            "dev_accuracy": accuracy,
        }
        rows.append(recalled(variant=variant, seed=seed, paper_corpus=corpus, **chosen))
    return rows


@pytest.fixture
def runs() -> pd.DataFrame:
    """On sort the first rate is chosen, on reverse softmax follows the second."""
    rows = tuned("softmax", "sort", 0.5, 97.0, 97.01, 97.02)
    rows += tuned("entmax15", "sort", 0.5, 90.0, 95.0, 99.0)
    rows += tuned("softmax", "reverse", 1.0, 97.0, 97.0, 97.0)
    return as_frame(rows)


def test_each_variant_has_a_line_for_each_corpus(runs):
    table = tuning_table(runs, "test_reach", TASK)
    lines = {table.name(line): line for line in table.lines}
    assert [*lines] == ["softmax on sort", "entmax-1.5 on sort", "softmax on reverse"]
    first = lines["softmax on sort"]
    assert first.lr == 0.002
    assert [trial.chosen for trial in first.trials] == [True, False, False]
    assert [trial.score for trial in first.trials] == [97.0, 97.5, 90.0]
    assert lines["softmax on reverse"].lr == 0.004
    # the first of three rates is at the edge
    assert table.edges == ["softmax on sort", "entmax-1.5 on sort"]
    assert table.tie == 1.0
    assert all(line.effect is None for line in table.lines)


def test_more_is_better_where_the_task_says_so_and_a_lead_is_judged_by_the_seeds(runs):
    """97.5 leads 97 by 0.5; two seeds with s = 0.01 differ by sqrt(2) x 4.303 x 0.01 at most."""
    table = tuning_table(runs, "test_reach", TASK)
    close, wide, _ = table.lines
    assert close.lead == wide.lead == pytest.approx(0.5)
    assert close.apart == pytest.approx(0.0608, abs=1e-4)
    assert close.sure
    assert not wide.sure
    noise, edge = doubts(table)
    assert wide.variant in noise and close.variant not in noise
    assert close.variant in edge


def test_other_criteria_choose_among_the_same_trials(runs):
    table = tuning_table(runs, "test_reach", TASK)
    assert len(table.criteria) == 3
    by_accuracy, by_loss, by_accuracy_at_4 = table.lines[0].choices
    # within a point of the best, the lowest rate
    assert by_accuracy == Choice(lr=0.002, score=1.0)
    assert by_loss == Choice(lr=0.008, score=2.0)
    assert by_accuracy_at_4 == Choice(lr=0.004, score=1.5)
    assert [count for _, count in table.differing] == [3, 3]


def test_a_criterion_whose_length_was_not_scored_chooses_nothing(runs):
    without = runs.assign(over_condition=[[] for _ in range(len(runs))])
    table = tuning_table(without, "test_reach", TASK)
    assert table.lines[0].choices == [Choice(0.002, 1.0), Choice(), Choice()]
    assert [count for _, count in table.differing] == [0, 0]


def test_the_answer_is_of_tuned_runs(runs):
    basis = read_basis(runs, TASK, has_trials=True)
    assert basis.tuned is None
    assert answer_question(basis).settings == "tuned"
