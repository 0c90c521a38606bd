"""The back-test of the battery: predictors that are right, useless, or right by chance."""

from itertools import permutations
from math import comb

import pytest

from workflow.cards.backtest import (
    FEWEST_VARIANTS,
    Case,
    compare_scales,
    count_left_out,
    find_cases,
    permutation_p,
    score_cases,
    score_part,
)
from workflow.cards.effects import Effect
from workflow.config.strict import parse
from workflow.settings.battery import Battery

PART = {"title": "a part", "task": "char_lm", "corpus": "enwik8", "score": "test_bpc", "margin": 1}
SORT = PART | {"task": "symbols", "corpus": "sort", "score": "test_accuracy"}


def effect(difference: float, half=0.1, p=0.01, macs=1.0) -> Effect:
    return Effect(difference, difference - half, difference + half, p, macs, 3)


def case(larger: float, macs=1.0, **battery: float) -> Case:
    """Make a case. battery: what it measured on each part; the first is the case's own."""
    measured = {part: effect(difference, macs=macs) for part, difference in battery.items()}
    own = next(iter(measured.values()))
    return Case("a variant", "a", effect(larger), own, measured)


def cases(battery: list[float], larger: list[float]) -> list[Case]:
    return [case(theirs, a=ours) for ours, theirs in zip(battery, larger, strict=True)]


# five variants are better at the larger scale, ten are worse
LARGER = [float(place) for place in (*range(1, 6), *range(-10, 0))]
assert len(LARGER) == FEWEST_VARIANTS


# --- predictors ------------------------------------------------------------------------------


def test_a_perfect_predictor_has_every_sign_and_the_order_of_sizes():
    found = score_cases(cases(LARGER, LARGER))
    assert (found.cases, found.battery, found.always_worse) == (15, 15, 10)
    assert found.rank == pytest.approx(1)
    # 1 of 3,003 assignments has all signs right, and 1 of 15! all ranks
    assert found.p <= 0.002
    assert found.p_rank == pytest.approx(1e-4)


def test_a_predictor_that_is_always_wrong_is_found_so():
    found = score_cases(cases([-each for each in LARGER], LARGER))
    assert found.battery == 0
    assert found.rank == pytest.approx(-1)
    assert found.p == found.p_rank == 1


def test_saying_worse_of_every_variant_is_no_skill_however_often_it_is_right():
    larger = [1.0, *(-float(place) for place in range(1, 20))]
    found = score_cases(cases([-1.0] * 20, larger))
    assert found.battery == found.always_worse == 19
    assert found.p == 1
    assert found.rank == 0


def test_the_dearer_is_taken_for_better_and_one_as_dear_for_worse():
    given = [case(1, 1.5, a=-1), case(-1, 1.5, a=-1), case(-1, 0.5, a=-1), case(1, 1.0, a=-1)]
    found = score_cases(given)
    assert (found.dearer, found.always_worse) == (2, 2)


def test_MACs_that_were_not_counted_are_those_of_the_baseline():
    assert score_cases([case(1, None, a=1), case(-1, None, a=1)]).dearer == 1


def test_equal_sizes_share_their_rank():
    # ranks 1, 2.5, 2.5, 4 and 1 to 4: covariance 4.5, variances 4.5 and 5
    found = score_cases(cases([1, 2, 2, 3], [1, 2, 3, 4]))
    assert found.rank == pytest.approx(4.5 / (4.5 * 5) ** 0.5)


def test_two_variants_have_no_rank_correlation():
    assert score_cases(cases([1, 2], [1, 2])).rank is None


# --- p by permuting variants -----------------------------------------------------------------


def test_p_is_that_of_all_permutations():
    battery = [3.0, -1.0, 2.0, -2.0, 1.0]
    larger = [2.0, -3.0, 1.0, 3.0, -1.0]
    # the ranks are 5, 2, 4, 1, 3 and 4, 1, 3, 5, 2
    products = []
    signs = []
    for order in permutations(battery):
        signs.append(sum((a > 0) == (b > 0) for a, b in zip(order, larger, strict=True)))
        ranks = [sorted(battery).index(each) for each in order]
        theirs = [sorted(larger).index(each) for each in larger]
        products.append(sum(a * b for a, b in zip(ranks, theirs, strict=True)))
    # the first is the assignment that was measured
    as_many = sum(each >= signs[0] for each in signs) / 120
    as_high = sum(each >= products[0] for each in products) / 120
    p, p_rank = permutation_p(battery, larger)
    # three standard errors of 9,999 draws
    assert p == pytest.approx(as_many, abs=0.015)
    assert p_rank == pytest.approx(as_high, abs=0.015)
    assert 0.05 < as_many < 0.95
    assert 0.05 < as_high < 0.95


