"""Collect evidence in addition to a verdict on one recipe: with each variant tuned, and at other
model sizes.
"""

import math
from dataclasses import replace

from workflow.claims.evidence import collect_evidence
from workflow.claims.measures import LAYERS
from workflow.claims.schema import Claim
from workflow.results.registry import MEASURED_BY, bounds_of
from workflow.results.runs_table import Frames
from workflow.results.trained_enough import hardly_moved

ASKED = ("question", "ours", "than")  # taken from the ladder, for all of its corpora
OF_A_RUNG = (
    "effect",
    "low",
    "high",
    "n",
    "p",
    "ours",
    "than",
    "verdict",
    "why",
    "digests",
    "signed",
    "of",
    "texts",
)
OF_A_RUNG += ("late_gain",)


def collect_tuned(name: str, claim: Claim, frames: Frames) -> dict | None:
    """Collect the evidence of the tuned runs; None without a pair, and for costs that tuning cannot
    change.
    """
    if claim.recomputed or claim.question == LAYERS or frames.others is None:
        return None
    rows = frames.others
    rows = rows[(rows["question"] == claim.question) & (rows["tuning"] == "tuned")]
    if rows.empty or any(claim.measured(side) in MEASURED_BY for side in claim.sides):
        return None
    evidence = collect_evidence(name, claim, replace(frames, runs=rows))
    return None if evidence["effect"] is None else evidence


def collect_sizes(name: str, claim: Claim, frames: Frames) -> list[dict]:
    """Collect the evidence at each size of the claim's ladder, smallest first.

    A rung has the effect with its interval, the scores of each pair, the upper bound of the score,
    and the mean number of parameters of the paired models of each side. Models whose learned spans
    barely moved are left out, because their effect says nothing about learned spans.
    """
    ladder = claim.sizes
    if ladder is None or frames.runs is None:
        return []
    rows = frames.at_every_size
    rows = rows[rows["question"] == ladder.question]
    rows = rows[~hardly_moved(rows)]
    asked = claim.model_copy(update={"corpora": [], **{key: getattr(ladder, key) for key in ASKED}})
    return [
        _rung(name, asked, size, replace(frames, runs=mine)) for size, mine in rows.groupby("size")
    ]


def _rung(name: str, claim: Claim, size: float, frames: Frames) -> dict:
    line, runs = collect_evidence(name, claim, frames), frames.runs
    parameters = {}
    for side in ("ours", "than"):
        paired = {digest for pair in line["pairs"] for digest in pair["runs"][side]}
        nets = (
            runs["digest"].isin(paired)
            if paired
            else runs["variant"] == getattr(claim, side).variant
        )
        parameters[side] = float(runs.loc[nets, "parameters"].mean())
    _, most = bounds_of(claim.measured(claim.ours))
    pairs = [{key: pair[key] for key in ("text", "turn", "ours", "than")} for pair in line["pairs"]]
    return {
        "size": size,
        "parameters": parameters,
        "most": most if math.isfinite(most) else None,
        "pairs": pairs,
        **{key: line[key] for key in OF_A_RUNG},
    }
