"""How good the predictions about positions were, by task."""

import pandas as pd

from studies.long_context.tables._prediction_tables import ABOUT_SCORES, SCORES, score_by_task
from studies.long_context.tables._predictions import POSITIONS

READS = ("runs",)
TITLE = SCORES
CAPTION = ABOUT_SCORES


def build(runs: pd.DataFrame) -> pd.DataFrame:
    return score_by_task(POSITIONS, runs)
