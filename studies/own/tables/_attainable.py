"""What a text of known limit gives at best: the bpc of its best reader, by what that reader sees."""

import math

import pandas as pd

WORDS = 0  # stands for the window of a reader that sees its word so far and nothing before it
BOUNDS = {"share": (-math.inf, 100.0), "above_best": (0.0, math.inf)}  # no net predicts better than the best reader
PAYS = 0.01  # bpc: characters farther back pay if they bring more than this


def of_text(optimal_predictor: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Select the readers of the text that these runs read."""
    return optimal_predictor[optimal_predictor["corpus"].isin(runs["corpus"])]


def best_bpc(optimal_predictor: pd.DataFrame) -> float | None:
    """Return the bpc of the reader of all of the past; None where no limit is known."""
    whole = optimal_predictor[optimal_predictor["window"].isna() & optimal_predictor["words"].isna()]["bpc"]
    return float(whole.iloc[0]) if len(whole) else None


def words_bpc(optimal_predictor: pd.DataFrame) -> float | None:
    """Return the bpc of the reader that sees its word so far and nothing before it; None where no limit is known."""
    words = optimal_predictor[optimal_predictor["window"] == WORDS]["bpc"]
    return float(words.iloc[0]) if len(words) else None


def windows(optimal_predictor: pd.DataFrame) -> pd.DataFrame:
    """Return the bpc of the readers of the last `window` characters, shortest window first."""
    seen = optimal_predictor[optimal_predictor["window"] > WORDS].astype({"window": int})
    return seen.sort_values("window")[["window", "bpc"]]


def of_words(optimal_predictor: pd.DataFrame) -> pd.DataFrame:
    """Return the bpc of the readers of the last `words` words that a topic governs, fewest first."""
    seen = optimal_predictor[optimal_predictor["words"].notna()].astype({"words": int})
    return seen.sort_values("words")[["words", "bpc"]]


def paying_window(optimal_predictor: pd.DataFrame) -> int | None:
    """Find the shortest window whose reader is within `PAYS` of the best: what lies farther back does not pay."""
    near = windows(optimal_predictor)
    near = near[near["bpc"] <= (best_bpc(optimal_predictor) or 0) + PAYS]
    return int(near["window"].iloc[0]) if len(near) else None


def with_share(runs: pd.DataFrame, optimal_predictor: pd.DataFrame) -> pd.DataFrame:
    """Add to runs `above_best`, their test bpc above that of the best reader, and `share`, in %.

    share: 0 is the reader of its word alone, 100 the best reader; what is worse than the first is below 0. No net can
    exceed 100: one that does has seen what it predicts.
    """
    best, words = best_bpc(optimal_predictor), words_bpc(optimal_predictor)
    if best is None or words is None:
        return runs.assign(above_best=None, share=None)
    share = 100 * (words - runs["test_bpc"]) / (words - best)
    return runs.assign(above_best=runs["test_bpc"] - best, share=share)
