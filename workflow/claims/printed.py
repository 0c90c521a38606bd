"""Read what the papers print for a claim: the effect, and numbers that a formula recomputes."""

from dataclasses import replace
from statistics import fmean

from workflow.claims.evidence import Line, PrintedFinding, Verdict
from workflow.claims.published import Published, find
from workflow.claims.schema import Claim, Finding
from workflow.results.numbers import number, to_place


def recompute(claim: Claim, line: Line) -> Line:
    """Check whether formulas reproduce the published numbers to the published digits."""
    values = [find(key) for key in claim.recomputed]
    line = replace(line, published=tuple(claim.recomputed))
    if len(values) == 1:
        (value,) = values
        line = replace(line, effect=value.recomputed.result, unit=value.unit)
    wrong = []
    for value in values:
        result = value.recomputed.result
        if value.is_rounded(result):
            continue
        wrong.append(f"{value.row}: {result:.4g}, published {value.text}")
    if wrong:
        differences = "; ".join(wrong)
        why = f"{len(wrong)} of {len(values)} differ: {differences}"
        return line.judged(Verdict("not reproduced", why))
    return line.judged(Verdict("reproduced", "by formula, to the published digits"))


def read_finding(claim: Claim) -> PrintedFinding | None:
    """Read the published effect, if there is one, and the sentences; None without a finding."""
    finding = claim.finding
    if finding is None:
        return None
    printed, text = _printed_effect(claim.by, finding)
    return PrintedFinding(printed, text, finding.seen, finding.failed)


def _printed_effect(by: str, finding: Finding) -> tuple[float | None, str]:
    """Compute the published effect and write it, with the published digits if it has any."""
    if finding.ours is None:
        return None, ""
    ours = _read_side(finding.ours)
    mean = fmean(value.value for value in ours)
    if finding.than is None:
        if len(ours) == 1:
            return mean, ours[0].text
        return mean, to_place(mean, _place(ours))
    than = _read_side(finding.than)
    base = fmean(value.value for value in than)
    if by == "ratio":
        ratio = mean / base if base else None
        return ratio, number(ratio)
    difference = mean - base
    place = _place(ours + than)
    return difference, to_place(difference, place)


def _read_side(ids: str | list[str]) -> list[Published]:
    """Find the published numbers of one side, of which the mean counts."""
    if isinstance(ids, str):
        return [find(ids)]
    return [find(key) for key in ids]


def _place(values: list[Published]) -> float:
    """Return the decimal place that all numbers are printed to."""
    places = [each.value.printed.place for each in values]
    return max(places)
