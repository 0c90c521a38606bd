"""What a paper prints of a claim: the numbers that formulas give, and the effect beside which ours is shown."""

from workflow.report.claims.schema import Claim
from workflow.report.published import find


def recompute(claim: Claim) -> dict:
    """Check whether formulas reproduce the printed numbers to the printed digits."""
    results = [(value, value.recomputed.result) for value in map(find, claim.recomputed)]
    wrong = [f"{value.row}: {ours:.4g}, printed {value.text}" for value, ours in results if not value.is_rounded(ours)]
    line = {"published": claim.recomputed}
    if len(results) == 1:
        line |= {"effect": results[0][1], "unit": results[0][0].unit}
    if wrong:
        return line | {"verdict": "not reproduced", "why": f"{len(wrong)} of {len(results)}: {'; '.join(wrong)}"}
    return line | {"verdict": "reproduced", "why": "by formula, to the printed digits"}


def read_finding(claim: Claim) -> dict | None:
    """Read the effect that the paper prints, if it does, and the two sentences; None if the claim has none."""
    if claim.finding is None:
        return None
    ids = (claim.finding.ours, claim.finding.than)
    values = [find(key).value for key in ids if key]
    printed = values[0] if values else None
    if len(values) == 2:
        ratio = values[0] / values[1] if values[1] else None
        printed = ratio if claim.by == "ratio" else values[0] - values[1]
    return {"printed": printed, "seen": claim.finding.seen, "failed": claim.finding.failed}
