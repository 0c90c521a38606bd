"""Decide whether a run converged, failed to train, or moved its learned spans, by fixed rules on
the learning curve.

The curve is read in bits per character or subword: bpc, or log2 of the perplexity. A run has
converged if the last quarter of the updates improved dev by at most `FLAT` bits. A model no better
than the unigram distribution of the symbols failed to train, and any comparison with it would be
meaningless. The record holds the score of that distribution, the unigram entropy of dev; for older
records without it, a curve that is flat from the start counts.
"""

import math
from collections.abc import Sequence
from statistics import fmean

import numpy as np
import pandas as pd

from workflow.tasks.spec import TASKS

FAILED_TO_TRAIN = "failed to train"  # status of a run whose model is no better than chance
FLAT = 0.02  # bits; claims are about differences of this size
LATE = 0.25  # fraction of the updates
# fraction of the updates: by here a curve must begin to show by itself whether a model learned
EARLY = 0.15
# Bits; all models trained so far gain 0.14 or more after the first tenth, or 0.04 or less
NOTHING = 0.05
GROWN = 1.25  # a span has grown if it exceeds this multiple of its initial value plus one key
LEARNED = ("adaptive", "dynamic")  # spans that training changes
SPANS = ["mean_span", "start_span"]  # columns of what they are
UNMOVED = "learned spans barely moved from their initial values: no conclusion about spans"
# `configuration` names the dataset, S, k and size already; a table of another origin may lack that
CONFIGURATION = ["configuration", "corpus", "size"]


def late_gain(curve: list[dict]) -> float | None:
    """Compute the improvement on dev over the last quarter of the updates, in bits.

    Bits are per character or subword. The curve is interpolated linearly between its points. None
    if it has fewer than two points.
    """
    points = _points(curve)
    if len(points) < 2:
        return None
    last, final = points[-1]
    begins = last * (1 - LATE)
    step, bits = points[0]
    following, after = points[-1]
    # the points around the update where the last quarter begins
    for point in points:
        if point[0] > begins:
            following, after = point
            break
        step, bits = point
    if following > step:
        # the bits there, on the line between the two
        past = max(0.0, begins - step)
        bits += (after - bits) * past / (following - step)
    return bits - final


def converged(late_gain: float | None) -> bool:
    """Return whether a curve has flattened; None (no curve, or nothing that training changes)
    counts as converged.
    """
    return (late_gain or 0.0) <= FLAT


def why_untrained(
    curve: list[dict], losses: Sequence[float] = (), chance: float | None = None
) -> str | None:
    """Return why a model failed to train: dev is not `NOTHING` bits better than chance, or than
    early in training.

    None if it learned, if it is worse than chance but still improving, and if the data cannot tell.

    losses: from the record, in nats, summed over the first 1, 2, 4, ... updates; they give the
    early loss where the curve starts late. chance: the unigram entropy of dev, in bits.
    """
    points = _points(curve)
    if not points:
        return None
    best = _best(points)
    if chance is not None:
        no_better = best > chance - NOTHING
        if no_better and not _is_falling(points, chance):
            return f"best dev loss {best:.2f} bits, unigram entropy {chance:.2f} bits"
    early, *later = _from_the_start(points, losses)
    step, first = early
    last = points[-1][0]
    if not later or step > EARLY * last:
        return None
    best = _best(later)
    if first - best >= NOTHING:
        return None
    end = later[-1][0]
    stayed = f"dev loss stayed at {first:.2f} bits from update {step:,} to {end:,}"
    return f"{stayed} (best {best:.2f})"


def _is_falling(points: list[tuple[int, float]], chance: float) -> bool:
    """Return whether a model worse than chance may still be improving.

    It may if its curve fell, or has one point.
    """
    best = _best(points)
    if best <= chance + NOTHING:
        return False
    if len(points) < 2:
        return True
    _, first = points[0]
    return first - best >= NOTHING


def _best(points: list[tuple[int, float]]) -> float:
    return min(bits for _, bits in points)


