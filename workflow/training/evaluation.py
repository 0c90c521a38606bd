"""What a run tells its record: of its training, and of what its model scores. Imports no torch."""

from dataclasses import dataclass, field
from typing import Any

from workflow.config.missing import Missing

Score = float | Missing


@dataclass(frozen=True)
class MacCounts:
    """Multiply-accumulates per predicted token, in the three readings of a record's `Macs`.

    paper is None for a task whose papers have no formula.
    """

    dense: float
    executed: float
    paper: float | None = None


@dataclass(frozen=True)
class ScoredAt:
    """What a trained model scores at one value of its task's condition.

    at: the value. count: samples scored. metrics: by the names of the task's `quantities`.
    """

    at: float
    count: int
    metrics: dict[str, float]


@dataclass(frozen=True)
class Evaluation:
    """What a trained model scores.

    metrics: by the names of the task's `quantities`; None for one whose computation failed, whose
    reason the task then keeps in its `missing`.
    facts: by name, whatever JSON can store.
    macs: None where they could not be counted.
    over_condition: scores at each value of the task's condition, if it has one.
    """

    metrics: dict[str, Score | None]
    facts: dict[str, Any]
    macs: MacCounts | None = None
    over_condition: tuple[ScoredAt, ...] = ()


@dataclass(frozen=True)
class Sample:
    """What a model that has not learned scores on a few samples.

    point: columns of the learning curve. metrics, facts: as of an `Evaluation`.
    """

    point: dict[str, float | None]
    metrics: dict[str, Score]
    facts: dict[str, Any]


@dataclass(frozen=True)
class Story:
    """What a run tells until its end.

    curve: points of the learning curve. log: the lines that it printed. losses: see `Run`.
    weights: the tensors of a trained model, by the names of its state; empty until it is trained.
    """

    curve: list[dict[str, Any]] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    weights: dict[str, Any] = field(default_factory=dict)
