"""Each prediction about positions, with its probability and what came out."""

import pandas as pd

from studies.long_context.tables._prediction_tables import ABOUT_OUTCOMES, OUTCOMES, list_outcomes
from studies.long_context.tables._predictions import POSITIONS

READS = ("runs",)
TITLE = OUTCOMES
CAPTION = ABOUT_OUTCOMES


def build(runs: pd.DataFrame) -> pd.DataFrame:
    return list_outcomes(POSITIONS, runs)
