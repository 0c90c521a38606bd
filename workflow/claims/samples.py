"""Read the values of both sides of a claim and pair them by corpus and seed, or round.

In this order: select the runs of a side, or the measured layers; read a point of each; fold the
points of a corpus and seed into one value; pair the values of both sides.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from workflow.claims.evidence import Pair, RunsOfPair
from workflow.claims.measures import LAYERS
from workflow.claims.schema import Claim, Side
from workflow.results.datasets import title_of
from workflow.results.layers import LABELS, exponent, values_of
from workflow.results.makers import Makers, makers_of
from workflow.results.numbers import join
from workflow.results.registry import MEASURED_BY, REGISTRY, SPEEDS
from workflow.results.runs_table import GRID, Frames
from workflow.results.timings import clocks, split_turns
from workflow.results.trained_enough import hardly_moved, learned_spans
from workflow.settings.questions import load_question

# corpus, and seed or (reference step, round); a corpus counts once, even if it replaces two of the
# papers'
Key = tuple[str, Hashable]


class Point(NamedTuple):
    """A measured value. digest: of its run; None for a layer.

    turn: a seed, (reference step, round) of a timing, 0 for a single count.
    """

    text: str
    turn: Hashable
    S: float
    value: float
    digest: str | None


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


@dataclass(frozen=True)
class Sides:
    """Both sides of a claim with their pairs.

    than: None where the claim is about one side alone. scales: of the runs. absent: variants of the
    claim without any run, even a failed one.
    """

    claim: Claim
    ours: Sample
    than: Sample | None
    pairs: tuple[Pair, ...]
    scales: frozenset[str]
    absent: tuple[str, ...]

    @property
    def samples(self) -> list[Sample]:
        return [self.ours] if self.than is None else [self.ours, self.than]

    @property
    def effects(self) -> list[float]:
        """The effect of each pair."""
        return [pair.effect for pair in self.pairs]

    @property
    def texts(self) -> list[str]:
        """The corpus of each pair."""
        return [pair.text for pair in self.pairs]

    @property
    def digests(self) -> tuple[str, ...]:
        """The runs of both sides, also those without a pair."""
        digests = set()
        for sample in self.samples:
            digests |= sample.digests
        return tuple(sorted(digests))

    @property
    def paired_digests(self) -> set[str]:
        """The runs behind the pairs."""
        digests = set()
        for pair in self.pairs:
            digests.update(pair.runs.ours, pair.runs.than)
        return digests


def read_sides(claim: Claim, frames: Frames) -> Sides:
    """Read both sides of a claim, and pair them."""
    ours = read_sample(claim, claim.ours, frames)
    than = None
    if claim.than is not None:
        than = read_sample(claim, claim.than, frames)
    scales = frozenset()
    absent = ()
    if claim.question != LAYERS:
        scales = frozenset(frames.runs["scale"])
        absent = _without_runs(claim, frames.runs)
    return Sides(
        claim=claim,
        ours=ours,
        than=than,
        pairs=pair_up(claim, ours, than),
        scales=scales,
        absent=absent,
    )


# --- the runs of a side, or the layers ---------------------------------------------------------


def was_run(claim: Claim, frames: Frames) -> bool:
    """Check whether there are runs of the claim's question, or measured layers."""
    if claim.question == LAYERS:
        return frames.layers is not None
    if frames.runs is None:
        return False
    return claim.question in set(frames.runs["question"])


def _without_runs(claim: Claim, runs: pd.DataFrame) -> tuple[str, ...]:
    """List the variants of a claim without any run, even a failed one.

    A scale may leave variants out.
    """
    of_question = runs[runs["question"] == claim.question]
    present = set(of_question["variant"])
    wanted = dict.fromkeys(side.variant for side in claim.sides)
    return tuple(variant for variant in wanted if variant not in present)


def name_variants(claim: Claim, variants: list[str]) -> list[str]:
    """Return the names that tables use for these variants, or layers."""
    once = dict.fromkeys(variants)
    if claim.question == LAYERS:
        return [LABELS[name] for name in once]
    known = load_question(claim.question).variants
    return [known[name].label or name for name in once]


