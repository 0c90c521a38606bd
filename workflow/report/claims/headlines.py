"""The headline claims of a paper: their printed effect."""

from workflow.papers.published import find
from workflow.report.claims.schema import Claim


def read_headline(claim: Claim) -> dict | None:
    """printed, the paper's effect where it prints one, and the sentences; None if the claim is not a headline."""
    if claim.headline is None:
        return None
    ids = (claim.headline.ours, claim.headline.than)
    values = [find(key).value for key in ids if key]
    printed = values[0] if values else None
    if len(values) == 2:
        printed = values[0] / values[1] if claim.by == "ratio" else values[0] - values[1]
    return {"printed": printed, "seen": claim.headline.seen, "failed": claim.headline.failed}
