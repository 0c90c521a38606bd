"""What chance allows: intervals that hold, p as the textbook has it, Holm's correction, power."""

import numpy as np
import pytest
from scipy.special import stdtr
from scipy.stats import binomtest, ttest_1samp, ttest_ind

from workflow.results.statistics import (
    AT_EACH_LOOK,
    LEVEL,
    LOOKS,
    Pooled,
    average_unpaired,
    count_looks,
    half_width,
    holm,
    mean_interval,
    of_difference,
    over_looks,
    p_equal,
    p_of,
    scatter,
    smallest_effect,
    unpaired_differences,
    widening,
    wilson_interval,
)

PER_CENT = (0.0, 100.0)


def test_an_interval_of_a_bounded_score_ends_at_its_bounds():
    """85, 95, 99: s = 7.211, half = 4.303 x 7.211 / sqrt(3) = 17.91."""
    wide = mean_interval([0.0, 0.0, 90.0], bounds=PER_CENT)
    assert wide == (30.0, 0.0, 100.0)
    mean, low, high = mean_interval([85.0, 95.0, 99.0], bounds=PER_CENT)
    assert mean == 93.0
    assert high == 100.0
    assert low == pytest.approx(93 - 17.913, abs=1e-3)
    assert of_difference(PER_CENT) == (-100.0, 100.0)


def test_one_value_has_no_interval_and_equal_ones_have_no_width():
    of_one = mean_interval([2.0])
    assert of_one == (2.0, None, None)
    of_equal = mean_interval([2.0, 2.0, 2.0])
    assert of_equal == (2.0, 2.0, 2.0)
    # rounding is no scatter
    rounded = [0.1 + 0.2, 0.3, 0.3]
    assert scatter(rounded) == 0.0
    assert half_width(1.0, 4.0) == 1.5
    assert half_width(None, None) is None


def test_what_differs_between_corpora_is_no_scatter():
    """Around 1 and 5 the values lie 0.1 apart on either side: df = 4 - 2, s^2 = 4 x 0.01 / 2."""
    values = [0.9, 1.1, 4.9, 5.1]
    corpora = ["a", "a", "b", "b"]
    assert scatter(values, corpora) == pytest.approx(0.02**0.5)
    mean, _, high = mean_interval(values, corpora)
    assert mean == pytest.approx(3.0)
    half = 4.302653 * 0.02**0.5 / 2
    assert high - mean == pytest.approx(half)
    assert p_of(values, 0.0, corpora) < 0.001
    assert p_of(values) > 0.05


def test_p_is_that_of_students_t():
    values = [0.3, 0.5, 0.1, 0.45]
    two_sided = ttest_1samp(values, 0.2).pvalue
    assert p_of(values, 0.2) == pytest.approx(two_sided)
    below = ttest_1samp(values, 0.8, alternative="less")
    above = ttest_1samp(values, -0.8, alternative="greater")
    larger = max(below.pvalue, above.pvalue)
    assert p_equal(values, 0.0, 0.8) == pytest.approx(larger)


