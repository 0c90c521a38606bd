"""Was it trained enough, and did it learn at all? Stated rules on a learning curve, and on how far spans grew.

The curve is read in bits per character, or per piece: bpc, or the logarithm of the perplexity. It had flattened where
the last quarter of the updates brought less than `FLAT` bits on dev. A net whose curve was flat from the start learned
nothing: it guesses by how often each character occurs, and what it is compared with would win by bits.
"""

import math

import numpy as np
import pandas as pd

FLAT = 0.02  # bits; claims are about differences of this size
LATE = 0.25  # of all updates
EARLY = 0.15  # of all updates: where a curve must begin, to say whether a net learned
NOTHING = 0.05  # bits; all nets at hand gain .14 or more after their first tenth, or .04 or less
GROWN = 1.25  # times its start and one key that a span must reach to have grown
LEARNED = ("adaptive", "dynamic")  # spans that training moves
UNMOVED = "learned spans have hardly moved from their start: no conclusion about spans"
# `configuration` names the dataset, S, k and size already; a table of another origin may lack that
CONFIGURATION = ["configuration", "corpus", "size"]


def late_gain(curve: list[dict]) -> float | None:
    """Compute the bits per character or piece that the last quarter of the updates brought on dev, or None.

    None where the curve has fewer than two points.

    Between two points of the curve its course is taken as straight.
    """
    points = _points(curve)
    if len(points) < 2:
        return None
    last, final = points[-1]
    begins = last * (1 - LATE)
    later = [point for point in points if point[0] > begins]
    earlier = [point for point in points if point[0] <= begins] or [points[0]]
    (step, bits), (following, after) = earlier[-1], later[0]
    if following > step:
        bits += (after - bits) * max(0.0, begins - step) / (following - step)
    return bits - final


def converged(late_gain: float | None) -> bool:
    """Say whether a curve had flattened; None, where training changes nothing or there is no curve, counts as that."""
    return (late_gain or 0.0) <= FLAT


def learned_nothing(curve: list[dict]) -> str | None:
    """Say that a net learned nothing: its dev score gained less than `NOTHING` bits after the first point of its curve.

    None where it learned, and where the curve begins too late to say.
    """
    points = _points(curve)
    if len(points) < 2 or points[0][0] > EARLY * points[-1][0]:
        return None
    (step, first), best = points[0], min(bits for _, bits in points[1:])
    if first - best >= NOTHING:
        return None
    return f"learned nothing: dev stayed at {first:.2f} bits after {step:,} updates ({best:.2f} at best)"


def _points(curve: list[dict]) -> list[tuple[int, float]]:
    """List updates and bits on dev, where they are numbers."""
    return [(point["step"], bits) for point in curve if math.isfinite(bits := _dev_bits(point))]


def _dev_bits(point: dict) -> float:
    """Return bits per character or piece, NaN where there are none."""
    if point.get("dev_bpc") is not None:
        return point["dev_bpc"]
    return math.log2(point.get("dev_ppl") or math.nan)


def learned_spans(runs: pd.DataFrame) -> pd.DataFrame:
    """Select, of finished runs, those whose nets learn how far to look."""
    return runs[runs["span"].isin(LEARNED)]


def hardly_moved(runs: pd.DataFrame) -> pd.Series:
    """Mark the finished runs whose learned spans hardly moved from their start, though the limit S left them room.

    Each configuration (dataset, S, k, size of the model) is judged by the mean over its own seeds, so that none vouches
    for another. A span that starts at its limit has no room, and is not marked.
    """
    learned = learned_spans(runs)
    over_seeds = learned.groupby(CONFIGURATION, dropna=False)[["mean_span", "start_span"]].transform("mean")
    least = GROWN * (over_seeds["start_span"] + 1)
    marked = ~(learned["S"] <= least) & (over_seeds["mean_span"] < least)
    # by position, because a table of runs that was joined from several may repeat its index
    still = np.zeros(len(runs), dtype=bool)
    still[runs["span"].isin(LEARNED)] = marked
    return pd.Series(still, index=runs.index)
