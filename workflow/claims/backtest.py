"""Count how often a smaller scale predicted a larger one, over the claims that both tested."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import permutations

from workflow.claims.evidence import LedgerLine
from workflow.plan.scales import strength


@dataclass(frozen=True)
class Calls:
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


def back_test(lines: Iterable[LedgerLine]) -> list[Calls]:
    """Compare each set of results with every set of a larger scale."""
    scales = {}
    for line in lines:
        for each in line.sets:
            scales[each.set] = each.scale
    rising = []
    for smaller, larger in permutations(scales, 2):
        if strength(scales[smaller]) < strength(scales[larger]):
            rising.append((smaller, larger))
    rising.sort(key=lambda pair: [strength(scales[name]) for name in pair])
    found = []
    for smaller, larger in rising:
        calls = _compare(lines, smaller, larger)
        if calls.claims:
            found.append(calls)
    return found


def _compare(lines: Iterable[LedgerLine], smaller: str, larger: str) -> Calls:
    turned = []
    claims = 0
    covered = 0
    for line in lines:
        tested = {each.set: each for each in line.sets if each.p is not None}
        if not {smaller, larger} <= tested.keys():
            continue
        claims += 1
        ours = tested[smaller]
        effect = tested[larger].effect
        if (ours.effect > line.null) != (effect > line.null):
            turned.append(line.name)
        covered += ours.low <= effect <= ours.high
    return Calls(smaller, larger, claims, claims - len(turned), covered, turned)
