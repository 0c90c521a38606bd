"""What a text of known limit gives at best: the bpc of its best reader, by what that reader sees."""

import pandas as pd

WORDS = 0  # the window of a reader that sees its word so far and nothing before it
PAYS = 0.01  # bpc that more characters must bring, to be said to pay


def best_bpc(best_reader: pd.DataFrame) -> float | None:
    """Give the bpc of the reader of all of the past; None where no limit is known."""
    whole = best_reader[best_reader["window"].isna()]["bpc"]
    return float(whole.iloc[0]) if len(whole) else None


def words_bpc(best_reader: pd.DataFrame) -> float | None:
    """Give the bpc of the reader of nothing but its word so far."""
    words = best_reader[best_reader["window"] == WORDS]["bpc"]
    return float(words.iloc[0]) if len(words) else None


def windows(best_reader: pd.DataFrame) -> pd.DataFrame:
    """window, bpc of the readers of the last `window` characters, the shortest first."""
    seen = best_reader[best_reader["window"] > WORDS].astype({"window": int})
    return seen.sort_values("window")[["window", "bpc"]]


def paying_window(best_reader: pd.DataFrame) -> int | None:
    """The shortest window whose reader is within `PAYS` of the best: what lies farther back does not pay."""
    near = windows(best_reader)
    near = near[near["bpc"] <= (best_bpc(best_reader) or 0) + PAYS]
    return int(near["window"].iloc[0]) if len(near) else None


def with_share(runs: pd.DataFrame, best_reader: pd.DataFrame) -> pd.DataFrame:
    """The runs with `above_best`, their test bpc above that of the best reader, and `share`, in %.

    share: of what can be gained, from the reader of its word alone to the best, what the run has gained; nothing where
    it is worse than the former. Above 100 % no net can be: one that is has seen what it predicts.
    """
    best, words = best_bpc(best_reader), words_bpc(best_reader)
    if best is None or words is None:
        return runs.assign(above_best=None, share=None)
    gained = (words - runs["test_bpc"]).clip(lower=0)
    return runs.assign(above_best=runs["test_bpc"] - best, share=100 * gained / (words - best))