def _find_runs(claim: Claim, side: Side, runs: pd.DataFrame) -> pd.DataFrame:
    """Select the runs of one side of a claim, including failed ones."""
    # a table of runs has hundreds of columns, which need not be copied at each step
    narrow = runs[["question", "paper_corpus", "variant", *GRID, "status"]].reset_index(drop=True)
    of_claim = narrow[narrow["question"] == claim.question]
    if claim.corpora:
        on_corpora = of_claim["paper_corpus"].isin(claim.corpora)
        of_claim = of_claim[on_corpora]
    rows = of_claim[of_claim["variant"] == side.variant]
    for axis in GRID:
        wanted = getattr(side, axis)
        if wanted == "common":
            wanted = _largest_common(claim, of_claim, axis)
        is_wanted = _is_wanted(rows[axis], wanted)
        rows = rows[is_wanted]
    return runs.iloc[rows.index]


def _find_layers(side: Side, layers: pd.DataFrame) -> pd.DataFrame:
    """Select the measured layers of one side; their length n becomes the column S."""
    of_side = layers["layer"] == side.variant
    is_measured = layers["status"] == "ok"
    rows = layers[of_side & is_measured].rename(columns={"n": "S"})
    lengths = rows["S"]
    if side.S == "below d":
        return rows[lengths < rows["d"]]
    return rows[_is_wanted(lengths, side.S)]


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
        known = values.dropna()
        present = sorted(known.unique())
        half = len(present) // 2  # of an odd number, the middle one belongs to the upper half
        return values.isin(present[half:])
    return values.isin(np.atleast_1d(wanted))


# --- their points --------------------------------------------------------------------------------


def _points_of_runs(rows: pd.DataFrame, measure: str) -> list[Point]:
    """List a point for each run, each round of a timing, or each configuration if counted once."""
    if measure in SPEEDS:
        rows = split_turns(rows, measure)
        turns = zip(clocks(rows), rows["turn"], strict=True)
        values = rows["value"]
    elif measure in MEASURED_BY:
        rows = rows.drop_duplicates("configuration")
        turns = [0] * len(rows)
        values = _read_measure(rows, measure)
    else:
        turns = rows["seed"]
        values = _read_measure(rows, measure)
    columns = (
        rows["corpus"],
        turns,
        rows["S"],
        values.astype(float),
        rows["digest"],
    )
    points = []
    for each in zip(*columns, strict=True):
        point = Point(*each)
        if math.isfinite(point.value):
            points.append(point)
    return points


def _points_of_layers(rows: pd.DataFrame, measure: str) -> list[Point]:
    """List the same points as `_points_of_runs`, for measured layers."""
    points = []
    for row in rows.to_dict("records"):
        for turn, value in enumerate(values_of(row, measure)):
            if math.isfinite(value):
                points.append(Point(LAYERS, turn, row["S"], value, None))
    return points


def _read_measure(rows: pd.DataFrame, measure: str) -> pd.Series:
    """Read the measure of each row; NaN if missing."""
    if measure == "span_share":
        return rows["mean_span"] / rows["S"]
    if measure == "lower_over_upper_span":
        return rows["spans"].map(_lower_over_upper)
    if measure == "longest_over_mean_span":
        return rows["max_span"] / rows["mean_span"]
    return pd.to_numeric(rows[measure])


def _lower_over_upper(spans: list[list[float]] | None) -> float:
    """Divide the mean span of the lower half of the layers by that of the upper half.

    A middle layer belongs to neither.
    """
    if not isinstance(spans, list) or len(spans) < 2:
        return np.nan
    layers = np.array(spans).mean(1)
    half = len(spans) // 2
    lower = layers[:half].mean()
    upper = layers[-half:].mean()
    return lower / upper


# --- one side ----------------------------------------------------------------------------------


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
    rows = _find_layers(side, layers)
    named = {"n": "S"} if side.S else {}
    points = _points_of_layers(rows, claim.measured(side))
    values, runs = _fold(claim, points)
    named["width"] = "d"
    return Sample(values, runs, at=_places(rows, named))


def _read_runs(claim: Claim, side: Side, every_run: pd.DataFrame) -> Sample:
    measure = claim.measured(side)
    rows = _find_runs(claim, side, every_run)
    finished = rows[rows["status"] == "ok"]
    # a run is listed for each of the papers' corpora that its corpus replaces
    points = {}
    for point in _points_of_runs(finished, measure):
        points[point.digest, point.turn] = point
    complete = _drop_incomplete([*points.values()], rows)
    values, runs = _fold(claim, complete)
    axes = {}
    for axis in GRID:
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


def describe_places(sides: Sides) -> str:
    """Say where a claim was tested: `at S = 256 vs. S = 32`; empty if on the whole grid."""
    different: dict[str, None] = {}
    for sample in sides.samples:
        spelled = _spell_places(sample.at)
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
