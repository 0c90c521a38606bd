"""What was predicted of recall and length before any seed that judges was trained.

A prediction is a statement that the runs of a question decide: a mean over seeds is above a bound.
docs/decisions/0036-predictions-first.md has the rules, and when these lists were written.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

import pandas as pd

from workflow.results.conditions import scores_at
from workflow.results.runs_table import finished

# What was known when a prediction was made.
Known = Literal["nothing", "pilot", "replication"]
METHODS, POSITIONS = "where_sparse_helps", "recall_positions"  # questions
SCALE = "overnight"  # at which they are decided
REACH = "test_reach"  # doublings of the training length at 90 % token accuracy
TRAINED = 1.0  # the training length itself, as a multiple


@dataclass(frozen=True)
class Side:
    """A number of a variant: its mean over seeds, or the best of them.

    at: the multiple of the training length, of a score over length; None of one of the run.
    """

    variant: str
    measure: str = REACH
    at: float | None = None
    best: bool = False

    def read(self, runs: pd.DataFrame) -> float | None:
        """Read the number off the runs of one task; None where no run has it."""
        mine = finished(runs[runs["variant"] == self.variant])
        if self.at is not None:
            mine = scores_at(mine, self.at, self.measure)
        values = mine[self.measure].dropna().astype(float)
        if values.empty:
            return None
        return float(values.max() if self.best else values.mean())


@dataclass(frozen=True)
class Prediction:
    """A statement, the probability that was given to it, and what decides it.

    task: the problem. question: whose runs decide it. It is true if ours, less `than` where that is
    given, is above the bound; with `below`, if it is below.
    """

    task: str
    statement: str
    probability: float
    known: Known
    ours: Side
    than: Side | None = None
    bound: float = 0.0
    below: bool = False
    question: str = METHODS

    def runs(self, runs: pd.DataFrame) -> pd.DataFrame:
        """Select the runs that decide it from those of all questions."""
        variants = [side.variant for side in (self.ours, self.than) if side]
        is_mine = runs["variant"].isin(variants) & (runs["paper_corpus"] == self.task)
        return runs[is_mine & (runs["question"] == self.question) & (runs["scale"] == SCALE)]

    def outcome(self, runs: pd.DataFrame) -> bool | None:
        """Decide it by the runs of its question; None where a side has no run."""
        of_task = self.runs(runs)
        value = self.ours.read(of_task)
        if self.than is not None:
            other = self.than.read(of_task)
            value = None if value is None or other is None else value - other
        if value is None:
            return None
        return value < self.bound if self.below else value > self.bound


@dataclass(frozen=True)
class Scores:
    """Brier scores, the mean squared difference between probability and outcome; less is better.

    ours: of the predictions. even: of 50 % for each. base_rate: of the share of true ones, which is
    known only afterwards.
    """

    count: int
    ours: float
    even: float
    base_rate: float


def brier(probabilities: Sequence[float], outcomes: Sequence[bool]) -> Scores:
    """Score probabilities by what came out."""
    share = fmean(outcomes)
    return Scores(
        count=len(outcomes),
        ours=_brier(probabilities, outcomes),
        even=_brier([0.5] * len(outcomes), outcomes),
        base_rate=_brier([share] * len(outcomes), outcomes),
    )


def _brier(probabilities: Sequence[float], outcomes: Sequence[bool]) -> float:
    return fmean((p - came) ** 2 for p, came in zip(probabilities, outcomes, strict=True))


def reaches_further(
    task: str, ours: str, than: str, probability: float, known: Known = "nothing"
) -> Prediction:
    """Predict that one variant reaches further than another, in the mean over seeds."""
    statement = f"{NAMES[ours]} reaches further than {NAMES[than]}."
    return Prediction(task, statement, probability, known, Side(ours), Side(than))


def reaches_with(
    task: str, ours: tuple[str, str], than: tuple[str, str], probability: float
) -> Prediction:
    """Predict that a method with a position scheme reaches further than another with its own.

    ours, than: (method, position scheme), both as in the question.
    """
    statement = " reaches further than ".join(
        f"{WITH_POSITIONS[method]} with {SCHEMES[scheme]}" for method, scheme in (ours, than)
    )
    sides = []
    for method, scheme in (ours, than):
        variant = method if scheme == "nape" else f"{method}_{scheme}"
        sides.append(Side(variant))
    return Prediction(task, f"{statement}.", probability, "nothing", *sides, question=POSITIONS)


def keeps_under(task: str, variant: str, at: float, bound: float, p: float, known: Known):
    """Predict that the token accuracy of a variant is below a bound at a length."""
    statement = f"{NAMES[variant]} is below {bound:g} % token accuracy at {at:g}×."
    ours = Side(variant, "test_accuracy", at)
    return Prediction(task, statement, p, known, ours, bound=bound, below=True)


def hard_wins_back(task: str, variant: str, at: float, points: float, p: float, known: Known):
    """Predict that the hard maximum gives back more than so many points at a length."""
    statement = (
        f"The hard maximum wins back more than {points:g} points of {NAMES[variant]} at {at:g}×."
    )
    ours = Side(variant, "test_hard_accuracy", at)
    than = Side(variant, "test_accuracy", at)
    return Prediction(task, statement, p, known, ours, than, bound=points)


def hard_loses(task: str, variant: str, p: float, known: Known = "nothing") -> Prediction:
    """Predict that the hard maximum loses more than two points at the training length."""
    statement = f"At the training length the hard maximum loses over 2 points of {NAMES[variant]}."
    ours = Side(variant, "test_accuracy", TRAINED)
    than = Side(variant, "test_hard_accuracy", TRAINED)
    return Prediction(task, statement, p, known, ours, than, bound=2.0)


def best_beats_mean(task: str, ours: str, than: str, p: float) -> Prediction:
    """Predict that the best seed of one variant reaches further than the mean of another."""
    statement = f"The best seed of {NAMES[ours]} reaches further than the mean of {NAMES[than]}."
    return Prediction(task, statement, p, "nothing", Side(ours, best=True), Side(than))


NAMES = {
    "softmax": "softmax",
    "entmax15": "entmax-1.5",
    "sparsemax": "sparsemax",
    "top_2": "top-2",
    "top_8": "top-8",
    "asentmax_one": "ASEntmax (one)",
    "asentmax_scaled": "ASEntmax (scaled)",
    "ssmax": "SSMax",
    "learned_sink": "a learned sink",
    "gate": "an output gate",
    "adaptive_temperature": "adaptive temperature",
}

SCHEMES = {"nape": "NAPE", "nope": "NoPE", "alibi": "ALiBi", "rotary": "RoPE"}
WITH_POSITIONS = {"softmax": "softmax", "entmax15": "entmax-1.5", "asentmax": "ASEntmax (one)"}

PREDICTIONS = (
    # Sort: pilots of softmax and entmax-1.5, and a replication of softmax, entmax and ASEntmax.
    reaches_further("sort", "entmax15", "softmax", 0.85, "pilot"),
    reaches_further("sort", "asentmax_one", "entmax15", 0.5, "replication"),
    reaches_further("sort", "asentmax_scaled", "asentmax_one", 0.4),
    reaches_further("sort", "sparsemax", "softmax", 0.75),
    reaches_further("sort", "top_8", "softmax", 0.75),
    reaches_further("sort", "top_2", "softmax", 0.45),
    reaches_further("sort", "ssmax", "softmax", 0.55),
    reaches_further("sort", "learned_sink", "softmax", 0.5),
    reaches_further("sort", "gate", "softmax", 0.45),
    reaches_further("sort", "adaptive_temperature", "softmax", 0.05, "pilot"),
    keeps_under("sort", "softmax", 16, 50, 0.95, "pilot"),
    keeps_under("sort", "entmax15", 16, 50, 0.7, "pilot"),
    hard_loses("sort", "softmax", 0.95, "pilot"),
    hard_loses("sort", "entmax15", 0.85),
    best_beats_mean("sort", "softmax", "entmax15", 0.25),
    # Maximum retrieval: pilots of softmax, SSMax, top-2 and entmax-1.5 with another model.
    reaches_further("max_retrieval", "entmax15", "softmax", 0.55, "pilot"),
    reaches_further("max_retrieval", "ssmax", "softmax", 0.7, "pilot"),
    reaches_further("max_retrieval", "top_2", "softmax", 0.65, "pilot"),
    reaches_further("max_retrieval", "asentmax_one", "softmax", 0.65),
    reaches_further("max_retrieval", "asentmax_one", "entmax15", 0.6),
    reaches_further("max_retrieval", "adaptive_temperature", "softmax", 0.5, "replication"),
    reaches_further("max_retrieval", "sparsemax", "softmax", 0.55),
    reaches_further("max_retrieval", "learned_sink", "softmax", 0.45),
    hard_wins_back("max_retrieval", "softmax", 16, 3, 0.15, "pilot"),
    hard_loses("max_retrieval", "softmax", 0.1, "pilot"),
    best_beats_mean("max_retrieval", "softmax", "entmax15", 0.6),
    # Recall: softmax alone was tried.
    reaches_further("mqar", "entmax15", "softmax", 0.6),
    reaches_further("mqar", "asentmax_one", "softmax", 0.6),
    reaches_further("mqar", "ssmax", "softmax", 0.65),
    reaches_further("mqar", "top_2", "softmax", 0.4),
    reaches_further("mqar", "sparsemax", "softmax", 0.5),
    reaches_further("mqar", "learned_sink", "softmax", 0.5),
    hard_loses("mqar", "softmax", 0.85, "pilot"),
    # Reverse: pilots of three methods, and a replication.
    reaches_further("reverse", "entmax15", "softmax", 0.7, "replication"),
    reaches_further("reverse", "asentmax_one", "entmax15", 0.45, "replication"),
    reaches_further("reverse", "sparsemax", "softmax", 0.6),
    reaches_further("reverse", "ssmax", "softmax", 0.5),
    reaches_further("reverse", "top_2", "softmax", 0.4),
    reaches_further("reverse", "gate", "softmax", 0.5),
    keeps_under("reverse", "softmax", 8, 50, 0.95, "pilot"),
    keeps_under("reverse", "entmax15", 16, 50, 0.9, "pilot"),
    hard_loses("reverse", "softmax", 0.95, "pilot"),
    # Positions: how far the methods reach with NAPE was known on recall, and by trials on reverse.
    reaches_with("mqar", ("entmax15", "nope"), ("softmax", "nope"), 0.75),
    reaches_with("mqar", ("entmax15", "alibi"), ("softmax", "alibi"), 0.6),
    reaches_with("mqar", ("entmax15", "rotary"), ("softmax", "rotary"), 0.6),
    reaches_with("mqar", ("asentmax", "nope"), ("entmax15", "nope"), 0.6),
    reaches_with("mqar", ("softmax", "nape"), ("softmax", "alibi"), 0.8),
    reaches_with("mqar", ("softmax", "nape"), ("softmax", "rotary"), 0.85),
    reaches_with("mqar", ("softmax", "nape"), ("softmax", "nope"), 0.6),
    reaches_with("reverse", ("entmax15", "nope"), ("softmax", "nope"), 0.45),
    reaches_with("reverse", ("entmax15", "rotary"), ("softmax", "rotary"), 0.4),
    reaches_with("reverse", ("softmax", "nape"), ("softmax", "nope"), 0.6),
    reaches_with("reverse", ("softmax", "nape"), ("softmax", "rotary"), 0.7),
)
