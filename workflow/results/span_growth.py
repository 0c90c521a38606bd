"""Did learned spans grow? A stated rule on where they began and where they ended."""

import pandas as pd

GROWN = 1.25  # a span has grown when it is this many times as long as its start and a key


def learned_spans(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs, finished ones, whose nets learn how far to look."""
    return runs[runs["span"].isin(["adaptive", "dynamic"])]


def stayed(runs: pd.DataFrame) -> bool:
    """Whether no mean learned span of these finished runs has grown, though one at least had room to."""
    learned = learned_spans(runs)
    least = GROWN * (learned["start_span"] + 1)
    has_room = ~(learned["S"] <= least)
    return bool(has_room.any()) and bool((learned["mean_span"] < least)[has_room].all())
