"""How often a card says that something differs where nothing does, on the shipped records.

Three seeds of the baseline are drawn against its others, as if they were a variant's.
"""

from dataclasses import replace
from functools import cache
from statistics import fmean

import numpy as np

from workflow.cards.collect import collect
from workflow.cards.compare import LEVEL, Compared, compare, judge, scatter_of
from workflow.plan.plan import plan
from workflow.results.store import shipped_store
from workflow.settings.battery import load_battery
from workflow.settings.config import load_setup

DRAWN = 3  # seeds of a card
FEWEST = 6  # seeds of a variant that is its own baseline
AT_MOST = 0.065  # LEVEL, with what 1,000 draws scatter by
PARTS = 9  # of a card
VARIANT = "sigmoid"  # any: its records are here those of a known variant like others


@cache
def shipped() -> dict[str, Compared]:
    """Read the scores of each part once; ours: none."""
    setup = load_setup({"variant": VARIANT})
    battery = load_battery()
    runs = collect(battery, VARIANT, plan(setup, {}, {}), shipped_store())
    parts = {}
    for name, each in runs.items():
        scores = {"ours": [*each.scores(each.ours).values()]}
        for choice, known in each.known.items():
            scores[choice] = [*each.scores(known).values()]
        baseline = [*each.scores(each.baseline).values()]
        parts[name] = Compared([], baseline, scores, each.part.margin)
    return {name: part for name, part in parts.items() if len(part.baseline) >= FEWEST}


def as_own_baseline(part: Compared, choice: str) -> Compared:
    """Compare a known variant with itself; the baseline becomes a known one."""
    known = dict(part.known)
    seeds = known.pop(choice)
    return replace(part, baseline=seeds, known=known | {"baseline": part.baseline})


def draw(part: Compared, rng: np.random.Generator) -> Compared:
    """Draw three seeds of the baseline as those of a variant."""
    seeds = rng.permutation(part.baseline).tolist()
    return replace(part, ours=seeds[:DRAWN], baseline=seeds[DRAWN:])


def has_an_alarm(parts: dict[str, Compared]) -> bool:
    compared = {name: compare(part, len(parts)) for name, part in parts.items()}
    better = dict.fromkeys(parts, "lower")
    # not the verdict, which is "no difference" of a significant one within the margin
    return any(each.holm <= LEVEL for each in judge(compared, better).values())


def test_three_seeds_of_the_baseline_differ_from_the_others_in_few_cards():
    rng = np.random.default_rng(67)
    parts = shipped()
    assert len(parts) >= 3
    alarms = 0
    for _ in range(1000):
        alarms += has_an_alarm({name: draw(part, rng) for name, part in parts.items()})
    print(f"{alarms / 10:.1f} % of 1,000 cards of {len(parts)} parts")
    assert alarms <= 1000 * AT_MOST


def test_nor_do_three_seeds_of_any_known_variant():
    rng = np.random.default_rng(67)
    draws = 150
    rates = {}
    for name, part in shipped().items():
        for choice, seeds in part.known.items():
            if len(seeds) < FEWEST:
                continue
            own = as_own_baseline(part, choice)
            alarms = sum(has_an_alarm({name: draw(own, rng)}) for _ in range(draws))
            rates[name, choice] = alarms / draws
    print(f"{len(rates)} variants: mean {fmean(rates.values()):.3f}, max {max(rates.values()):.3f}")
    assert fmean(rates.values()) <= LEVEL
    # of 150 draws, 17 or more come with a chance of 1 in 1,000 where the rate is 0.05
    assert max(rates.values()) <= 16 / draws


def test_nor_does_a_variant_that_equals_the_baseline_but_scatters_like_a_known_one():
    """The seeds of a known variant are drawn from a normal distribution with its own deviation."""
    rng = np.random.default_rng(67)
    parts = shipped()
    names = [name for name, part in parts.items() if several_seeds(part)]
    cards = 300
    alarms = 0
    for _ in range(cards):
        card = {}
        for place in range(PARTS):
            card[str(place)] = scattered(parts[names[place % len(names)]], rng)
        alarms += has_an_alarm(card)
    print(f"{100 * alarms / cards:.1f} % of {cards} cards of {PARTS} parts")
    # LEVEL and three standard errors
    assert alarms / cards <= LEVEL + 3 * (LEVEL * (1 - LEVEL) / cards) ** 0.5


def several_seeds(part: Compared) -> list[str]:
    """List the known variants whose seeds have a deviation worth drawing."""
    return [choice for choice, seeds in part.known.items() if len(seeds) >= DRAWN]


def scattered(part: Compared, rng: np.random.Generator) -> Compared:
    """Draw a known variant's deviation, and seeds with the baseline's mean."""
    known = dict(part.known)
    deviation = scatter_of(known.pop(str(rng.choice(several_seeds(part))))).deviation
    mean = fmean(part.baseline)
    ours = rng.normal(mean, deviation, DRAWN)
    baseline = rng.normal(mean, scatter_of(part.baseline).deviation, len(part.baseline))
    return replace(part, ours=ours.tolist(), baseline=baseline.tolist(), known=known)


def test_a_difference_of_four_deviations_is_found():
    rng = np.random.default_rng(67)
    part = shipped()["enwik8"]
    shift = 4 * scatter_of(part.baseline).deviation
    found = 0
    for _ in range(100):
        drawn = draw(part, rng)
        moved = replace(drawn, ours=[score + shift for score in drawn.ours])
        found += has_an_alarm({"enwik8": moved})
    assert found >= 95
