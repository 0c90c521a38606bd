"""The records that came with the project, as tables and figures see them."""

from functools import cache

import pandas as pd

from workflow.compare.result_set import ResultSet, read_set
from workflow.config.files import PRECOMPUTED
from workflow.results.precomputed import content_of
from workflow.results.runs_table import BEST_READER, TOPIC_BORDERS, Frames

SCALES = sorted(folder.name for folder in PRECOMPUTED.iterdir() if folder.is_dir())


@cache
def recorded(scale: str) -> ResultSet:
    return read_set(PRECOMPUTED / scale)


def wholes(scale: str, kind: str) -> list[dict]:
    """What is measured of a scale as a whole, or of each of its texts."""
    return [content_of(path) for path in sorted((PRECOMPUTED / scale / "whole" / kind).glob("*.json"))]


def frames_of(scale: str) -> Frames:
    """All that a table or figure of a scale can read."""
    of_texts = [
        pd.DataFrame([row for content in wholes(scale, kind) for row in content["rows"]], columns=list(columns))
        for kind, columns in (("best_reader", BEST_READER), ("topic_borders", TOPIC_BORDERS))
    ]
    return Frames(recorded(scale).runs, recorded(scale).layers, *of_texts)
