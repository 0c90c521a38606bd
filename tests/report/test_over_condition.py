"""Scores over a condition on pages: whose interval is shown, over seeds or over samples."""

import pytest
from scipy.stats import binomtest

from tests import _site
from tests._runs import recalled
from workflow.report.answers.condition_figure import WHISKERS, data, draw, has_whiskers
from workflow.report.pages.question import OVER_CONDITION, OVER_SAMPLES, draw_figures
from workflow.report.pages.run import run_page
from workflow.results.runs_table import as_frame
from workflow.tasks.spec import TASKS

TASK = TASKS["symbols"]
EXACT = "test_exact"
# multiple -> samples, and how many of them were right
SOLVED = {1.0: (1000, 985), 2.0: (1000, 500), 16.0: (250, 0)}


def over(moved: int = 0) -> list[dict]:
    """Make the scores at each multiple. moved: how many fewer samples were right."""
    scored = []
    for at, (samples, right) in SOLVED.items():
        share = 100 * max(0, right - moved) / samples
        metrics = {EXACT: share, "test_accuracy": 99.0, "test_mass": 80.0}
        scored.append({"at": at, "count": samples, "metrics": metrics})
    return scored


def wilson(right: int, samples: int) -> list[float]:
    interval = binomtest(right, samples).proportion_ci(method="wilson")
    return [100 * interval.low, 100 * interval.high]


def test_exact_match_of_a_single_seed_has_an_interval_over_samples():
    numbers = data(as_frame([recalled(over_condition=over())]), EXACT)
    assert has_whiskers(numbers)
    assert numbers[["low", "high"]].isna().all(axis=None)
    for row, (samples, right) in zip(numbers.to_dict("records"), SOLVED.values(), strict=True):
        assert row["mean"] == pytest.approx(100 * right / samples)
        assert [row[name] for name in WHISKERS] == pytest.approx(wilson(right, samples))


@pytest.mark.parametrize("seeds", [2, 3])
def test_several_seeds_have_no_interval_over_samples(seeds):
    rows = [recalled(seed=seed, over_condition=over(seed)) for seed in range(1, seeds + 1)]
    numbers = data(as_frame(rows), EXACT)
    assert not has_whiskers(numbers)
    # that of seeds, where they differ and there are three of them
    assert numbers["low"].notna().tolist() == [seeds == 3] * 2 + [False]


def test_token_accuracy_has_no_interval_over_samples():
    """Symbols of one sequence are no independent samples."""
    numbers = data(as_frame([recalled(over_condition=over())]), "test_accuracy")
    assert not has_whiskers(numbers)


def test_a_seed_that_failed_leaves_the_interval_of_the_other():
    failed = recalled(seed=2, status="failed to train", over_condition=over(100))
    numbers = data(as_frame([recalled(over_condition=over()), failed]), EXACT)
    first, *_ = numbers.to_dict("records")
    assert (first["n"], first["failed"]) == (1, 1)
    assert [first[name] for name in WHISKERS] == pytest.approx(wilson(985, 1000))


def test_whiskers_are_drawn_and_explained_where_there_are_any():
    single = recalled(over_condition=over())
    several = [
        recalled(variant="entmax15", seed=seed, over_condition=over(seed)) for seed in (1, 2, 3)
    ]
    runs = as_frame([single, *several])
    numbers = data(runs, EXACT)
    figure = draw(numbers, EXACT, "exact match", TASK.condition)
    axes, *_ = figure.axes
    bars = [each for each in axes.collections if hasattr(each, "get_segments")]
    (whiskers,) = bars
    drawn = [segment[:, 1] for segment in whiskers.get_segments()]
    for (low, high), (samples, right) in zip(drawn, SOLVED.values(), strict=True):
        assert [low, high] == pytest.approx(wilson(right, samples))

    captions = {each.name: each.caption for each in draw_figures(runs, TASK)}
    assert captions[f"over-length-{EXACT}"] == f"{OVER_CONDITION} {OVER_SAMPLES}"
    assert captions["over-length-test_accuracy"] == OVER_CONDITION


def test_a_number_of_keys_is_drawn_by_powers_of_two_so_that_few_can_be_read_next_to_many():
    counts = [{"at": at, "count": 8, "metrics": {"test_support": 4.0 * at}} for at in SOLVED]
    numbers = data(as_frame([recalled(over_condition=counts)]), "test_support")
    axes, *_ = draw(numbers, "test_support", "keys", TASK.condition).axes
    assert [each.get_text() for each in axes.get_yticklabels()] == ["4", "16", "64"]
    places = axes.transData.transform([(1, 4), (1, 16), (1, 64)])[:, 1]
    assert places[1] - places[0] == pytest.approx(places[2] - places[1])


def test_a_run_page_lists_scores_at_each_length_and_the_interval_of_exact_match():
    row = recalled(over_condition=over(), test_exact=98.5)
    record = _site.record(row)
    page = run_page(record, uses=None, row=row)
    table = page.over_condition
    assert [title for title, _ in table.columns] == [
        TASK.known[name].title for name in ("test_accuracy", EXACT, "test_mass")
    ]
    at, samples, (accuracy, exact, mass) = table.rows[0]
    assert (at, samples, accuracy, mass) == ("1", 1000, "99", "80")
    # of 1000, 985 right: 97.54 to 99.09
    assert exact == "98.50 (97.54 to 99.09)"
    assert table.rows[-1][2][1] == "0.00 (0.00 to 1.51)"
    own = {title: value for title, value, _ in page.scores}
    assert own[TASK.known[EXACT].title] == exact
    assert own[TASK.known["test_accuracy"].title] == 99.5

    without = run_page(_site.record(recalled(over_condition=[])), uses=None, row=row)
    assert without.over_condition is None
