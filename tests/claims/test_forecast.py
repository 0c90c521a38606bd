"""Forecasts from sizes whose effects follow a known rule, and how often a prediction was right."""

import pytest

from tests._claims import evidence_at, in_ledger
from workflow.claims.backtest import Calls, back_test
from workflow.claims.evidence import Parameters, Rung, Scores
from workflow.claims.forecast import PREDICTORS, forecast, score
from workflow.results.statistics import mean_interval

LARGEST, LINE, POWER = PREDICTORS
AT = (1e8, 1e8)
EMPTY = dict.fromkeys(("effect", "low", "high", "n", "p", "ours", "than", "verdict", "why", "of"))


def ladder(
    ours, than, sizes=(1e3, 1e4, 1e5, 1e6), texts=("a",), scatter=0.0, most=None
) -> list[Rung]:
    """Rungs whose scores are functions of N; three seeds are `scatter` apart around them."""
    rungs = []
    for n in sizes:
        pairs = []
        for text in texts:
            for turn, off in enumerate((-scatter, 0.0, scatter)):
                pairs.append(Scores(text=text, turn=turn, ours=ours(n) + off, than=than(n) - off))
        rung = Rung(
            **EMPTY,
            size=n,
            parameters=Parameters(n, n),
            most=most,
            pairs=tuple(pairs),
            digests=(),
            signed={},
            texts=(),
            late_gain=None,
        )
        rungs.append(rung)
    return rungs


def test_each_predictor_finds_its_own_rule():
    law = forecast(ladder(lambda n: 4 * n**-0.1, lambda n: 5 * n**-0.12), AT)
    assert law[POWER].effect == pytest.approx(4 * 1e8**-0.1 - 5 * 1e8**-0.12)
    assert law[LARGEST].effect == pytest.approx(4 * 1e6**-0.1 - 5 * 1e6**-0.12)
    digits = ladder(lambda n: 2.0, lambda n: 2.0 + 1e-9 * len(str(int(n))))
    straight = forecast(digits, AT)
    # of numbers with four to seven digits, at nine
    assert straight[LINE].effect == pytest.approx(-9e-9)
    assert forecast(ladder(lambda n: 1.0, lambda n: 1.0, sizes=(1e3,)), AT) == {}
    # with an upper bound the distance from it follows the power law
    rungs = ladder(lambda n: 100 - 90 * n**-0.1, lambda n: 100 - 80 * n**-0.1, most=100.0)
    assert forecast(rungs, AT)[POWER].effect == pytest.approx(-10 * 1e8**-0.1)


def test_corpora_count_equally_and_seeds_that_differ_give_an_interval():
    rungs = ladder(lambda n: 2.0, lambda n: 2.5, texts=("a", "b"), scatter=0.1)
    found = forecast(rungs, AT)[LARGEST]
    _, low, high = mean_interval([-0.7, -0.5, -0.3] * 2, ["a"] * 3 + ["b"] * 3)
    assert found.effect == pytest.approx(-0.5)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.03)


def test_a_back_test_predicts_the_largest_size_from_the_others():
    # the sign of the effect changes at the end
    turns = ladder(lambda n: 2.0 if n < 1e6 else 3.0, lambda n: 2.5, scatter=0.01)
    stays = ladder(lambda n: 2.0, lambda n: 2.5, texts=("a", "b"), scatter=0.01)
    scores = {each.predictor: each for each in score([turns, stays])}
    assert {(each.ladders, each.sign) for each in scores.values()} == {(3, 2)}
    assert scores[LARGEST].covered == scores[POWER].covered == 2
    assert scores[LARGEST].by_coin == 4 / 8


def line(name, by="difference", **numbers):
    """numbers: low, effect and high at each scale; None where it could not test the claim."""
    sets = []
    for scale, each in numbers.items():
        if each is None:
            sets.append(evidence_at(scale, 1.0, p=None))
        else:
            low, effect, high = each
            sets.append(evidence_at(scale, effect, low=low, high=high))
    return in_ledger(*sets, name=name, by=by)


def test_a_smaller_scale_predicts_the_sign_and_the_interval():
    lines = [
        line("both", laptop=(0.1, 0.2, 0.3), overnight=(0.2, 0.25, 0.3)),
        line("sign alone", laptop=(0.1, 0.2, 0.3), overnight=(0.3, 0.4, 0.5)),
        line("turned, within", laptop=(-0.2, 0.1, 0.4), overnight=(-0.2, -0.1, 0.0)),
        line("a ratio", by="ratio", laptop=(0.5, 0.6, 0.7), overnight=(1.1, 1.2, 1.3)),
        line("one scale alone", laptop=(0.1, 0.2, 0.3), overnight=None),
    ]
    expected = Calls("laptop", "overnight", 4, 2, 2, ["turned, within", "a ratio"])
    assert back_test(lines) == [expected]


def test_scales_are_compared_from_the_smaller_to_the_larger():
    numbers = (0.1, 0.2, 0.3)
    calls = back_test([line("a", paper=numbers, laptop=numbers, small=numbers)])
    pairs = [("laptop", "small"), ("laptop", "paper"), ("small", "paper")]
    assert [(each.smaller, each.larger) for each in calls] == pairs
