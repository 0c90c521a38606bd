"""Read the values of both sides of a claim and pair them by corpus and seed, or round."""

from collections import Counter, defaultdict
from collections.abc import Hashable
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from workflow.claims.evidence import Pair, RunsOfPair
from workflow.claims.find_runs import find_layers, find_runs
from workflow.claims.measures import LAYERS
from workflow.claims.points import Point, points_of_layers, points_of_runs
from workflow.claims.schema import Claim, Side
from workflow.results.datasets import title_of
from workflow.results.layers import exponent
from workflow.results.makers import Makers, makers_of
from workflow.results.numbers import join
from workflow.results.registry import REGISTRY
from workflow.results.runs_table import Frames
from workflow.results.trained_enough import hardly_moved, learned_spans

# corpus, and seed or (reference step, round); a corpus counts once, even if it replaces two of the
# papers'
Key = tuple[str, Hashable]


@dataclass(frozen=True)
class Sample:
    """One side of a claim.

    values: the measure by corpus and seed, or round. runs: the digests behind each value. unmoved:
    title of a dataset -> the S at which learned spans barely moved, so that no consequence of
    learned spans was tested. failed: statuses of failed runs. late_gains: digest -> improvement in
    bits over the last quarter of training, if more training would change the values. at: the S and
    k that the side names; for layers, length and width. makers: what measured a cost.
    """

    values: dict[Key, float]
    runs: dict[Key, list[str]]
    unmoved: dict[str, list[int]] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)
    late_gains: dict[str, float] = field(default_factory=dict)
    at: dict[str, list[int]] = field(default_factory=dict)
    makers: Makers | None = None

    @property
    def digests(self) -> set[str]:
        return set().union(*self.runs.values())


def read_sample(claim: Claim, side: Side, frames: Frames) -> Sample:
    """Read the values of one side."""
    if claim.question == LAYERS:
        sample = _read_layers(claim, side, frames.layers)
    else:
        sample = _read_runs(claim, side, frames.runs)
    if claim.best_of:
        return _best_of(sample, claim)
    return sample


def _read_layers(claim: Claim, side: Side, layers: pd.DataFrame) -> Sample:
    rows = find_layers(side, layers)
    named = {"n": "S"} if side.S else {}
    points = points_of_layers(rows, claim.measured(side))
    values, runs = _fold(claim, points)
    named["width"] = "d"
    return Sample(values, runs, at=_places(rows, named))


def _read_runs(claim: Claim, side: Side, every_run: pd.DataFrame) -> Sample:
    measure = claim.measured(side)
    rows = find_runs(claim, side, every_run)
    finished = rows[rows["status"] == "ok"]
    # a run is listed for each of the papers' corpora that its corpus replaces
    points = {}
    for point in points_of_runs(finished, measure):
        points[point.digest, point.turn] = point
    complete = _drop_incomplete([*points.values()], rows)
    values, runs = _fold(claim, complete)
    axes = {}
    for axis in ("S", "k"):
        if getattr(side, axis) is not None:
            axes[axis] = axis
    failed = rows[rows["status"] != "ok"]
    return Sample(
        values,
        runs,
        unmoved=_find_unmoved(finished),
        failed=set(failed["status"]),
        late_gains=_late_gains(claim, finished),
        at=_places(finished, axes),
        makers=makers_of(finished, measure),
    )


def _find_unmoved(finished: pd.DataFrame) -> dict[str, list[int]]:
    """Map each dataset on which a learned span barely moved to the S where that happened."""
    still = finished[hardly_moved(finished)]
    found = {}
    limits_on = still.groupby(["task", "corpus"], sort=False)["S"]
    for (task, corpus), limits in limits_on:
        known = limits.dropna().astype(int)
        found[title_of(task, corpus)] = sorted({*known.tolist()})
    return found


def _late_gains(claim: Claim, finished: pd.DataFrame) -> dict[str, float]:
    """Map each run to its late gain, if more training would change its value.

    This holds for a score, and for everything that depends on learned spans: their length, MACs,
    memory and speed.
    """
    rows = finished if claim.is_about_quality else learned_spans(finished)
    once = rows.drop_duplicates("digest")
    gains = once.set_index("digest")["late_gain"]
    return gains.dropna().astype(float).to_dict()


