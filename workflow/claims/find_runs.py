"""Find the runs of a claim: of its question, variant and corpora, at the S and k it names."""

import numpy as np
import pandas as pd

from workflow.claims.measures import LAYERS
from workflow.claims.schema import Claim, Side
from workflow.plan.questions import load_question
from workflow.results.layers import LABELS
from workflow.results.runs_table import Frames


def was_run(claim: Claim, frames: Frames) -> bool:
    """Check whether there are runs of the claim's question, or measured layers."""
    if claim.question == LAYERS:
        return frames.layers is not None
    if frames.runs is None:
        return False
    return claim.question in set(frames.runs["question"])


def find_runs(claim: Claim, side: Side, runs: pd.DataFrame) -> pd.DataFrame:
    """Select the runs of one side of a claim, including failed ones."""
    runs = runs[runs["question"] == claim.question]
    if claim.corpora:
        runs = runs[runs["paper_corpus"].isin(claim.corpora)]
    rows = runs[runs["variant"] == side.variant]
    for axis in ("S", "k"):
        wanted = getattr(side, axis)
        if wanted == "common":
            wanted = _largest_common(claim, runs, axis)
        is_wanted = _is_wanted(rows[axis], wanted)
        rows = rows[is_wanted]
    return rows


def find_layers(side: Side, layers: pd.DataFrame) -> pd.DataFrame:
    """Select the measured layers of one side; their length n becomes the column S."""
    rows = layers[layers["layer"] == side.variant]
    rows = rows[rows["status"] == "ok"]
    rows = rows.rename(columns={"n": "S"})
    if side.S == "below d":
        return rows[rows["S"] < rows["d"]]
    return rows[_is_wanted(rows["S"], side.S)]


def _largest_common(claim: Claim, runs: pd.DataFrame, axis: str) -> list:
    """Find the largest S or k at which every side has a finished run; empty without one."""
    finished = runs[runs["status"] == "ok"]
    common = set(finished[axis].dropna())
    for side in claim.sides:
        of_side = finished[finished["variant"] == side.variant]
        common &= set(of_side[axis])
    return sorted(common)[-1:]


def _is_wanted(values: pd.Series, wanted: int | list[int] | str | None) -> pd.Series:
    """Mark the values that a side names: numbers, `max`, `min`, `upper`, or None for all."""
    if wanted is None:
        return pd.Series(True, index=values.index)
    if wanted == "max":
        return values == values.max()
    if wanted == "min":
        return values == values.min()
    if wanted == "upper":
        present = sorted(values.dropna().unique())
        half = len(present) // 2  # of an odd number, the middle one belongs to the upper half
        return values.isin(present[half:])
    return values.isin(np.atleast_1d(wanted))


def has_no_runs(claim: Claim, frames: Frames) -> list[str]:
    """List the variants of a claim without any run, even a failed one.

    A scale may leave variants out.
    """
    if claim.question == LAYERS:
        return []
    of_question = frames.runs[frames.runs["question"] == claim.question]
    present = set(of_question["variant"])
    absent: list[str] = []
    for side in claim.sides:
        if side.variant not in {*present, *absent}:
            absent.append(side.variant)
    return absent


def names_of(claim: Claim, variants: list[str]) -> list[str]:
    """Return the names that tables use for these variants, or layers."""
    once = dict.fromkeys(variants)
    if claim.question == LAYERS:
        return [LABELS[name] for name in once]
    known = load_question(claim.question).variants
    return [known[name].label or name for name in once]
