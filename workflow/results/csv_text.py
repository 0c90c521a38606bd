"""A frame as CSV that no spreadsheet computes: a text that begins like a formula gets an apostrophe in front."""

import pandas as pd

FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def csv_text(frame: pd.DataFrame) -> str:
    """Numbers stay as they are."""
    texts = [name for name, dtype in frame.dtypes.items() if not pd.api.types.is_numeric_dtype(dtype)]
    return frame.assign(**{name: frame[name].map(_guarded) for name in texts}).to_csv(index=False)


def _guarded(value):
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULAS) else value
