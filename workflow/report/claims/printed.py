"""Compare a claim with the published numbers: recompute them by formula, and read the published effect."""

from workflow.report.claims.schema import Claim
from workflow.report.numbers import number, to_place
from workflow.report.published import find


def recompute(claim: Claim) -> dict:
    """Check whether formulas reproduce the published numbers to the published digits."""
    results = [(value, value.recomputed.result) for value in map(find, claim.recomputed)]
    wrong = [f"{each.row}: {ours:.4g}, published {each.text}" for each, ours in results if not each.is_rounded(ours)]
    line = {"published": claim.recomputed}
    if len(results) == 1:
        line |= {"effect": results[0][1], "unit": results[0][0].unit}
    if wrong:
        return line | {"verdict": "not reproduced", "why": f"{len(wrong)} of {len(results)} differ: {'; '.join(wrong)}"}
    return line | {"verdict": "reproduced", "why": "by formula, to the published digits"}


def read_finding(claim: Claim) -> dict | None:
    """Read the published effect, if there is one, and the two sentences of the finding; None without a finding.

    text: the effect in the published digits; a difference has the digits that both sides have.
    """
    if claim.finding is None:
        return None
    sides = [find(key) for key in (claim.finding.ours, claim.finding.than) if key]
    printed, text = None, ""
    if len(sides) == 1:
        printed, text = sides[0].value, sides[0].text
    elif claim.by == "ratio" and sides:
        printed = sides[0].value / sides[1].value if sides[1].value else None
        text = number(printed)
    elif sides:
        printed = sides[0].value - sides[1].value
        text = to_place(printed, max(side.value.printed.place for side in sides))
    return {"printed": printed, "text": text, "seen": claim.finding.seen, "failed": claim.finding.failed}
