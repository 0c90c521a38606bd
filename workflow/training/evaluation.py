"""What a task tells of a trained model, and of a few samples before the first update."""

from dataclasses import dataclass
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
class Evaluation:
    """What a trained model scores.

    metrics: by the names of the task's `quantities`; None for one whose computation failed, whose
    reason the task then keeps in its `missing`.
    facts: by name, whatever JSON can store.
    macs: None where they could not be counted.
    """

    metrics: dict[str, Score | None]
    facts: dict[str, Any]
    macs: MacCounts | None = None


@dataclass(frozen=True)
class Sample:
    """What a model that has not learned scores on a few samples.

    point: columns of the learning curve. metrics, facts: as of an `Evaluation`.
    """

    point: dict[str, float | None]
    metrics: dict[str, Score]
    facts: dict[str, Any]
