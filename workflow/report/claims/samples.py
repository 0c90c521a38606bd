"""From the runs to the two sides of a claim: what is paired with what, and the effect of each pair."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from workflow.report.claims.measures import APART, TURNS, by_turns, of
from workflow.report.claims.schema import Claim, Side
from workflow.report.tables._cells import MEASURED_BY
from workflow.report.tables._layers import exponent
from workflow.results.runs_table import Frames

COLUMNS = ["paper_corpus", "turn", "S", "value", "digest"]


@dataclass(frozen=True)
class Reading:
    """One side: a value for each (text, seed), or (text, turn) of what was timed; digests of the runs behind them.

    stuck: whether its learned spans have hardly left their floor, so that what follows from them was not put to test.
    """

    values: dict[tuple, float]
    digests: list[str]
    stuck: bool = False


def reading(claim: Claim, side: Side, frames: Frames) -> Reading:
    measure = claim.measured(side)
    rows = None if claim.ablation == APART else _chosen(claim, side, frames.runs)
    good = None if rows is None else rows[rows["status"] == "ok"]
    points = _of_layers(side, measure, frames.layers) if rows is None else _of_runs(good, measure)
    points = points.astype({"value": float})  # of nothing measured a column has no kind
    points = points[np.isfinite(points["value"])]
    if rows is not None:  # one text may stand in for two of the paper's
        points = _whole(points, rows).drop_duplicates(["digest", "turn"])
    fold = _slope if claim.by == "slope" else _mean
    found = {key: fold(group) for key, group in points.groupby(["paper_corpus", "turn"], sort=True)}
    digests = [one for one in points["digest"].unique() if one is not None]
    values = {key: value for key, value in found.items() if value is not None}
    return Reading(values, digests, stuck=rows is not None and _stuck(good))


def _whole(points: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Without the pairs that lack a cell of the grid, because a run failed: a mean over the rest would be another."""
    asked = rows.groupby("paper_corpus")["configuration"].nunique()
    there = points.groupby(["paper_corpus", "turn"])["value"].transform("size")
    return points[there == points["paper_corpus"].map(asked)]


def _stuck(rows: pd.DataFrame) -> bool:
    """Whether the mean learned span is within a quarter, and a key, of where it began."""
    learned = rows[rows["span"].isin(["adaptive", "dynamic"])]
    return bool(len(learned)) and bool((learned["mean_span"] < 1.25 * (learned["start_span"] + 1)).all())


def _chosen(claim: Claim, side: Side, runs: pd.DataFrame) -> pd.DataFrame:
    """The runs of a side, also those that failed."""
    mine = runs[(runs["ablation"] == claim.ablation) & (runs["variant"] == side.variant)]
    if claim.corpora:
        mine = mine[mine["paper_corpus"].isin(claim.corpora)]
    for column in ("S", "k"):
        mine = mine[_asked(mine[column], getattr(side, column))]
    return mine


def _of_runs(rows: pd.DataFrame, measure: str) -> pd.DataFrame:
    """corpus, turn, S, value, digest: a line for each run; for each turn of what was timed, one of what was counted."""
    if measure in TURNS:
        made = by_turns(rows, measure)
    elif measure in MEASURED_BY:
        made = rows.drop_duplicates("configuration").assign(turn=0)
    else:
        made = rows.assign(turn=rows["seed"])
    return made.assign(value=made["value"] if measure in TURNS else of(made, measure))[COLUMNS]


def _asked(values: pd.Series, wanted) -> pd.Series:
    if wanted is None:
        return pd.Series(True, index=values.index)
    there = sorted(values.dropna().unique())
    named = {"max": there[-1:], "min": there[:1], "upper": there[len(there) // 2 :]}
    return values.isin(named[wanted] if isinstance(wanted, str) else np.atleast_1d(wanted))


def _of_layers(side: Side, measure: str, layers: pd.DataFrame) -> pd.DataFrame:
    """As `_of_runs`; S is the length n."""
    mine = layers[(layers["layer"] == side.variant) & (layers["status"] == "ok")].rename(columns={"n": "S"})
    asked = mine["S"] < mine["d"] if side.S == "below d" else _asked(mine["S"], side.S)
    mine = mine[asked].assign(paper_corpus=APART, digest=None)
    turns = [one if measure == "ms" and isinstance(one, list) else [value] for one, value in _each(mine, measure)]
    made = mine.assign(turn=[list(range(len(one))) for one in turns], value=turns).explode(["turn", "value"])
    return made[COLUMNS]


def _each(rows: pd.DataFrame, measure: str):
    return zip(rows["turns"], rows[measure], strict=True)


def _mean(points: pd.DataFrame) -> float:
    return points["value"].mean()


def _slope(points: pd.DataFrame) -> float | None:
    """None where there is only one S."""
    return exponent(points["S"], points["value"]) if points["S"].nunique() > 1 else None


def effects(claim: Claim, ours: Reading, than: Reading | None) -> list[float]:
    """The effect of each pair: what has the same text and seed, or had its turn beside the other."""
    if than is None:
        return list(ours.values.values())
    shared = [key for key in ours.values if key in than.values]
    both = [(ours.values[key], than.values[key]) for key in shared]
    if claim.by == "ratio":
        return [one / other if one > 0 and other > 0 else 0.0 for one, other in both]
    return [one - other for one, other in both]
