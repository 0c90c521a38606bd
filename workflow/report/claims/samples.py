"""From the runs to the two samples of a claim: which values are paired, and the effect of each pair."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from workflow.report.claims.measures import LAYERS, read_measure
from workflow.report.claims.schema import Claim, Side
from workflow.report.tables._cells import MEASURED_BY
from workflow.report.tables._layers import exponent, values_of
from workflow.results.registry import REGISTRY
from workflow.results.runs_table import Frames
from workflow.results.span_growth import stayed
from workflow.results.timings import SPEEDS, clocks, split_turns

COLUMNS = ["paper_corpus", "turn", "S", "value", "digest"]


@dataclass(frozen=True)
class Sample:
    """One side of a claim. values: by (text, seed), of timings by (text, (clock, turn)). digests: of its runs.

    stuck: whether its learned spans have hardly moved from their start, so that what follows from them was not tested.
    late_gain: the most that the last quarter of the updates still brought to one of its runs, in bits.
    """

    values: dict[tuple, float]
    digests: list[str]
    stuck: bool = False
    late_gain: float = 0.0


def read_sample(claim: Claim, side: Side, frames: Frames) -> Sample:
    """The values of one side."""
    measure = claim.measured(side)
    if claim.ablation == LAYERS:
        return _fold(claim, _points_of_layers(side, measure, frames.layers))
    rows = _select_runs(claim, side, frames.runs)
    finished = rows[rows["status"] == "ok"]
    points = _finite(_points_of_runs(finished, measure))
    points = _drop_incomplete(points, rows)
    points = points.drop_duplicates(["digest", "turn"])  # one text may stand in for two of the paper's
    gain = finished["late_gain"].max()
    return _fold(claim, points, stuck=stayed(finished), late_gain=0.0 if pd.isna(gain) else float(gain))


def _fold(claim: Claim, points: pd.DataFrame, **training) -> Sample:
    """One value for each text and seed, or turn: a mean over the grid, or the exponent of its growth."""
    points, fold = _finite(points), _slope if claim.by == "slope" else _mean
    folded = {key: fold(group) for key, group in points.groupby(["paper_corpus", "turn"], sort=True)}
    digests = points["digest"].dropna().unique().tolist()
    values = {key: value for key, value in folded.items() if value is not None}
    return Sample(_best(values, claim) if claim.best_of else values, digests, **training)


def _best(values: dict[tuple, float], claim: Claim) -> dict[tuple, float]:
    """The best of the first `best_of` seeds on each text; none of a text with fewer."""
    best = max if REGISTRY[claim.measure].better == "higher" else min
    texts = {text: [value for (each, _), value in values.items() if each == text] for text, _ in values}
    chosen = {text: scores[: claim.best_of] for text, scores in texts.items() if len(scores) >= claim.best_of}
    return {(text, 0): best(scores) for text, scores in chosen.items()}


def _finite(points: pd.DataFrame) -> pd.DataFrame:
    points = points.astype({"value": float})  # a column in which nothing was measured has no number type
    return points[np.isfinite(points["value"])]


def _drop_incomplete(points: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Without the seeds that lack a cell of the grid because a run failed: their mean would be over other cells."""
    expected = rows.groupby("paper_corpus")["configuration"].nunique()
    present = points.groupby(["paper_corpus", "turn"])["value"].transform("size")
    return points[present == points["paper_corpus"].map(expected)]


def _select_runs(claim: Claim, side: Side, runs: pd.DataFrame) -> pd.DataFrame:
    """The runs of a side, failed ones included."""
    runs = runs[runs["ablation"] == claim.ablation]
    if claim.corpora:
        runs = runs[runs["paper_corpus"].isin(claim.corpora)]
    rows = runs[runs["variant"] == side.variant]
    for column in ("S", "k"):
        wanted = getattr(side, column)
        wanted = _common(claim, runs, column) if wanted == "common" else wanted
        rows = rows[_selected(rows[column], wanted)]
    return rows


def _common(claim: Claim, runs: pd.DataFrame, column: str) -> list:
    """The largest value that every side has a run of which ended well."""
    finished = runs[runs["status"] == "ok"]
    values = [set(finished.loc[finished["variant"] == side.variant, column].dropna()) for side in claim.sides]
    return sorted(set.intersection(*values))[-1:]


def _selected(values: pd.Series, wanted) -> pd.Series:
    """Which values a side names: a number, several, or max, min or upper of those that are there; None: all."""
    if wanted is None:
        return pd.Series(True, index=values.index)
    present = sorted(values.dropna().unique())
    named = {"max": present[-1:], "min": present[:1], "upper": present[len(present) // 2 :]}
    return values.isin(named[wanted] if isinstance(wanted, str) else np.atleast_1d(wanted))


def _points_of_runs(rows: pd.DataFrame, measure: str) -> pd.DataFrame:
    """`COLUMNS`: a line for each run; for each turn of a timing; one for what is counted once per configuration."""
    if measure in SPEEDS:
        turns = split_turns(rows, measure)
        return turns.assign(turn=list(zip(clocks(turns), turns["turn"], strict=True)))[COLUMNS]
    if measure in MEASURED_BY:
        rows = rows.drop_duplicates("configuration").assign(turn=0)
    else:
        rows = rows.assign(turn=rows["seed"])
    return rows.assign(value=read_measure(rows, measure))[COLUMNS]


def _points_of_layers(side: Side, measure: str, layers: pd.DataFrame) -> pd.DataFrame:
    """As `_points_of_runs`; S is the length n."""
    rows = layers[(layers["layer"] == side.variant) & (layers["status"] == "ok")].rename(columns={"n": "S"})
    wanted = rows["S"] < rows["d"] if side.S == "below d" else _selected(rows["S"], side.S)
    rows = rows[wanted].assign(paper_corpus=LAYERS, digest=None)
    values = [values_of(row, measure) for row in rows.to_dict("records")]
    turns = [list(range(len(each))) for each in values]
    return rows.assign(turn=turns, value=values).explode(["turn", "value"])[COLUMNS]


def _mean(points: pd.DataFrame) -> float:
    return points["value"].mean()


def _slope(points: pd.DataFrame) -> float | None:
    """None where there is only one S."""
    return exponent(points["S"], points["value"]) if points["S"].nunique() > 1 else None


def effects_of(claim: Claim, ours: Sample, than: Sample | None) -> dict[tuple, float]:
    """The effect of each pair: values of the same text and seed, or of the same turn."""
    if than is None:
        return dict(ours.values)
    pairs = {key: (value, than.values[key]) for key, value in ours.values.items() if key in than.values}
    if claim.by == "ratio":
        return {key: a / b if a > 0 and b > 0 else 0.0 for key, (a, b) in pairs.items()}
    return {key: a - b for key, (a, b) in pairs.items()}