def test_p_of_signs_is_that_of_a_two_by_two_table():
    # of five better ones the battery finds four, and takes one worse variant for better
    battery = [1, 1, 1, 1, -1, 1, *[-1] * 9]
    found = score_cases(cases(battery, LARGER))
    assert found.battery == 13
    exact = (comb(5, 4) * comb(10, 1) + 1) / comb(15, 5)
    assert found.p == pytest.approx(exact, abs=0.004)


@pytest.mark.parametrize(
    ("variants", "has_p"), [(FEWEST_VARIANTS - 1, False), (FEWEST_VARIANTS, True)]
)
def test_with_fewer_than_15_variants_there_is_no_p(variants, has_p):
    found = score_cases(cases(LARGER[:variants], LARGER[:variants]))
    assert (found.p is not None, found.p_rank is not None) == (has_p, has_p)
    assert found.battery == variants


# --- each variant left out -------------------------------------------------------------------


def test_a_part_informs_if_it_does_without_any_one_variant():
    # both parts get more signs right than are worse, a by two variants and b by one
    given = [case(1, a=1, b=1), case(1, a=1, b=-1), case(-1, a=-1, b=-1)]
    a, b = (score_part(part, "", given) for part in "ab")
    assert (a.cases, a.right, a.always_worse, a.informs) == (3, 3, 1, True)
    assert (b.cases, b.right, b.always_worse, b.informs) == (3, 2, 1, False)


def test_a_part_is_scored_on_its_own_variants():
    given = [case(1, a=1, b=1), case(-1, a=-1), case(1, a=1)]
    b = score_part("b", "", given)
    assert (b.cases, b.right, b.always_worse, b.informs) == (1, 1, 0, False)
    assert score_part("c", "", given).cases == 0


def test_a_variant_is_predicted_by_the_part_that_informs_about_the_others():
    # a is right about the first two and wrong about the third, where b is right
    given = [case(1, a=1, b=-1), case(1, a=1, b=-1), case(1, a=-1, b=1)]
    # without the first, a and b are both right about one; a comes first and is right about it.
    # So it is with the second. Without the third, a is right about two, and wrong about it.
    assert count_left_out(given) == 2
    # what is chosen with the variant itself would be right about it
    assert count_left_out([case(1, a=-1, b=1)]) == 0


def test_a_part_without_a_result_of_a_variant_does_not_predict_it():
    given = [case(1, a=1), case(1, a=1), case(1, b=1)]
    assert count_left_out(given) == 3


# --- which cases there are -------------------------------------------------------------------


def test_a_variant_counts_once_where_the_larger_scale_is_most_certain():
    smaller = {"a": {"v": effect(-1)}, "b": {"v": effect(2)}}
    larger = {"a": {"v": effect(1, p=0.04)}, "b": {"v": effect(3, p=0.001)}}
    (found,) = find_cases(smaller, larger)
    assert (found.variant, found.part) == ("v", "b")
    assert (found.larger.difference, found.own.difference) == (3, 2)
    assert {name: each.difference for name, each in found.battery.items()} == {"a": -1, "b": 2}


def test_a_variant_whose_sign_is_unknown_is_no_case():
    unclear = {"a": {"v": effect(1, half=1.5), "w": Effect(1, None, None, None, 1, 1)}}
    assert find_cases({"a": {"v": effect(1), "w": effect(1)}}, unclear) == []


def test_nor_is_one_that_the_battery_did_not_measure_on_that_part():
    smaller = {"a": {}, "b": {"v": effect(2)}}
    assert find_cases(smaller, {"a": {"v": effect(1)}, "b": {}}) == []


def battery(**parts) -> Battery:
    return parse(Battery, {"about": "a toy", "seeds": 3, "parts": parts}, "battery")


def test_tasks_of_symbols_are_counted_apart():
    effects = {"text": {"v": effect(1)}, "sort": {"v": effect(1), "w": effect(-1)}}
    found = compare_scales("overnight", battery(text=PART, sort=SORT), effects, effects)
    assert (found.score.cases, found.symbols.cases) == (1, 2)
    # but they may predict the others
    assert [each.part for each in found.parts] == ["text", "sort"]
    # sort on sort has both variants, text and sort on each other the one that both have
    counts = {(each.part, each.larger_part): each.score.cases for each in found.pairings}
    assert counts == {
        ("text", "text"): 1,
        ("text", "sort"): 1,
        ("sort", "text"): 1,
        ("sort", "sort"): 2,
    }


def test_those_significant_on_the_battery_are_also_scored_alone():
    smaller = {"text": {"v": effect(1), "w": effect(-0.01)}}
    larger = {"text": {"v": effect(1), "w": effect(1)}}
    found = compare_scales("overnight", battery(text=PART), smaller, larger)
    assert (found.score.cases, found.score.battery) == (2, 1)
    assert (found.significant.cases, found.significant.battery) == (1, 1)
