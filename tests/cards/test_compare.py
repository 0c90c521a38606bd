"""A few seeds compared with many: tests worked out by hand, and the limits where they are known."""

import json
import math
from dataclasses import asdict, replace

import pytest
from scipy.special import nctdtr, stdtr, stdtrit

from workflow.cards.compare import (
    LEVEL,
    PRIOR,
    Compared,
    Comparison,
    Scatter,
    compare,
    judge,
    p_larger,
    pool,
    scatter_of,
    without_outliers,
)

# two groups with variance 4 and two degrees of freedom each
KNOWN = {"a": [0.0, 2.0, 4.0], "b": [11.0, 13.0, 15.0]}


def part(ours=(1.0, 2.0, 3.0), baseline=(0.0, 2.0), known=KNOWN, margin=1.5):
    return Compared(ours, baseline, known, margin)


def spread(deviation: float, mean=0.0, seeds=3) -> list[float]:
    """Return seeds with this mean and standard deviation: an odd number, equally spaced."""
    places = [place - seeds // 2 for place in range(seeds)]
    step = deviation / scatter_of(places).deviation
    return [mean + step * place for place in places]


# --- the test, by hand -----------------------------------------------------------------------


def test_own_and_pooled_variances_are_averaged_by_their_degrees_of_freedom():
    found = compare(part(), parts=1)
    # the pooled variance 4 counts as 4; ours is 1 with 2, the baseline's 2 with 1
    ours = (4 * 4 + 2 * 1) / 6
    theirs = (4 * 4 + 1 * 2) / 5
    error = math.sqrt(ours / 3 + theirs / 2)
    freedom = error**4 / ((ours / 3) ** 2 / 6 + (theirs / 2) ** 2 / 5)
    assert found.scatter.deviation == pytest.approx(math.sqrt(ours))
    assert found.scatter.freedom == 6
    assert found.difference == 1
    assert found.p == pytest.approx(2 * stdtr(freedom, -1 / error))
    half = stdtrit(freedom, 0.975) * error
    assert (found.low, found.high) == pytest.approx((1 - half, 1 + half))


def test_it_is_students_test_where_all_variances_are_equal():
    ours = spread(2, seeds=3)
    baseline = spread(2, mean=1, seeds=5)
    found = compare(part(ours, baseline), parts=1)
    error = 2 * math.sqrt(1 / 3 + 1 / 5)
    low, high = found.low, found.high
    # of 6 and 8 degrees of freedom, less than their sum and more than either
    halves = [stdtrit(freedom, 0.975) * error for freedom in (14, 6)]
    assert halves[0] < (high - low) / 2 < halves[1]
    t_of = -stdtrit(14, found.p / 2)
    assert t_of == pytest.approx(1 / error, rel=0.05)


def test_without_known_variants_the_baseline_says_how_seeds_scatter():
    found = compare(part(known={}), parts=1)
    # two degrees of freedom of a variance of 1, and one of the baseline's 2
    variance = 4 / 3
    error = math.sqrt(variance / 3 + 2 / 2)
    freedom = error**4 / ((variance / 3) ** 2 / 3 + (2 / 2) ** 2 / 1)
    assert found.p == pytest.approx(2 * stdtr(freedom, -1 / error))


def test_the_pooled_variance_counts_no_more_than_the_seeds_it_comes_from():
    few = {"a": KNOWN["a"]}
    many = {str(number): spread(2) for number in range(10)}
    assert compare(part(known=few), parts=1).scatter.freedom == 2 + 2
    assert compare(part(known=many), parts=1).scatter.freedom == PRIOR + 2


def test_equivalence_is_two_one_sided_tests_within_the_margin():
    error = math.sqrt(3 / 3 + 3.6 / 2)
    freedom = error**4 / (1**2 / 6 + 1.8**2 / 5)
    for margin in (0.5, 1.0, 6.0):
        found = compare(part(margin=margin), parts=1)
        assert found.p_equal == pytest.approx(stdtr(freedom, (1 - margin) / error))
        of_opposite = compare(part(ours=(-1.0, 0.0, 1.0), margin=margin), parts=1)
        assert of_opposite.p_equal == pytest.approx(found.p_equal)


def test_the_detectable_difference_is_significant_in_80_of_100_cards():
    parts = 9
    found = compare(part(), parts)
    error = math.sqrt(3 / 3 + 3.6 / 2)
    freedom = error**4 / (1**2 / 6 + 1.8**2 / 5)
    edge = stdtrit(freedom, 1 - LEVEL / parts / 2)
    missed = nctdtr(freedom, found.detectable / error, edge)
    assert missed == pytest.approx(0.2, abs=1e-6)
    assert found.detectable > compare(part(), parts=1).detectable


def test_more_seeds_settle_a_part_unless_the_baseline_has_too_few():
    baseline = spread(2, seeds=25)
    wanted = [compare(part(baseline=baseline, margin=each), 9).seeds for each in (9, 5, 3)]
    assert wanted == sorted(wanted)
    assert 3 < wanted[0] < wanted[-1]
    assert compare(part(baseline=baseline, margin=0.5), 9).seeds is None


def test_the_seeds_of_a_part_show_equivalence_too():
    """Of equal models the two one-sided tests are both significant with power 0.8."""
    parts = 9
    margin = 2.0
    baseline = spread(2, seeds=25)
    known = {str(place): spread(2) for place in range(5)}
    found = compare(part(spread(2), baseline, known, margin=margin), parts)

    def power(seeds: int) -> float:
        ours = 2**2 / seeds
        theirs = 2**2 / 25
        error = math.sqrt(ours + theirs)
        freedom = error**4 / (ours**2 / (PRIOR + seeds - 1) + theirs**2 / (PRIOR + 24))
        edge = margin / error - stdtrit(freedom, 1 - LEVEL / parts)
        return 2 * stdtr(freedom, edge) - 1

    assert power(found.seeds - 1) < 0.8 <= power(found.seeds)


# --- seeds that scatter differently ----------------------------------------------------------


def test_the_deviation_is_not_smaller_than_the_baselines():
    wide = spread(6, seeds=13)
    found = compare(part(baseline=wide), parts=1)
    # 36 in place of the pooled 4
    assert found.scatter.deviation == pytest.approx(math.sqrt((4 * 36 + 2 * 1) / 6))


def test_a_known_variant_that_trains_with_some_seeds_alone_is_not_pooled():
    alike = [scatter_of(spread(deviation, seeds=5)) for deviation in (1, 1.2, 0.9, 1.1)]
    fails = scatter_of([99.0, 30.0, 98.0, 25.0, 99.0])
    alike.sort(key=lambda each: each.deviation)
    assert without_outliers([fails, *alike]) == alike
    assert without_outliers(alike) == alike
    known = {str(place): spread(2) for place in range(5)}
    usual = compare(part(known=known), parts=1)
    with_one = compare(part(known=known | {"fails": [99.0, 30.0, 98.0]}), parts=1)
    assert with_one == usual


def test_all_outliers_are_found_where_one_hides_another():
    alike = [Scatter(1, 4) for _ in range(6)]
    assert without_outliers([Scatter(40, 4), *alike, Scatter(30, 4)]) == alike


def test_neither_of_two_groups_is_an_outlier():
    two = [Scatter(1, 50), Scatter(100, 50)]
    assert without_outliers(two) == two


def test_a_variant_that_scatters_more_than_the_known_ones_uses_its_own_seeds_alone():
    known = {str(place): spread(1, seeds=5) for place in range(5)}
    baseline = spread(1, seeds=5)
    usual = compare(part(spread(2, 10), baseline, known), parts=1)
    assert not usual.scatter.own
    assert usual.scatter.deviation < 2
    own = compare(part(spread(8, 10), baseline, known), parts=1)
    assert own.scatter == Scatter(pytest.approx(8), 2, own=True)
    # Welch's, with the baseline's variance of 1
    error = math.sqrt(64 / 3 + 1 / 5)
    freedom = error**4 / ((64 / 3) ** 2 / 2 + (1 / 5) ** 2 / 8)
    assert own.p == pytest.approx(2 * stdtr(freedom, -10 / error))


def test_two_variances_are_compared_by_their_ratio():
    one = Scatter(3, 2)
    # with 2 and f degrees of freedom, p of F is (1 + 2 F / f) to the power of -f / 2
    assert p_larger(one, Scatter(1, 8)) == pytest.approx((1 + 2 * 9 / 8) ** -4)
    assert p_larger(Scatter(1, 8), Scatter(1, 8)) == pytest.approx(0.5)
    assert p_larger(one, Scatter(0, 8)) == 0
    assert p_larger(one, Scatter(0, 0)) == p_larger(Scatter(0, 2), Scatter(0, 8)) == 1


def test_groups_are_pooled_by_their_degrees_of_freedom():
    pooled = pool([Scatter(1, 2), Scatter(2, 6)])
    assert pooled == Scatter(math.sqrt((2 * 1 + 6 * 4) / 8), 8)


# --- limits ----------------------------------------------------------------------------------


# the means of five and of seven 0.11 differ by rounding
@pytest.mark.parametrize("constant", [0.0, 0.11, 100.0])
def test_scores_that_never_scatter_differ_or_are_equal(constant):
    known = {"a": [constant] * 4, "b": [3.3] * 4}
    baseline = [constant] * 7
    equal = judge_one(part([constant] * 5, baseline, known))
    assert (equal.p, equal.p_equal, equal.verdict) == (1, 0, "no difference")
    other = judge_one(part([constant + 2] * 5, baseline, known))
    assert (other.p, other.p_equal, other.verdict) == (0, 1, "worse")
    assert equal.detectable == 0


def judge_one(compared: Compared) -> Comparison:
    found = compare(compared, parts=1)
    return judge({"part": found}, {"part": "lower"})["part"]


def test_one_seed_has_the_pooled_deviation():
    found = compare(part(ours=[2.0]), parts=1)
    assert found.scatter == Scatter(2, 4)
    assert found.p < 1


@pytest.mark.parametrize(
    "compared",
    [
        part(ours=[]),
        part(baseline=[]),
        part(ours=[1.0], baseline=[1.0], known={}),
        part(baseline=[1.0], known={"a": [2.0]}),
    ],
)
def test_nothing_is_compared_where_nothing_says_how_seeds_scatter(compared):
    assert compare(compared, parts=1) is None


def test_numbers_are_floats_which_json_takes():
    found = judge_one(part())
    json.dumps(asdict(found))
    for value in asdict(found).values():
        assert type(value) in (float, int, str, dict, type(None))


# --- the card --------------------------------------------------------------------------------


def comparison(difference=1.0, p=1.0, p_equal=1.0) -> Comparison:
    found = compare(part(), parts=1)
    return replace(found, difference=difference, p=p, p_equal=p_equal)


def test_p_is_corrected_over_the_parts_for_differences_and_for_equivalence():
    compared = {
        "a": comparison(p=0.01, p_equal=0.9),
        "b": comparison(p=0.04, p_equal=0.02),
        "c": comparison(p=0.02, p_equal=0.04),
    }
    judged = judge(compared, dict.fromkeys(compared, "lower"))
    assert [each.holm for each in judged.values()] == pytest.approx([0.03, 0.04, 0.04])
    assert [each.holm_equal for each in judged.values()] == pytest.approx([0.9, 0.06, 0.08])


def test_parts_that_share_runs_are_corrected_as_two():
    compared = {"at": comparison(p=0.03), "beyond": comparison(p=0.03)}
    judged = judge(compared, dict.fromkeys(compared, "lower"))
    assert judged["at"].holm == judged["beyond"].holm == pytest.approx(0.06)
    assert judged["at"].verdict == "inconclusive"


@pytest.mark.parametrize(
    "difference, better, verdict",
    [
        (1.0, "lower", "worse"),
        (-1.0, "lower", "better"),
        (1.0, "higher", "better"),
        (-1.0, "higher", "worse"),
    ],
)
def test_the_verdict_knows_which_direction_is_better(difference, better, verdict):
    judged = judge({"a": comparison(difference, p=0.01)}, {"a": better})
    assert judged["a"].verdict == verdict


@pytest.mark.parametrize(
    "p, p_equal, verdict",
    [
        (0.06, 0.06, "inconclusive"),
        (0.9, 0.06, "inconclusive"),
        (0.9, 0.04, "no difference"),
        # significant, but smaller than the margin
        (0.001, 0.04, "no difference"),
    ],
)
def test_no_difference_is_only_said_of_what_is_shown_to_be_within_the_margin(p, p_equal, verdict):
    judged = judge({"a": comparison(p=p, p_equal=p_equal)}, {"a": "lower"})
    assert judged["a"].verdict == verdict
