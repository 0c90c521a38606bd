"""Read the two samples of a claim from the runs: the paired values, the effect of each pair, or why
there is none.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from workflow.claims.measures import LAYERS
from workflow.claims.points import Point, points_of_layers, points_of_runs
from workflow.claims.schema import Claim, Side
from workflow.plan.questions import load_question
from workflow.results.datasets import title_of
from workflow.results.layers import LABELS, exponent
from workflow.results.makers import NO_RATIO, Makers, makers_of
from workflow.results.numbers import join
from workflow.results.registry import REGISTRY
from workflow.results.runs_table import Frames
from workflow.results.trained_enough import hardly_moved, learned_spans

NOT_ASKED = "the question was not run"


@dataclass(frozen=True)
class Sample:
    """One side of a claim. values: by (corpus, seed); timings by (corpus, (reference step, round)).
    runs: digests. A corpus counts once, even if it replaces two corpora of the papers. unmoved:
    title of a dataset -> the S at which learned spans barely moved, so that no consequence of
    learned spans was tested. late_gains: digest -> improvement in bits over the last quarter of the
    updates, if more training would change the values. failed: statuses of failed runs. at: the S
    and k that the side names; for layers, length and width. makers: what measured a cost.
    """

    values: dict[tuple, float]
    runs: dict[tuple, list[str]]
    unmoved: dict[str, list[int]] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)
    late_gains: dict[str, float] = field(default_factory=dict)
    at: dict[str, list[int]] = field(default_factory=dict)
    makers: Makers | None = None

    @property
    def digests(self) -> set[str]:
        return {digest for digests in self.runs.values() for digest in digests}


def read_sample(claim: Claim, side: Side, frames: Frames) -> Sample:
    """Read the values of one side."""
    measure = claim.measured(side)
    if claim.question == LAYERS:
        rows = _select_layers(side, frames.layers)
        named = {"n": "S"} if side.S else {}
        return _fold(
            claim, points_of_layers(rows, measure), at=_places(rows, named | {"width": "d"})
        )
    rows = _select_runs(claim, side, frames.runs)
    finished = rows[rows["status"] == "ok"]
    # one corpus may replace two of the papers'
    points = {(each.digest, each.turn): each for each in points_of_runs(finished, measure)}
    points = _drop_incomplete([*points.values()], rows)
    at = _places(
        finished, {column: column for column in ("S", "k") if getattr(side, column) is not None}
    )
    failed = {*rows.loc[rows["status"] != "ok", "status"]}
    late_gains = _late_gains(claim, finished)
    about = {
        "failed": failed,
        "late_gains": late_gains,
        "at": at,
        "makers": makers_of(finished, measure),
    }
    return _fold(claim, points, unmoved=_unmoved(finished), **about)


def _unmoved(finished: pd.DataFrame) -> dict[str, list[int]]:
    """Map each dataset on which a learned span of this side barely moved to the S where that
    happened.
    """
    still = finished[hardly_moved(finished)]
    by_dataset = still.groupby(["task", "corpus"], sort=False)["S"]
    return {
        title_of(*names): sorted({int(S) for S in values.dropna()}) for names, values in by_dataset
    }


def _late_gains(claim: Claim, finished: pd.DataFrame) -> dict[str, float]:
    """Map each run to its improvement over the last quarter of training, if more training would
    change its value.

    This holds for a score, and for everything that depends on learned spans: their length, MACs,
    memory and speed.
    """
    rows = finished if claim.is_about_quality else learned_spans(finished)
    trained = zip(rows["digest"], rows["late_gain"], strict=True)
    return {digest: float(gain) for digest, gain in trained if pd.notna(gain)}


def _places(rows: pd.DataFrame, named: dict[str, str]) -> dict[str, list[int]]:
    """List the values of each named column. named: displayed name -> column."""
    return {
        name: sorted({int(value) for value in rows[column].dropna()})
        for name, column in named.items()
    }


def describe_places(ours: Sample, than: Sample | None) -> str:
    """Say where a claim was tested: `at S = 256 vs. S = 32`; empty for a claim about the whole
    grid.
    """
    sides = [_spell_places(side.at) for side in (ours, than) if side is not None]
    written = " vs. ".join(dict.fromkeys(filter(None, sides)))
    return f"at {written}" if written else ""


def _spell_places(at: dict[str, list[int]]) -> str:
    return ", ".join(
        f"{name} = {join([f'{value:,}' for value in values])}"
        for name, values in at.items()
        if values
    )


def _fold(claim: Claim, points: list[Point], **training) -> Sample:
    """Reduce the points of each corpus and seed, or round, to one value: their mean, or their
    exponent in S.
    """
    fold = (
        _slope
        if claim.by == "slope"
        else lambda points: float(np.mean([point.value for point in points]))
    )
    groups = defaultdict(list)
    for point in points:
        groups[point.text, point.turn].append(point)
    groups = {key: groups[key] for key in sorted(groups)}
    values = {key: value for key, group in groups.items() if (value := fold(group)) is not None}
    runs = {
        key: list(dict.fromkeys(filter(None, (point.digest for point in groups[key]))))
        for key in groups
    }
    sample = Sample(values, runs, **training)
    return _best_of(sample, claim) if claim.best_of else sample


def _best_of(sample: Sample, claim: Claim) -> Sample:
    """Take the best of the first `best_of` seeds on each corpus; corpora with fewer seeds are left
    out.
    """
    best = max if REGISTRY[claim.measure].better == "higher" else min
    seeds = {
        text: [key for key in sample.values if key[0] == text][: claim.best_of]
        for text, _ in sample.values
    }
    chosen = {(text, 0): keys for text, keys in seeds.items() if len(keys) == claim.best_of}
    runs = {
        key: [digest for each in keys for digest in sample.runs[each]]
        for key, keys in chosen.items()
    }
    values = {key: best(sample.values[each] for each in keys) for key, keys in chosen.items()}
    return replace(sample, values=values, runs=sample.runs | runs)


def _drop_incomplete(points: list[Point], rows: pd.DataFrame) -> list[Point]:
    """Drop seeds that lack a cell of the grid because a run failed; their mean would cover
    different cells.
    """
    cells = Counter(text for text, _ in {*zip(rows["corpus"], rows["configuration"], strict=True)})
    present = Counter((point.text, point.turn) for point in points)
    return [point for point in points if present[point.text, point.turn] == cells[point.text]]


def _select_runs(claim: Claim, side: Side, runs: pd.DataFrame) -> pd.DataFrame:
    """Select the runs of a side, including failed ones."""
    runs = runs[runs["question"] == claim.question]
    if claim.corpora:
        runs = runs[runs["paper_corpus"].isin(claim.corpora)]
    rows = runs[runs["variant"] == side.variant]
    for column in ("S", "k"):
        wanted = getattr(side, column)
        wanted = _common(claim, runs, column) if wanted == "common" else wanted
        rows = rows[_selected(rows[column], wanted)]
    return rows


def _common(claim: Claim, runs: pd.DataFrame, column: str) -> list:
    """Find the largest value at which every side has a run that ended well."""
    finished = runs[runs["status"] == "ok"]
    values = [
        set(finished.loc[finished["variant"] == side.variant, column].dropna())
        for side in claim.sides
    ]
    return sorted(set.intersection(*values))[-1:]


def _selected(values: pd.Series, wanted) -> pd.Series:
    """Mark the values that a side names. wanted: a number, several, `max`, `min`, `upper`, None for
    all.
    """
    if wanted is None:
        return pd.Series(True, index=values.index)
    present = sorted(values.dropna().unique())
    named = {"max": present[-1:], "min": present[:1], "upper": present[len(present) // 2 :]}
    return values.isin(named[wanted] if isinstance(wanted, str) else np.atleast_1d(wanted))


def _select_layers(side: Side, layers: pd.DataFrame) -> pd.DataFrame:
    """Select the measured layers of a side; S is the length n."""
    rows = layers[(layers["layer"] == side.variant) & (layers["status"] == "ok")].rename(
        columns={"n": "S"}
    )
    return rows[rows["S"] < rows["d"] if side.S == "below d" else _selected(rows["S"], side.S)]


def _slope(points: list[Point]) -> float | None:
    """Fit the exponent of the value in S; None where there is only one S."""
    lengths = [point.S for point in points]
    return (
        exponent(lengths, [point.value for point in points])
        if len({*filter(pd.notna, lengths)}) > 1
        else None
    )


def pair_up(claim: Claim, ours: Sample, than: Sample | None) -> list[dict]:
    """Pair both sides by corpus and seed, or round: the two values, the effect and the runs of each
    pair.
    """
    keys = [key for key in ours.values if than is None or key in than.values]
    return [
        {
            **dict(zip(("text", "turn"), key, strict=True)),
            "ours": ours.values[key],
            "than": than.values[key] if than else None,
            "effect": _effect(claim, ours.values[key], than.values[key] if than else None),
            "runs": {"ours": ours.runs[key], "than": than.runs[key] if than else []},
        }
        for key in keys
    ]


def _effect(claim: Claim, ours: float, than: float | None) -> float:
    if than is None:
        return ours
    if claim.by == "ratio":
        return ours / than if ours > 0 and than > 0 else 0.0
    return ours - than


def was_run(claim: Claim, frames: Frames) -> bool:
    if claim.question == LAYERS:
        return frames.layers is not None
    return frames.runs is not None and claim.question in set(frames.runs["question"])


def _absent(claim: Claim, frames: Frames) -> list[str]:
    """List the variants of a claim without any run, even a failed one: a scale may leave some
    out.
    """
    if claim.question == LAYERS:
        return []
    run = set(frames.runs.loc[frames.runs["question"] == claim.question, "variant"])
    return list(dict.fromkeys(side.variant for side in claim.sides if side.variant not in run))


def why_not_tested(claim: Claim, samples: list[Sample | None], frames: Frames) -> str | None:
    """Return why a claim does not apply to these runs; None if it does."""
    if claim.scale and set(frames.runs["scale"]) != {claim.scale}:
        return f"requires the models and datasets of scale {claim.scale}"
    if absent := _absent(claim, frames):
        return f"{join(_labels(claim, absent))} {'was' if len(absent) == 1 else 'were'} not run"
    ours, than = samples
    if than and ours.makers and than.makers:
        name, base_name = (join(_labels(claim, [side.variant])) for side in claim.sides)
        if apart := ours.makers.why_apart(than.makers, base_name):
            return f"{NO_RATIO}: {name} {'was' if apart.startswith('measured') else 'is'} {apart}"
    same = (
        than
        and ours.values == than.values
        and claim.measured(claim.ours) == claim.measured(claim.than)
    )
    alike = (
        same
        and ours.digests == than.digests
        and (ours.digests or claim.ours.variant == claim.than.variant)
    )
    if alike and ours.values:
        return "both sides are the same run at this scale"
    empty = _without_values(claim, samples)
    never = empty and not any(empty.values()) and not _is_best_of_few(claim, samples)
    return f"no measurement for {join(_labels(claim, [*empty]))}" if never else None


def _without_values(claim: Claim, samples: list[Sample | None]) -> dict[str, set[str]]:
    """Map each variant without a value to the reasons why its runs failed, none of one that nobody
    measured.
    """
    sides = zip((claim.ours, claim.than), samples, strict=True)
    return {side.variant: sample.failed for side, sample in sides if side and not sample.values}


def _is_best_of_few(claim: Claim, samples: list[Sample | None]) -> bool:
    """Say whether there are runs, but fewer than the published score is the best of."""
    return bool(claim.best_of and samples[0].digests)


def what_is_missing(claim: Claim, samples: list[Sample | None]) -> str | None:
    """Return why a claim cannot be evaluated; None if it can."""
    empty = _without_values(claim, samples)
    if empty and _is_best_of_few(claim, samples):
        return f"the published score is the best of {claim.best_of} runs; {len(samples[0].digests)} available"
    why = join(sorted(set().union(*empty.values())))
    failed = f" (runs failed: {why})" if why else ""
    return f"no measurement for {join(_labels(claim, [*empty]))}{failed}" if empty else None


def _labels(claim: Claim, variants: list[str]) -> list[str]:
    """Return the names that tables use for these variants, or layers."""
    if claim.question == LAYERS:
        return [LABELS[name] for name in dict.fromkeys(variants)]
    known = load_question(claim.question).variants
    return [known[name].label or name for name in dict.fromkeys(variants)]