def _from_the_start(
    points: list[tuple[int, float]], losses: Sequence[float]
) -> list[tuple[int, float]]:
    """Prepend the mean loss of the last early updates to a curve that starts late."""
    begins, _ = points[0]
    last, _ = points[-1]
    if len(losses) < 2 or begins <= EARLY * last:
        return points
    # losses are sums; half of its updates are those since the loss before
    step = 2 ** (len(losses) - 1)
    since = losses[-1] - losses[-2]
    nats = since / (step / 2)
    bits = nats / math.log(2)
    if not math.isfinite(bits):
        return points
    return [(step, bits), *points]


def _points(curve: list[dict]) -> list[tuple[int, float]]:
    """List (update, dev bits) for the points with finite dev bits."""
    points = []
    for point in curve:
        bits = _dev_bits(point)
        if math.isfinite(bits):
            points.append((point["step"], bits))
    return points


def _dev_bits(point: dict) -> float:
    """Return bits per character or subword, NaN if missing."""
    if point.get("dev_bpc") is not None:
        return point["dev_bpc"]
    return math.log2(point.get("dev_ppl") or math.nan)


def unsolved(runs: pd.DataFrame) -> pd.Series:
    """Say of each run whether its configuration has not learned its task, in the mean over seeds.

    A task that does not say when it is solved has no such run.
    """
    found = np.zeros(len(runs), dtype=bool)
    for task in runs["task"].unique():
        solved = TASKS[task].solved
        if solved is None:
            continue
        is_mine = (runs["task"] == task).to_numpy()
        mine = runs[is_mine]
        ended = mine.assign(score=mine[solved.quantity].where(mine["status"] == "ok").astype(float))
        mean = ended.groupby(CONFIGURATION, dropna=False)["score"].transform("mean")
        # by position, as above
        found[is_mine] = (mean < solved.least).to_numpy()
    return pd.Series(found, index=runs.index)


def supports_nothing(runs: pd.DataFrame) -> pd.Series:
    """Say of each run whether nothing is concluded from it: its learned spans have hardly moved, or
    it has not learned its task.
    """
    return hardly_moved(runs) | unsolved(runs)


def learned_spans(runs: pd.DataFrame) -> pd.DataFrame:
    """Select the finished runs whose models learn their spans."""
    return runs[runs["span"].isin(LEARNED)]


def hardly_moved(runs: pd.DataFrame) -> pd.Series:
    """Mark the finished runs whose learned spans barely moved from their initial values, though S
    allows longer ones.

    Each configuration (dataset, S, k, model size) is judged by the mean over its own seeds. A span
    that starts at its limit cannot grow and is not marked.
    """
    is_learned = runs["span"].isin(LEARNED)
    if not is_learned.any():
        return pd.Series(False, index=runs.index)
    # a table of runs has hundreds of columns, which need not be copied
    learned = runs.loc[is_learned, [*CONFIGURATION, *SPANS, "S"]]
    places = list(zip(*(learned[name] for name in CONFIGURATION), strict=True))
    mean_span, start_span = (_over_seeds(learned[name], places) for name in SPANS)
    least = GROWN * (start_span + 1)
    marked = ~(learned["S"].to_numpy(float) <= least) & (mean_span < least)
    # by position, because a table of runs joined from several may repeat its index
    still = np.zeros(len(runs), dtype=bool)
    still[is_learned] = marked
    return pd.Series(still, index=runs.index)


def _over_seeds(values: pd.Series, places: list[tuple]) -> np.ndarray:
    """Give each run the mean over the seeds of its configuration. places: of each run.

    Tables ask this of a few runs at a time, for which a `groupby` takes several times as long.
    """
    known = [tuple(None if pd.isna(part) else part for part in place) for place in places]
    seeds: dict[tuple, list[float]] = {}
    for place, value in zip(known, values, strict=True):
        if pd.notna(value):
            seeds.setdefault(place, []).append(value)
    means = {place: fmean(of_place) for place, of_place in seeds.items()}
    return np.array([means.get(place, math.nan) for place in known])
