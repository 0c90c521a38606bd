"""The optimal predictor of a source of known entropy: its bpc by the context that it sees."""

import math

import pandas as pd

WORDS = 0  # the window of a predictor that sees the current word only
# no model beats the optimal predictor
BOUNDS = {"share": (-math.inf, 100.0), "above_best": (0.0, math.inf)}
PAYS = 0.01  # bpc: a longer context helps if it improves the optimal predictor by more than this


def of_text(optimal_predictor: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Select the optimal predictors of the corpus of these runs."""
    return optimal_predictor[optimal_predictor["corpus"].isin(runs["corpus"])]


def best_bpc(optimal_predictor: pd.DataFrame) -> float | None:
    """Return the bpc given the full context; None where the entropy is unknown."""
    is_whole = optimal_predictor["window"].isna() & optimal_predictor["words"].isna()
    return _first(optimal_predictor[is_whole]["bpc"])


def words_bpc(optimal_predictor: pd.DataFrame) -> float | None:
    """Return the bpc given the current word only; None where the entropy is unknown."""
    of_one_word = optimal_predictor[optimal_predictor["window"] == WORDS]
    return _first(of_one_word["bpc"])


def _first(bpc: pd.Series) -> float | None:
    return float(bpc.iloc[0]) if len(bpc) else None


def windows(optimal_predictor: pd.DataFrame) -> pd.DataFrame:
    """Return the bpc given the last `window` characters, shortest window first."""
    seen = optimal_predictor[optimal_predictor["window"] > WORDS].astype({"window": int})
    return seen.sort_values("window")[["window", "bpc"]]


def of_words(optimal_predictor: pd.DataFrame) -> pd.DataFrame:
    """Return the bpc given the last `words` informative words, fewest first."""
    seen = optimal_predictor[optimal_predictor["words"].notna()].astype({"words": int})
    return seen.sort_values("words")[["words", "bpc"]]


def paying_window(optimal_predictor: pd.DataFrame) -> int | None:
    """Find the shortest window whose optimal predictor is within `PAYS` of the full context."""
    seen = windows(optimal_predictor)
    best = best_bpc(optimal_predictor) or 0
    near = seen[seen["bpc"] <= best + PAYS]
    return int(near["window"].iloc[0]) if len(near) else None


def with_share(runs: pd.DataFrame, optimal_predictor: pd.DataFrame) -> pd.DataFrame:
    """Add to runs `above_best`, their test bpc above the optimal predictor, and `share`, in %.

    share: of the achievable improvement. 0 is the optimal predictor given the current word, 100
    given the full context; worse models are below 0. A model above 100 must have seen its targets.
    """
    best = best_bpc(optimal_predictor)
    words = words_bpc(optimal_predictor)
    if best is None or words is None:
        return runs.assign(above_best=None, share=None)
    above_best = runs["test_bpc"] - best
    share = 100 * (words - runs["test_bpc"]) / (words - best)
    return runs.assign(above_best=above_best, share=share)
