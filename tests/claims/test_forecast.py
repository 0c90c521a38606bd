"""Forecasts from sizes whose effects follow a known rule, and how often a prediction was right."""

from itertools import product

import numpy as np
import pytest

from tests._claims import evidence_at, in_ledger
from workflow.claims.evidence import Parameters, Rung, Scores
from workflow.claims.forecast import PREDICTORS, Calls, back_test, forecast, score
from workflow.results.statistics import mean_interval

LARGEST, LINE, POWER = PREDICTORS
SIZES = np.array([1e3, 1e4, 1e5, 1e6])
AT = (1e8, 1e8)
EMPTY = {
    "effect": None,
    "low": None,
    "high": None,
    "n": None,
    "p": None,
    "ours": None,
    "than": None,
    "verdict": None,
    "why": None,
    "of": None,
    "digests": (),
    "signed": {},
    "texts": (),
    "late_gain": None,
}
TWO = [2.0] * 4
MORE = [2.5] * 4


def ladder(ours, than, texts=("a",), scatter=0.0, most=None) -> list[Rung]:
    """Rungs with a score for each size; three seeds are `scatter` apart around them."""
    rungs = []
    offsets = (-scatter, 0.0, scatter)
    for n, our_score, than_score in zip(SIZES, ours, than, strict=True):
        pairs = []
        for text, (turn, off) in product(texts, enumerate(offsets)):
            pair = Scores(
                text=text,
                turn=turn,
                ours=our_score + off,
                than=than_score - off,
            )
            pairs.append(pair)
        rung = Rung(
            size=n,
            parameters=Parameters(n, n),
            most=most,
            pairs=tuple(pairs),
            **EMPTY,
        )
        rungs.append(rung)
    return rungs


def test_each_predictor_finds_its_own_rule():
    falling = 4 * SIZES**-0.1
    law = forecast(ladder(falling, 2 * falling), AT)
    at_largest = -falling[-1]
    assert law[LARGEST].effect == pytest.approx(at_largest)
    at_power = -4 * 1e8**-0.1
    assert law[POWER].effect == pytest.approx(at_power)
    # from 10^3 to 10^6, at 10^8
    logarithms = np.log10(SIZES)
    rising = 2.0 + 1e-9 * logarithms
    straight = forecast(ladder(TWO, rising), AT)
    assert straight[LINE].effect == pytest.approx(-8e-9)
    # with an upper bound the distance from it follows the power law
    rungs = ladder(100 - 2 * falling, 100 - falling, most=100.0)
    bounded = forecast(rungs, AT)
    assert bounded[POWER].effect == pytest.approx(at_power)


def test_one_size_tells_nothing():
    rungs = ladder(TWO, MORE)
    assert forecast(rungs[:1], AT) == {}
    for each in score([rungs[:2]]):
        assert each.ladders == 0


def test_corpora_count_equally_and_seeds_that_differ_give_an_interval():
    rungs = ladder(TWO, MORE, texts=("a", "b"), scatter=0.1)
    found = forecast(rungs, AT)[LARGEST]
    effects = [-0.7, -0.5, -0.3]
    corpora = ["a", "a", "a", "b", "b", "b"]
    _, low, high = mean_interval(effects * 2, corpora)
    assert found.effect == pytest.approx(-0.5)
    assert found.low == pytest.approx(low, abs=0.03)
    assert found.high == pytest.approx(high, abs=0.03)


def test_a_back_test_predicts_the_largest_size_from_the_others():
    # the sign of the effect changes at the end
    turns = ladder([2.0, 2.0, 2.0, 3.0], MORE, scatter=0.01)
    stays = ladder(TWO, MORE, texts=("a", "b"), scatter=0.01)
    scores = {}
    for each in score([turns, stays]):
        assert (each.ladders, each.sign) == (3, 2)
        scores[each.predictor] = each
    largest = scores[LARGEST]
    assert largest.covered == 2
    assert largest.by_coin == 4 / 8
    assert scores.keys() == {*PREDICTORS}


def line(name: str, overnight: tuple | None, laptop=(0.1, 0.2, 0.3), by="difference"):
    """Make a claim's line: low, effect and high at each scale; None: the claim is untested."""
    sets = []
    for scale, numbers in (("laptop", laptop), ("overnight", overnight)):
        if numbers is None:
            untested = evidence_at(scale, 1.0, p=None)
            sets.append(untested)
            continue
        low, effect, high = numbers
        tested = evidence_at(scale, effect, low=low, high=high)
        sets.append(tested)
    return in_ledger(*sets, name=name, by=by)


def test_a_smaller_scale_predicts_the_sign_and_the_interval():
    turned = line("turned, within", laptop=(-0.2, 0.1, 0.4), overnight=(-0.2, -0.1, 0.0))
    ratio = line("a ratio", by="ratio", laptop=(0.5, 0.6, 0.7), overnight=(1.1, 1.2, 1.3))
    lines = [
        line("both", overnight=(0.2, 0.25, 0.3)),
        line("sign alone", overnight=(0.3, 0.4, 0.5)),
        turned,
        ratio,
        line("one scale alone", overnight=None),
    ]
    expected = Calls(
        "laptop",
        "overnight",
        4,
        2,
        2,
        ["turned, within", "a ratio"],
    )
    assert back_test(lines) == [expected]
