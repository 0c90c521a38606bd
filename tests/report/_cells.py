"""Looking up the cells of a table."""

import pandas as pd


def at(cells: pd.DataFrame, row: str, column: str) -> pd.Series:
    matching = cells[(cells["row"] == row) & (cells["column"] == column)]
    assert len(matching) == 1, (row, column)
    return matching.iloc[0]