def _places(rows: pd.DataFrame, named: dict[str, str]) -> dict[str, list[int]]:
    """List the values of each named column. named: displayed name -> column."""
    places = {}
    for name, column in named.items():
        values = rows[column].dropna().astype(int)
        places[name] = sorted({*values.tolist()})
    return places


def describe_places(ours: Sample, than: Sample | None) -> str:
    """Say where a claim was tested: `at S = 256 vs. S = 32`; empty if on the whole grid."""
    different: dict[str, None] = {}
    for sample in (ours, than):
        spelled = _spell_places(sample.at) if sample is not None else ""
        if spelled:
            different[spelled] = None
    if not different:
        return ""
    return f"at {' vs. '.join(different)}"


def _spell_places(at: dict[str, list[int]]) -> str:
    spelled = []
    for name, values in at.items():
        if values:
            numbers = [f"{value:,}" for value in values]
            spelled.append(f"{name} = {join(numbers)}")
    return ", ".join(spelled)


def _fold(claim: Claim, points: list[Point]) -> tuple[dict[Key, float], dict[Key, list[str]]]:
    """Reduce the points of each corpus and seed, or round, to one value, and list their runs.

    The value is the mean of the points, or their exponent in S; without an exponent it is missing.
    """
    groups = defaultdict(list)
    for point in points:
        groups[point.text, point.turn].append(point)
    reduce_points = _slope if claim.by == "slope" else _mean
    values = {}
    runs = {}
    for key in sorted(groups):
        value = reduce_points(groups[key])
        if value is not None:
            values[key] = value
        digests = [point.digest for point in groups[key] if point.digest]
        runs[key] = list(dict.fromkeys(digests))
    return values, runs


def _mean(points: list[Point]) -> float:
    values = [point.value for point in points]
    return float(np.mean(values))


def _slope(points: list[Point]) -> float | None:
    """Fit the exponent of the value in S; None where there is only one S."""
    lengths = pd.Series([point.S for point in points])
    if lengths.nunique() < 2:
        return None
    values = [point.value for point in points]
    return exponent(lengths, values)


def _best_of(sample: Sample, claim: Claim) -> Sample:
    """Take the best of the first `best_of` seeds on each corpus; drop corpora with fewer seeds."""
    best = max if REGISTRY[claim.measure].better == "higher" else min
    keys_on = defaultdict(list)
    for key in sample.values:
        text, _ = key
        keys_on[text].append(key)
    values = {}
    runs = dict(sample.runs)
    for text, keys in keys_on.items():
        chosen = keys[: claim.best_of]
        if len(chosen) < claim.best_of:
            continue
        scores = [sample.values[key] for key in chosen]
        values[text, 0] = best(scores)
        digests = []
        for key in chosen:
            digests += sample.runs[key]
        runs[text, 0] = digests
    return replace(sample, values=values, runs=runs)


def _drop_incomplete(points: list[Point], rows: pd.DataFrame) -> list[Point]:
    """Drop seeds that lack a cell of the grid because a run failed.

    Their mean would cover different cells.
    """
    cells = rows.groupby("corpus")["configuration"].nunique()
    present = Counter((point.text, point.turn) for point in points)
    complete = []
    for point in points:
        measured = present[point.text, point.turn]
        if measured == cells[point.text]:
            complete.append(point)
    return complete


def pair_up(claim: Claim, ours: Sample, than: Sample | None) -> tuple[Pair, ...]:
    """Pair both sides by corpus and seed, or round."""
    pairs = []
    for key in ours.values:
        if than is not None and key not in than.values:
            continue
        text, turn = key
        value = ours.values[key]
        base = None
        base_runs = []
        if than is not None:
            base = than.values[key]
            base_runs = than.runs[key]
        pairs.append(
            Pair(
                text=text,
                turn=turn,
                ours=value,
                than=base,
                effect=_effect(claim, value, base),
                runs=RunsOfPair(ours=tuple(ours.runs[key]), than=tuple(base_runs)),
            )
        )
    return tuple(pairs)


def _effect(claim: Claim, ours: float, than: float | None) -> float:
    """Compare two values; a ratio of values that are not positive is 0."""
    if than is None:
        return ours
    if claim.by != "ratio":
        return ours - than
    if ours <= 0 or than <= 0:
        return 0.0
    return ours / than
