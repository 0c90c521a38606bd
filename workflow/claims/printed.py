"""Compare a claim with the published numbers: recompute them by formula, and read the published
effect.
"""

from statistics import fmean

from workflow.claims.published import Published, find
from workflow.claims.schema import Claim
from workflow.results.numbers import number, to_place


def recompute(claim: Claim) -> dict:
    """Check whether formulas reproduce the published numbers to the published digits."""
    results = [(value, value.recomputed.result) for value in map(find, claim.recomputed)]
    wrong = [
        f"{each.row}: {ours:.4g}, published {each.text}"
        for each, ours in results
        if not each.is_rounded(ours)
    ]
    line = {"published": claim.recomputed}
    if len(results) == 1:
        line |= {"effect": results[0][1], "unit": results[0][0].unit}
    if wrong:
        return line | {
            "verdict": "not reproduced",
            "why": f"{len(wrong)} of {len(results)} differ: {'; '.join(wrong)}",
        }
    return line | {"verdict": "reproduced", "why": "by formula, to the published digits"}


def read_finding(claim: Claim) -> dict | None:
    """Read the published effect, if there is one, and the two sentences of the finding; None
    without a finding.

    text: the effect in the published digits; a difference or a mean has the digits that all its
    numbers have.
    """
    if claim.finding is None:
        return None
    sides = [_read_side(side) for side in (claim.finding.ours, claim.finding.than) if side]
    means = [fmean(each.value for each in side) for side in sides]
    printed, text = None, ""
    if len(sides) == 1:
        printed = means[0]
        text = sides[0][0].text if len(sides[0]) == 1 else to_place(printed, _place(sides))
    elif claim.by == "ratio" and sides:
        printed = means[0] / means[1] if means[1] else None
        text = number(printed)
    elif sides:
        printed = means[0] - means[1]
        text = to_place(printed, _place(sides))
    return {
        "printed": printed,
        "text": text,
        "seen": claim.finding.seen,
        "failed": claim.finding.failed,
    }


def _read_side(ids: str | list[str]) -> list[Published]:
    """Find the published numbers of one side, of which the mean counts."""
    return [find(key) for key in ([ids] if isinstance(ids, str) else ids)]


def _place(sides: list[list[Published]]) -> float:
    """Return the decimal place that all numbers are printed to."""
    return max(each.value.printed.place for side in sides for each in side)
