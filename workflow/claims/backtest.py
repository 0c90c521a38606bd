"""Count how often a smaller scale predicted a larger one, over the claims that both tested."""

from itertools import permutations
from typing import NamedTuple

from workflow.plan.scales import strength


class Calls(NamedTuple):
    """How the results of a smaller scale predict those of a larger one.

    claims: number that both tested. same_way: number with the same sign. covered: number of effects
    of the larger scale within the 95 % interval of the smaller one. turned: names of the claims
    whose sign differs.
    """

    smaller: str
    larger: str
    claims: int
    same_way: int
    covered: int
    turned: list[str]


def back_test(lines: list[dict]) -> list[Calls]:
    """Compare each set of results with every set of a larger scale. lines: of the ledger, each with
    its `sets`.
    """
    scales = {each["set"]: each["scale"] for line in lines for each in line["sets"]}
    rising = [
        pair
        for pair in permutations(scales, 2)
        if strength(scales[pair[0]]) < strength(scales[pair[1]])
    ]
    rising.sort(key=lambda pair: [strength(scales[name]) for name in pair])
    return [calls for calls in (_compare(lines, *pair) for pair in rising) if calls.claims]


def _compare(lines: list[dict], smaller: str, larger: str) -> Calls:
    both = []
    for line in lines:
        told = {each["set"]: each for each in line["sets"] if each["p"] is not None}
        if smaller in told and larger in told:
            neutral = float(line["by"] == "ratio")
            both.append((line["name"], told[smaller], told[larger]["effect"], neutral))
    turned = [
        name
        for name, ours, effect, neutral in both
        if (ours["effect"] > neutral) != (effect > neutral)
    ]
    covered = sum(ours["low"] <= effect <= ours["high"] for _, ours, effect, _ in both)
    return Calls(smaller, larger, len(both), len(both) - len(turned), covered, turned)
