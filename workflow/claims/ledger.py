"""Judge the evidence for all claims together, and compare it with other sets of results."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from pathlib import Path

import pandas as pd

from workflow.claims.collect import collect_evidence
from workflow.claims.evidence import (
    Evidence,
    Ledger,
    LedgerLine,
    Line,
    OtherSet,
    SetEvidence,
    SetOrigin,
    read_evidence,
    write_ledger_files,
)
from workflow.claims.schema import Claim
from workflow.claims.verdict import TELLING, VERDICTS, judge
from workflow.results.runs_table import Frames
from workflow.results.statistics import holm
from workflow.results.trained_enough import converged
from workflow.settings.scales import strength


def write_ledger(
    out: Path,
    own: tuple[str, str],
    evidence: list[Path],
    layers: pd.DataFrame | None,
    claims: Mapping[str, Claim],
) -> None:
    """Judge every claim. Claims without runs say so; layers and formulas need no evidence.

    out: the JSON file. own: name and scale of these results. evidence: files of questions and of
    other sets. claims: all claims, by name.
    """
    given = read_evidence(evidence)
    lines = given.lines
    without_runs = Frames(None, layers)
    for name, claim in claims.items():
        if name not in lines:
            lines[name] = collect_evidence(name, claim, without_runs)
    set_name, scale = own
    judged = judge_all(lines.values(), claims)
    compared = compare_sets(judged, set_name, scale, given.others)
    others = []
    for other in given.others:
        others.append(SetOrigin(other.set, other.scale, other.provenance))
    ledger = Ledger(set_name, tuple(others), tuple(compared))
    write_ledger_files(out, ledger, given.origins)


def judge_all(lines: Iterable[Line], claims: Mapping[str, Claim]) -> list[Line]:
    """Judge all claims together, sorted by name: p is corrected for the number of claims tested.

    Claims with tuned variants are judged a second time, with the tuned evidence in place of that on
    one recipe.
    """
    ordered = sorted(lines, key=lambda line: line.name)
    judged = _judge_family(ordered, claims)
    tuned = _judge_family([line.tuned or line for line in ordered], claims)
    found = []
    for line, again in zip(judged, tuned, strict=True):
        found.append(replace(line, tuned=again) if line.tuned else line)
    return found


def _judge_family(lines: list[Line], claims: Mapping[str, Claim]) -> list[Line]:
    """Judge claims with one correction for all of them."""
    p_values = [line.p for line in lines if line.p is not None]
    corrected = iter(holm(p_values))
    judged = []
    for line in lines:
        if line.p is not None:
            line = replace(line, holm=next(corrected))
        if line.verdict is None:
            line = line.judged(judge(line, claims[line.name]))
        judged.append(line)
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


def count_verdicts(lines: Iterable[LedgerLine]) -> list[tuple[str, int]]:
    """Count each verdict that occurs, from reproduced to not tested."""
    counts = Counter(line.overall for line in lines)
    return [(verdict, counts[verdict]) for verdict in VERDICTS if counts[verdict]]


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
