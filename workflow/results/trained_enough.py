"""Was it trained enough, and did it learn at all? Stated rules on a learning curve, and on how far spans grew.

The curve is read in bits per character, or per piece: bpc, or the logarithm of the perplexity. It had flattened where
the last quarter of the updates brought less than `FLAT` bits on dev. A net that guesses by how often each symbol occurs
learned nothing, and what it is compared with would win by bits. Its record says what that guess scores, the entropy of
single symbols of dev; of older records, which do not, it is a curve that was flat from the start.
"""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

FLAT = 0.02  # bits; claims are about differences of this size
LATE = 0.25  # of all updates
EARLY = 0.15  # of all updates: where a curve must begin, to say by its course alone whether a net learned
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


def learned_nothing(curve: list[dict], losses: Sequence[float] = (), chance: float | None = None) -> str | None:
    """Say that a net learned nothing: dev is not `NOTHING` bits better than chance, or than soon after the start.

    None where it learned, where a net worse than chance was still falling towards it, and where nothing says.

    losses: of a record, in nats, of the first 1, 2, 4, .. updates added up: where the curve begins late they say where
    the net stood before. chance: the entropy of single symbols of dev, in bits, which a net reaches that knows how
    often each occurs and nothing else.
    """
    points = _points(curve)
    if not points:
        return None
    best = min(bits for _, bits in points)
    if chance is not None and best > chance - NOTHING and not _is_falling(points, chance):
        return f"learned nothing: dev has {best:.2f} bits at best; how often each symbol occurs gives {chance:.2f}"
    early, *later = _from_the_start(points, losses)
    if not later or early[0] > EARLY * points[-1][0]:
        return None
    (step, first), best = early, min(bits for _, bits in later)
    if first - best >= NOTHING:
        return None
    stayed = f"dev stayed at {first:.2f} bits from update {step:,} to {later[-1][0]:,}"
    return f"learned nothing: {stayed} ({best:.2f} at best)"


def _is_falling(points: list[tuple[int, float]], chance: float) -> bool:
    """Say whether a net that is worse than chance may be on its way there: its curve fell, or has one point."""
    best = min(bits for _, bits in points)
    return best > chance + NOTHING and (len(points) < 2 or points[0][1] - best >= NOTHING)


def _from_the_start(points: list[tuple[int, float]], losses: Sequence[float]) -> list[tuple[int, float]]:
    """Put the mean loss of the last early updates before a curve that begins late."""
    if len(losses) < 2 or points[0][0] <= EARLY * points[-1][0]:
        return points
    step = 2 ** (len(losses) - 1)  # half of its updates are those since the loss before
    bits = (losses[-1] - losses[-2]) / (step / 2) / math.log(2)
    return [(step, bits), *points] if math.isfinite(bits) else points


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