def test_holm_by_hand():
    """0.01 x 4; 0.02 x 3; 0.04 x 2; and the last no smaller than the one before."""
    corrected = holm([0.04, 0.01, 0.05, 0.02])
    assert corrected == pytest.approx([0.08, 0.04, 0.08, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


@pytest.mark.slow
@pytest.mark.parametrize("corpora", [1, 3])
def test_three_interim_analyses_find_what_is_not_there_as_seldom_as_one(corpora):
    """Of 20,000 claims without an effect, analysed with 3, 6 and 12 seeds on each corpus."""
    generator = np.random.default_rng(0)
    claims = 20_000
    scores = generator.normal(size=(claims, corpora, 12))
    found = np.zeros(claims, bool)
    for seeds in LOOKS:
        seen = scores[:, :, :seeds]
        freedom = corpora * (seeds - 1)
        centred = seen - seen.mean(2, keepdims=True)
        squares = centred**2
        variance = squares.sum((1, 2)) / freedom
        error = np.sqrt(variance / (corpora * seeds))
        t = seen.mean((1, 2)) / error
        p = 2 * stdtr(freedom, -abs(t))
        found |= p <= AT_EACH_LOOK
    # two standard errors are 0.003
    assert 0.044 <= found.mean() <= 0.0535


def test_p_is_corrected_for_three_interim_analyses_and_so_is_the_smallest_effect():
    assert over_looks(AT_EACH_LOOK) == pytest.approx(LEVEL)
    assert over_looks(0.5) == 1.0
    counts = [count_looks(seeds) for seeds in (2, 3, 5, 6, 12, 20)]
    assert counts == [0, 1, 1, 2, 3, 3]
    stricter = smallest_effect(1.0, 3, 1, 0.019)
    assert stricter > smallest_effect(1.0, 3)


@pytest.mark.parametrize("corpora", [1, 2])
def test_widened_intervals_of_resampled_pairs_hold_the_mean_19_times_of_20(corpora):
    generator = np.random.default_rng(0)
    pairs = generator.normal(size=(2000, corpora, 3))
    chosen = generator.integers(3, size=(2000, corpora, 200, 3))
    drawn = np.take_along_axis(pairs[:, :, None], chosen, 3)
    means = pairs.mean((1, 2))
    drawn_means = drawn.mean((1, 3))
    ends = np.quantile(drawn_means, (0.025, 0.975), axis=1)
    bounds = ends - means

    def held(by: float) -> float:
        low, high = means + by * bounds
        return np.mean(low * high < 0)

    assert held(1) < 0.85
    by = widening(3, corpora)
    assert held(by) == pytest.approx(0.95, abs=0.02)


def test_the_scatter_of_unpaired_groups_is_pooled_over_all_of_them():
    """Squares 2, 2 and 8 over df = 2 + 2 + 1 = 5: s^2 = 12 / 5; t(5) = 2.570582."""
    groups = {"softmax": [1.0, 2.0, 3.0], "a": [4.0, 5.0, 6.0], "b": [0.0, 4.0], "failed": []}
    differences = unpaired_differences(groups, "softmax")
    assert differences.keys() == {"a", "b"}
    of_a = differences["a"]
    half = 2.570582 * (2.4 * (1 / 3 + 1 / 3)) ** 0.5
    assert (of_a.mean, of_a.high) == pytest.approx((3.0, 3.0 + half))
    assert of_a.low == pytest.approx(3.0 - half)
    # t = 3 / sqrt(1.6) = 2.3717
    assert of_a.p == pytest.approx(2 * stdtr(5, -2.371708))
    # two seeds are known less well than three
    of_b = differences["b"]
    assert of_b.mean == 0.0
    assert of_b.high == pytest.approx(2.570582 * (2.4 * (1 / 3 + 1 / 2)) ** 0.5)
    assert of_b.p == pytest.approx(1.0)


def test_of_two_groups_it_is_students_two_sample_test():
    groups = {"base": [1.0, 2.5, 2.0, 3.0], "other": [2.0, 4.5, 4.0]}
    expected = ttest_ind(groups["other"], groups["base"])
    found = unpaired_differences(groups, "base")["other"]
    interval = expected.confidence_interval(0.95)
    assert found.p == pytest.approx(expected.pvalue)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))


def test_corpora_count_alike_and_their_errors_add_up():
    """Differences 2 and 4 with standard errors 0.3 and 0.4: 3 with 0.5 / 2."""
    both = average_unpaired([Pooled(2.0, 0.3, 4), Pooled(4.0, 0.4, 6)])
    assert both.mean == 3
    assert both.high - both.mean == pytest.approx(2.228139 * 0.25)
    assert both.p == pytest.approx(2 * stdtr(10, -3 / 0.25))


def test_single_seeds_have_no_interval_and_equal_ones_no_width():
    alone = unpaired_differences({"base": [1.0], "other": [3.0]}, "base")["other"]
    assert (alone.mean, alone.low, alone.high, alone.p) == (2.0, None, None, None)
    exact = unpaired_differences({"base": [1.0, 1.0], "other": [4.0, 4.0]}, "base")["other"]
    assert (exact.low, exact.high, exact.p) == (3.0, 3.0, 0.0)
    same = unpaired_differences({"base": [4.0, 4.0], "other": [4.0, 4.0]}, "base")["other"]
    assert same.p == 1.0
    assert unpaired_differences({"base": [], "other": [4.0]}, "base") == {}


@pytest.mark.parametrize("n", [1, 7, 250, 1000])
def test_the_interval_of_a_share_is_wilsons(n):
    for hits in {0, 1, n // 3, n - 1, n}:
        share = 100 * hits / n
        low, high = wilson_interval(share, n)
        expected = binomtest(hits, n).proportion_ci(method="wilson")
        assert [low, high] == pytest.approx([100 * expected.low, 100 * expected.high])
        assert 0 <= low <= share <= high <= 100
        # right and wrong are alike
        mirrored = wilson_interval(100 - share, n)
        assert mirrored == pytest.approx((100 - high, 100 - low))


def test_the_interval_of_half_of_the_samples_by_hand():
    """Around 1/2 it is z / (2 sqrt(n + z^2)): with n = 96, 1.96 / (2 sqrt(99.84)) = 0.0981."""
    assert wilson_interval(50.0, 96) == pytest.approx((40.19, 59.81), abs=0.005)
