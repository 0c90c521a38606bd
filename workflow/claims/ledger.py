"""Judge the evidence for all claims together, and compare it with other sets of results."""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

from workflow.claims.collect import collect_evidence
from workflow.claims.evidence import Evidence, LedgerLine, Line, SetEvidence
from workflow.claims.robustness import collect_sizes, collect_tuned
from workflow.claims.schema import load_claim
from workflow.claims.verdict import TELLING, judge
from workflow.plan.scales import strength
from workflow.results.runs_table import Frames
from workflow.results.statistics import holm
from workflow.results.trained_enough import converged


@dataclass(frozen=True)
class OtherSet:
    """Another set of results and its evidence. provenance: a line on what was measured."""

    set: str
    scale: str
    provenance: str
    claims: tuple[Line, ...]


@dataclass(frozen=True)
class SetOrigin:
    """Where the evidence of another set comes from."""

    set: str
    scale: str
    provenance: str


@dataclass(frozen=True)
class Ledger:
    """All claims with their verdicts.

    set: the name of these results. others: the sets that they are compared with. claims: those
    whose question was run here or elsewhere.
    """

    set: str
    others: tuple[SetOrigin, ...]
    claims: tuple[LedgerLine, ...]

    @property
    def measured(self) -> list[LedgerLine]:
        """The claims that need measurements, not formulas alone."""
        return [line for line in self.claims if line.question is not None]

    @property
    def by_formula(self) -> list[LedgerLine]:
        return [line for line in self.claims if line.question is None]

    def elsewhere(self, scale: str) -> str:
        """Write which scale gave a verdict, if it is another one; `frame.js` reads it."""
        return "" if scale == self.set else f" at scale {scale}"


def collect(names: Iterable[str], frames: Frames) -> list[Line]:
    """Collect the evidence for claims, with tuned variants and other sizes."""
    lines = []
    for name in names:
        claim = load_claim(name)
        line = collect_evidence(name, claim, frames)
        tuned = collect_tuned(name, claim, frames)
        sizes = collect_sizes(name, claim, frames)
        lines.append(replace(line, tuned=tuned, sizes=sizes))
    return lines


def judge_all(lines: Iterable[Line]) -> list[Line]:
    """Judge all claims together, sorted by name: p is corrected for the number of claims tested.

    Claims with tuned variants are judged a second time, with the tuned evidence in place of that on
    one recipe.
    """
    judged = _judge_family(lines)
    tuned = _judge_family([line.tuned or line for line in lines])
    found = []
    for name in sorted(judged):
        line = judged[name]
        found.append(replace(line, tuned=tuned[name]) if line.tuned else line)
    return found


def _judge_family(lines: Iterable[Line]) -> dict[str, Line]:
    """Judge claims with one correction for all of them; by name."""
    p_values = [line.p for line in lines if line.p is not None]
    corrected = iter(holm(p_values))
    judged = {}
    for line in lines:
        if line.p is not None:
            line = replace(line, holm=next(corrected))
        if line.verdict is None:
            line = line.judged(judge(line, load_claim(line.name)))
        judged[line.name] = line
    return judged


def compare_sets(
    lines: Iterable[Line], set_name: str, scale: str, others: Iterable[OtherSet]
) -> list[LedgerLine]:
    """Add to each claim the evidence of all sets, and choose the set whose verdict is shown.

    set_name, scale: of the results that `lines` are about. Nothing is averaged across sets.
    """
    theirs = []
    for other in others:
        by_name = {line.name: line for line in other.claims}
        theirs.append((other, by_name))
    compared = []
    for line in lines:
        own = _of_set(set_name, scale, line)
        sets = [own]
        for other, claims in theirs:
            same = claims.get(line.name)
            if same is None or same.question is None:
                continue
            if _has_effect(same):
                sets.append(_of_set(other.set, other.scale, same))
        sets.sort(key=lambda each: -strength(each.scale))  # stable: of equals, own first
        best = _best(own, sets)
        content = vars(line) | {"sets": tuple(sets), "overall": best.verdict, "speaks": best.set}
        compared.append(LedgerLine(**content))
    return compared


def _of_set(name: str, scale: str, line: Line) -> SetEvidence:
    """Take the evidence of a line, without what its claim says."""
    evidence = {each.name: getattr(line, each.name) for each in fields(Evidence)}
    return SetEvidence(set=name, scale=scale, otherwise_on=_otherwise_on(line), **evidence)


def _has_effect(line: Line) -> bool:
    """Whether a set has an effect, of the claim itself or at some model size."""
    if line.effect is not None:
        return True
    return any(rung.effect is not None for rung in line.sizes or ())


def _best(own: SetEvidence, sets: list[SetEvidence]) -> SetEvidence:
    """Choose the evidence to show: verdicts that tell first, then any test, then these results."""
    telling = [each for each in sets if each.verdict in TELLING]
    if telling:
        return min(telling, key=order)
    for each in (own, *sets):
        if each.verdict != "not tested":
            return each
    return own


def order(evidence: SetEvidence) -> tuple[float, float]:
    """Sort evidence, best first: closest to convergence, then the strongest scale."""
    late = 0.0 if converged(evidence.late_gain) else evidence.late_gain
    return late, -strength(evidence.scale)


def _otherwise_on(line: Line) -> tuple[str, ...]:
    """List the corpora whose own mean contradicts the overall verdict."""
    if line.verdict not in TELLING or not line.by_text:
        return ()
    low, high = line.claimed
    contradicting = []
    for text, effect in line.by_text.items():
        above = low is None or effect >= low
        below = high is None or effect <= high
        is_as_claimed = above and below
        if is_as_claimed == (line.verdict == "not reproduced"):
            contradicting.append(text)
    return tuple(contradicting)
