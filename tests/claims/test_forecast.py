"""Forecasts from sizes whose effects follow a known rule, and how often a prediction was right."""

import numpy as np
import pytest

from tests._claims import evidence_at, in_ledger
from workflow.claims.evidence import Parameters, Rung, Scores
from workflow.claims.forecast import PREDICTORS, Calls, back_test, forecast, score
from workflow.results.statistics import mean_interval

LARGEST, LINE, POWER = PREDICTORS
SIZES = np.array([1e3, 1e4, 1e5, 1e6])
AT = (1e8, 1e8)
EMPTY = dict.fromkeys(("effect", "low", "high", "n", "p", "ours", "than", "verdict", "why", "of"))
EMPTY |= {"digests": (), "signed": {}, "texts": (), "late_gain": None}
TWO = [2.0] * 4
MORE = [2.5] * 4


def ladder(ours, than, texts=("a",), scatter=0.0, most=None) -> list[Rung]:
    """Rungs with a score for each size; three seeds are `scatter` apart around them."""
    rungs = []
    for n, our_score, than_score in zip(SIZES, ours, than, strict=True):
        pairs = []
        for text in texts:
            for turn, off in enumerate((-scatter, 0.0, scatter)):
                scores = {"ours": our_score + off, "than": than_score - off}
                pairs.append(Scores(text=text, turn=turn, **scores))
        about = {"size": n, "parameters": Parameters(n, n), "most": most, "pairs": tuple(pairs)}
        rungs.append(Rung(**EMPTY | about))
    return rungs


def test_each_predictor_finds_its_own_rule():
    falling = 4 * SIZES**-0.1
    law = forecast(ladder(falling, 2 * falling), AT)
    assert law[LARGEST].effect == pytest.approx(-falling[-1])
    assert law[POWER].effect == pytest.approx(-4 * 1e8**-0.1)
    # from 10^3 to 10^6, at 10^8
    straight = forecast(ladder(TWO, 2.0 + 1e-9 * np.log10(SIZES)), AT)
    assert straight[LINE].effect == pytest.approx(-8e-9)
    # with an upper bound the distance from it follows the power law
    rungs = ladder(100 - 2 * falling, 100 - falling, most=100.0)
    bounded = forecast(rungs, AT)
    assert bounded[POWER].effect == pytest.approx(-4 * 1e8**-0.1)


def test_one_size_tells_nothing():
    assert forecast(ladder(TWO, MORE)[:1], AT) == {}
    assert {each.ladders for each in score([ladder(TWO, MORE)[:2]])} == {0}


def test_corpora_count_equally_and_seeds_that_differ_give_an_interval():
    rungs = ladder(TWO, MORE, texts=("a", "b"), scatter=0.1)
    found = forecast(rungs, AT)[LARGEST]
    effects = [-0.7, -0.5, -0.3]
    _, low, high = mean_interval(effects * 2, [*"aaabbb"])
    assert found.effect == pytest.approx(-0.5)
    assert found.low == pytest.approx(low, abs=0.03)
    assert found.high == pytest.approx(high, abs=0.03)


def test_a_back_test_predicts_the_largest_size_from_the_others():
    # the sign of the effect changes at the end
    turns = ladder([2.0, 2.0, 2.0, 3.0], MORE, scatter=0.01)
    stays = ladder(TWO, MORE, texts=("a", "b"), scatter=0.01)
    scores = {each.predictor: each for each in score([turns, stays])}
    assert {(each.ladders, each.sign) for each in scores.values()} == {(3, 2)}
    assert scores[LARGEST].covered == 2
    assert scores[LARGEST].by_coin == 4 / 8


def line(name, by="difference", **numbers):
    """numbers: low, effect and high at each scale; None where it could not test the claim."""
    sets = []
    for scale, each in numbers.items():
        if each is None:
            sets.append(evidence_at(scale, 1.0, p=None))
            continue
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
