"""Was it trained enough? Stated rules on the last part of a learning curve, and on how far spans grew.

The curve is read in bits per character, or per piece: bpc, or the logarithm of the perplexity. It had flattened where
the last quarter of the updates brought less than `FLAT` bits on dev.
"""

import math

import pandas as pd

FLAT = 0.02  # bits; claims are about differences of this size
LATE = 0.25  # of all updates
GROWN = 1.25  # times its start and one key that a span must reach to have grown


def late_gain(curve: list[dict]) -> float | None:
    """Compute the bits per character or piece that the last quarter of the updates brought on dev, or None.

    None where the curve has fewer than two points.

    Between two points of the curve its course is taken as straight.
    """
    points = [(point["step"], bits) for point in curve if math.isfinite(bits := _dev_bits(point))]
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


def _dev_bits(point: dict) -> float:
    """Return bits per character or piece, NaN where there are none."""
    if point.get("dev_bpc") is not None:
        return point["dev_bpc"]
    return math.log2(point.get("dev_ppl") or math.nan)


def learned_spans(runs: pd.DataFrame) -> pd.DataFrame:
    """Select, of finished runs, those whose nets learn how far to look."""
    return runs[runs["span"].isin(["adaptive", "dynamic"])]


def stayed(runs: pd.DataFrame) -> bool:
    """Say whether no mean learned span of these finished runs has grown, though one at least had room to."""
    learned = learned_spans(runs)
    least = GROWN * (learned["start_span"] + 1)
    has_room = ~(learned["S"] <= least)
    return bool(has_room.any()) and bool((learned["mean_span"] < least)[has_room].all())
