"""Not built yet."""

import pandas as pd

from workflow.figures._style import nothing

TITLE = CAPTION = "not built yet"


def used(runs: pd.DataFrame) -> pd.DataFrame:
    return runs.head(0)


def data(runs: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame()


def draw(data: pd.DataFrame):
    return nothing("not built yet")
