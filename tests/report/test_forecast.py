"""Forecasts from sizes whose effects follow a known rule, and the count of how often each predictor
was right.
"""

import pytest

from workflow.claims.forecast import PREDICTORS, forecast, score
from workflow.results.statistics import mean_interval

LARGEST, LINE, POWER = PREDICTORS


def ladder(
    ours, than, sizes=(1e3, 1e4, 1e5, 1e6), texts=("a",), seeds=3, scatter=0.0, most=None
) -> list[dict]:
    """Rungs whose scores are functions of N; seeds lie `scatter` apart around them."""
    around = [scatter * (seed - (seeds - 1) / 2) for seed in range(seeds)]
    return [
        {
            "size": n,
            "most": most,
            "parameters": {"ours": n, "than": n},
            "pairs": [
                {"text": text, "turn": turn, "ours": ours(n) + off, "than": than(n) - off}
                for text in texts
                for turn, off in enumerate(around)
            ],
        }
        for n in sizes
    ]


def test_each_predictor_finds_its_own_rule():
    law = forecast(ladder(lambda n: 4 * n**-0.1, lambda n: 5 * n**-0.12), (1e8, 1e8))
    assert law[POWER].effect == pytest.approx(4 * 1e8**-0.1 - 5 * 1e8**-0.12)
    assert law[LARGEST].effect == pytest.approx(4 * 1e6**-0.1 - 5 * 1e6**-0.12)
    straight = forecast(ladder(lambda n: 2.0, lambda n: 2.0 + 1e-9 * len(str(int(n)))), (1e8, 1e8))
    # of numbers with four to seven digits, at nine
    assert straight[LINE].effect == pytest.approx(-9e-9)
    assert forecast(ladder(lambda n: 1.0, lambda n: 1.0, sizes=(1e3,)), (1e8, 1e8)) == {}


def test_a_score_that_has_a_best_falls_short_of_it_by_a_power_law():
    law = forecast(
        ladder(lambda n: 100 - 90 * n**-0.1, lambda n: 100 - 80 * n**-0.1, most=100.0), (1e8, 1e8)
    )
    assert law[POWER].effect == pytest.approx(-10 * 1e8**-0.1)


def test_texts_count_alike_and_seeds_that_differ_give_an_interval():
    told = forecast(
        ladder(lambda n: 2.0, lambda n: 2.5, texts=("a", "b"), scatter=0.1), (1e8, 1e8)
    )[LARGEST]
    assert told.effect == pytest.approx(-0.5) and told.low < -0.5 < told.high
    _, low, high = mean_interval([-0.7, -0.5, -0.3] * 2, ["a"] * 3 + ["b"] * 3)
    assert (told.low, told.high) == (pytest.approx(low, abs=0.03), pytest.approx(high, abs=0.03))
    exact = forecast(ladder(lambda n: 2.0, lambda n: 2.5), (1e8, 1e8))[LARGEST]
    assert exact.low == exact.high == exact.effect


def test_a_back_test_asks_for_the_largest_size_from_the_others():
    # the effect turns round at the end
    turns = ladder(lambda n: 2.0 if n < 1e6 else 3.0, lambda n: 2.5, scatter=0.01)
    stays = ladder(lambda n: 2.0, lambda n: 2.5, texts=("a", "b"), scatter=0.01)
    of = {each.predictor: each for each in score([turns, stays])}
    assert {each.ladders for each in of.values()} == {3} and {
        each.sign for each in of.values()
    } == {2}
    assert of[LARGEST].covered == of[POWER].covered == 2 and of[LARGEST].by_coin == 4 / 8
    short = ladder(lambda n: 2.0, lambda n: 2.5, sizes=(1e3, 1e4))
    # nothing is left to draw a line through
    assert {each.ladders for each in score([short])} == {0}
