"""Collect evidence in addition to a verdict on one recipe: with each variant tuned, and at other
model sizes.
"""

import math
from dataclasses import replace

import pandas as pd

from workflow.claims.collect import collect_evidence
from workflow.claims.evidence import Line, Parameters, Rung, Scores
from workflow.claims.measures import LAYERS
from workflow.claims.schema import Claim
from workflow.results.registry import MEASURED_BY, bounds_of
from workflow.results.runs_table import Frames
from workflow.results.trained_enough import hardly_moved


def collect_tuned(name: str, claim: Claim, frames: Frames) -> Line | None:
    """Collect the evidence of the tuned runs.

    None without a pair, and for costs, which tuning cannot change.
    """
    if claim.recomputed or claim.question == LAYERS or frames.others is None:
        return None
    if any(claim.measured(side) in MEASURED_BY for side in claim.sides):
        return None
    rows = frames.others
    rows = rows[(rows["question"] == claim.question) & (rows["tuning"] == "tuned")]
    if rows.empty:
        return None
    evidence = collect_evidence(name, claim, replace(frames, runs=rows))
    return None if evidence.effect is None else evidence


def collect_sizes(name: str, claim: Claim, frames: Frames) -> tuple[Rung, ...]:
    """Collect the evidence at each size of the claim's ladder, smallest first.

    Models whose learned spans barely moved are left out, because their effect says nothing about
    learned spans.
    """
    ladder = claim.sizes
    if ladder is None or frames.runs is None:
        return ()
    rows = frames.at_every_size
    rows = rows[rows["question"] == ladder.question]
    rows = rows[~hardly_moved(rows)]
    # the ladder has its own question and variants, and all of its corpora count
    on_ladder = {
        "question": ladder.question,
        "ours": ladder.ours,
        "than": ladder.than,
        "corpora": [],
    }
    asked = claim.model_copy(update=on_ladder)
    rungs = []
    for size, of_size in rows.groupby("size"):
        rungs.append(_collect_rung(name, asked, size, replace(frames, runs=of_size)))
    return tuple(rungs)


def _collect_rung(name: str, claim: Claim, size: float, frames: Frames) -> Rung:
    line = collect_evidence(name, claim, frames)
    _, most = bounds_of(claim.measured(claim.ours))
    paired_ours = {digest for pair in line.pairs for digest in pair.runs.ours}
    paired_than = {digest for pair in line.pairs for digest in pair.runs.than}
    pairs = []
    for pair in line.pairs:
        pairs.append(Scores(text=pair.text, turn=pair.turn, ours=pair.ours, than=pair.than))
    return Rung(
        size=size,
        parameters=Parameters(
            ours=_mean_parameters(frames.runs, paired_ours, claim.ours.variant),
            than=_mean_parameters(frames.runs, paired_than, claim.than.variant),
        ),
        most=most if math.isfinite(most) else None,
        pairs=tuple(pairs),
        effect=line.effect,
        low=line.low,
        high=line.high,
        n=line.n,
        p=line.p,
        ours=line.ours,
        than=line.than,
        verdict=line.verdict,
        why=line.why,
        digests=line.digests,
        signed=line.signed,
        of=line.of,
        texts=line.texts,
        late_gain=line.late_gain,
    )


def _mean_parameters(runs: pd.DataFrame, paired: set[str], variant: str) -> float:
    """Average the parameters of the paired models; without a pair, of all models of a variant."""
    models = runs["digest"].isin(paired) if paired else runs["variant"] == variant
    return float(runs.loc[models, "parameters"].mean())
