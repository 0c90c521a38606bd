"""What chance allows: intervals that hold, p as the textbook has it, Holm's correction, power."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import stdtr
from scipy.stats import ttest_1samp

from workflow.results import statistics


@pytest.mark.slow
@pytest.mark.parametrize("n", [3, 6, 9])
def test_an_interval_of_few_values_holds_the_truth_as_often_as_it_says(n):
    """95 % of 400 samples of a normal distribution, within what chance allows."""
    samples = np.random.default_rng(0).normal(1.0, 2.0, (400, n))
    held = [low <= 1.0 <= high for _, low, high in map(statistics.mean_interval, samples)]
    assert 0.92 <= np.mean(held) <= 0.98


def test_an_interval_of_a_bounded_score_ends_at_its_bounds():
    """0, 0, 90: s = 51.96, half = 4.303 x 51.96 / sqrt(3) = 129.1. 85, 95, 99: s = 7.211, half =
    17.91.
    """
    per_cent = (0.0, 100.0)
    assert statistics.mean_interval([0.0, 0.0, 90.0], bounds=per_cent) == (30.0, 0.0, 100.0)
    mean, low, high = statistics.mean_interval([85.0, 95.0, 99.0], bounds=per_cent)
    assert (mean, high) == (93.0, 100.0) and low == pytest.approx(93 - 17.913, abs=1e-3)
    assert statistics.mean_interval(
        [40.0, 41.0, 42.0], bounds=per_cent
    ) == statistics.mean_interval([40.0, 41.0, 42.0])
    assert statistics.of_difference(per_cent) == (-100.0, 100.0)


def scores(kind: str, rng, shape) -> tuple[float, np.ndarray]:
    """Draw scores between 0 and 1 of a known mean: skewed beside a bound, even, or of two kinds of
    run.
    """
    if kind == "bimodal":
        return 0.5, np.where(rng.random(shape) < 0.5, 0.98, 0.02) + rng.uniform(-0.02, 0.02, shape)
    mean, precision = {"skewed": (0.05, 10), "even": (0.3, 50)}[kind]
    return mean, rng.beta(mean * precision, (1 - mean) * precision, shape)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind, n, least",
    [("even", 3, 0.94), ("even", 12, 0.94), ("skewed", 3, 0.81), ("skewed", 12, 0.86)]
    + [("bimodal", 3, 0.73), ("bimodal", 6, 0.94), ("bimodal", 12, 0.94)],
)
def test_what_a_bound_cuts_off_holds_no_mean(kind, n, least):
    """So it covers as often as Student's. Of two kinds of run three are alike one time in four,
    unseen.
    """
    mean, samples = scores(kind, np.random.default_rng(0), (3000, n))
    inside = [statistics.mean_interval(sample, bounds=(0.0, 1.0)) for sample in samples.tolist()]
    whole = [statistics.mean_interval(sample) for sample in samples.tolist()]
    held, of_students = (
        np.mean([low <= mean <= high for _, low, high in each]) for each in (inside, whole)
    )
    assert held == of_students >= least
    assert all(0.0 <= low <= high <= 1.0 for _, low, high in inside)


def test_one_value_has_no_interval_and_equal_ones_have_none_to_speak_of():
    assert statistics.mean_interval([2.0]) == (2.0, None, None)
    assert statistics.mean_interval([2.0, 2.0, 2.0]) == (2.0, 2.0, 2.0)
    assert statistics.scatter([0.1 + 0.2, 0.3, 0.3]) == 0.0  # rounding is no scatter


def test_what_differs_between_texts_is_no_scatter():
    """Around 1 and 5 the values lie .1 apart on either side: df = 4 - 2, s^2 = 4 x .01 / 2."""
    values, texts = [0.9, 1.1, 4.9, 5.1], ["a", "a", "b", "b"]
    assert statistics.scatter(values, texts) == pytest.approx(0.02**0.5)
    mean, low, high = statistics.mean_interval(values, texts)
    assert (mean, high - mean) == pytest.approx((3.0, 4.302653 * 0.02**0.5 / 2)) and low < mean
    assert statistics.p_of(values, 0.0, texts) < 0.001 < 0.05 < statistics.p_of(values)
    assert statistics.mean_interval([1.0, 5.0], ["a", "b"]) == statistics.mean_interval([1.0, 5.0])


def test_half_a_width_is_what_stands_behind_plus_or_minus():
    assert statistics.half_width(1.0, 4.0) == 1.5 and statistics.half_width(None, None) is None
    columns = pd.DataFrame({"low": [1.0, np.nan], "high": [4.0, np.nan]})
    halves = statistics.half_width(columns["low"], columns["high"])
    assert halves[0] == 1.5 and np.isnan(halves[1])


def test_p_is_that_of_students_t():
    values = [0.3, 0.5, 0.1, 0.45]
    assert statistics.p_of(values, 0.2) == pytest.approx(ttest_1samp(values, 0.2).pvalue)
    sides = [
        ttest_1samp(values, edge, alternative=way).pvalue
        for edge, way in ((0.8, "less"), (-0.8, "greater"))
    ]
    assert statistics.p_equal(values, 0.0, 0.8) == pytest.approx(max(sides))


def test_holm_by_hand():
    """.01 x 4; .02 x 3; .04 x 2; and the last no smaller than the one before."""
    assert statistics.holm([0.04, 0.01, 0.05, 0.02]) == pytest.approx([0.08, 0.04, 0.08, 0.06])
    assert statistics.holm([0.9, 0.8]) == [1.0, 1.0] and statistics.holm([]) == []


@pytest.mark.parametrize("n", [2, 3, 8])
def test_what_could_have_been_seen_is_seen_four_times_out_of_five(n):
    samples = np.random.default_rng(0).normal(statistics.smallest_effect(2.0, n), 2.0, (1000, n))
    assert 0.77 <= np.mean([statistics.p_of(list(sample)) <= 0.05 for sample in samples]) <= 0.83


@pytest.mark.slow
@pytest.mark.parametrize("texts", [1, 2, 3])
def test_three_looks_find_what_is_not_there_as_seldom_as_one(texts):
    """Of 20,000 claims without an effect, looked at with 3, 6 and 12 seeds on each text; within
    what chance allows.
    """
    scores, found = (
        np.random.default_rng(0).normal(size=(20_000, texts, 12)),
        np.zeros(20_000, bool),
    )
    for seeds in statistics.LOOKS:
        seen = scores[:, :, :seeds]
        mean, freedom = seen.mean((1, 2)), texts * (seeds - 1)
        spread = ((seen - seen.mean(2, keepdims=True)) ** 2).sum((1, 2)) / freedom
        p = 2 * stdtr(freedom, -abs(mean) / np.sqrt(spread / (texts * seeds)))
        found |= np.minimum(1, p * statistics.LEVEL / statistics.AT_EACH_LOOK) <= statistics.LEVEL
    assert 0.044 <= found.mean() <= 0.0535  # two standard errors are .003


def test_p_is_corrected_for_three_looks_and_so_is_the_smallest_effect():
    assert statistics.over_looks(statistics.AT_EACH_LOOK) == pytest.approx(statistics.LEVEL)
    assert statistics.over_looks(0.5) == 1.0
    assert [statistics.count_looks(seeds) for seeds in (2, 3, 5, 6, 12, 20)] == [0, 1, 1, 2, 3, 3]
    assert statistics.smallest_effect(1.0, 3, 1, 0.019) > statistics.smallest_effect(1.0, 3)


@pytest.mark.parametrize("texts", [1, 2])
def test_resampled_intervals_that_are_widened_hold_the_mean_19_times_of_20(texts):
    generator = np.random.default_rng(0)
    pairs = generator.normal(size=(2000, texts, 3))
    drawn = np.take_along_axis(
        pairs[:, :, None], generator.integers(3, size=(2000, texts, 200, 3)), 3
    )
    bounds = np.quantile(drawn.mean((1, 3)), (0.025, 0.975), axis=1) - (means := pairs.mean((1, 2)))
    plain, wide = (
        np.mean(np.prod(means + by * bounds, 0) < 0) for by in (1, statistics.widening(3, texts))
    )
    assert plain < 0.85 and wide == pytest.approx(0.95, abs=0.02)
