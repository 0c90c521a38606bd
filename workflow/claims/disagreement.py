"""Find the sets of results that disagree with the one shown for a claim, and what differs there.

A sentence that gives the number of one scale names every other scale whose interval excludes it.
"""

from dataclasses import dataclass

from workflow.claims.evidence import LedgerLine, SetEvidence
from workflow.claims.measures import COUNTED
from workflow.results.numbers import join


@dataclass(frozen=True)
class Differences:
    """What differs between two sets.

    place: S, k or the shape of a layer, empty if the same. settings: width, updates, device and
    `corpora` with their value there.
    """

    place: str
    settings: dict[str, str]


def disagreeing(line: LedgerLine) -> list[SetEvidence]:
    """List the evidence of each set whose interval excludes the effect that is shown."""
    effect = line.shown.effect
    if effect is None:
        return []
    noises = [COUNTED.get(name, 0.0) for name in line.measure]
    noise = max(noises, default=0.0)
    found = []
    for each in line.sets:
        if each.set == line.speaks or _hardly_moved(each):
            continue
        ends = _interval(each, noise)
        if ends is None:
            continue
        low, high = ends
        if not low <= effect <= high:
            found.append(each)
    return found


def opposes(theirs: SetEvidence, line: LedgerLine) -> bool:
    """Check whether a set has the opposite effect to the one shown, or another verdict.

    Reproduced and consistent are alike: in both the effect is as claimed. Models that have not
    converged are judged by the direction alone.
    """
    ours = line.shown
    their_direction = _direction(theirs.effect, line.null)
    if their_direction != _direction(ours.effect, line.null):
        return True
    verdicts = {_alike(theirs.verdict), _alike(ours.verdict)}
    return len(verdicts - {"not converged"}) > 1


def _direction(effect: float, null: float) -> int:
    return (effect > null) - (effect < null)


def _alike(verdict: str) -> str:
    return "reproduced" if verdict == "consistent" else verdict


def _hardly_moved(evidence: SetEvidence) -> bool:
    """Whether the learned spans of a set barely moved: its effect says nothing about spans."""
    return evidence.verdict == "not converged" and evidence.p is None


def _interval(evidence: SetEvidence, noise: float) -> tuple[float, float] | None:
    """Return the interval of an effect; without variance or measured once, the range over corpora.

    noise: the relative difference between two measurements of the same model. None with too few
    seeds.
    """
    if evidence.low is not None:
        return evidence.low, evidence.high
    effects_on: dict[str, list[float]] = {}
    for pair in evidence.pairs:
        effects_on.setdefault(pair.text, []).append(pair.effect)
    if not effects_on:
        return None
    for effects in effects_on.values():
        most = max(effects)
        if most - min(effects) > 1e-9 * abs(most):
            return None
    every = [pair.effect for pair in evidence.pairs]
    low = min(every)
    high = max(every)
    below = noise * abs(low)
    above = noise * abs(high)
    return low - below, high + above


def what_differs(theirs: SetEvidence, ours: SetEvidence) -> Differences:
    """Compare the settings of another set with those of the one shown."""
    own = ours.setting or {}
    settings = {}
    for name, value in (theirs.setting or {}).items():
        if value != own.get(name):
            settings[name] = value
    if theirs.texts and theirs.texts != ours.texts:
        settings["corpora"] = join(theirs.texts)
    place = ""
    if theirs.at and theirs.at != ours.at:
        place = theirs.at.removeprefix("at ")
    return Differences(place, settings)
