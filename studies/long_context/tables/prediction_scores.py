"""How good the predictions about methods were, by task."""

import pandas as pd

from studies.long_context.tables._prediction_tables import ABOUT_SCORES, SCORES, score_by_task
from studies.long_context.tables._predictions import METHODS

READS = ("runs",)
TITLE = SCORES
CAPTION = ABOUT_SCORES


def build(runs: pd.DataFrame) -> pd.DataFrame:
    return score_by_task(METHODS, runs)
