"""What a control at test time says of a method: was length lost to dispersion, or to ranking?

A control gives a trained model other weights. What it wins back at long test lengths was lost
because attention dispersed. Where it hurts at the training length, the model needs soft weights,
and the control says nothing.
"""

from dataclasses import dataclass
from statistics import fmean

import pandas as pd

from studies.long_context.tables._reach import ACCURACY, NOT_SOLVED, is_solved
from workflow.results.conditions import scores_at
from workflow.results.runs_table import finished

CONTROLS = {
    "hard maximum": "test_hard_accuracy",
    "sharper scores": "test_sharper_accuracy",
}
TRAINED = 1.0  # the longest training length itself, as a multiple
MOST_LOST = 2.0  # points of accuracy that a control may cost there


@dataclass(frozen=True)
class Control:
    """A control of one method on one task.

    name: one of `CONTROLS`. changes: points of token accuracy that it brings at the training
    length, one number for each seed. won_back: the same at the largest multiple.
    why_not: why nothing can be concluded; empty where something can.
    """

    name: str
    changes: list[float]
    won_back: list[float]
    why_not: str


def controls_of(runs: pd.DataFrame, largest: float) -> list[Control]:
    """Compare each control with the models as trained; empty where no run has ended well.

    runs: of one method on one task. largest: the multiple at which it is said what is won back.
    """
    controls = []
    for name, quantity in CONTROLS.items():
        at_training = _changes(runs, TRAINED, quantity)
        if not at_training:
            continue
        why_not = ""
        if not is_solved(runs):
            why_not = NOT_SOLVED
        elif fmean(at_training) < -MOST_LOST:
            why_not = f"loses over {MOST_LOST:g} points at 1×: no conclusion"
        won_back = _changes(runs, largest, quantity)
        controls.append(Control(name, at_training, won_back, why_not))
    return controls


def _changes(runs: pd.DataFrame, multiple: float, quantity: str) -> list[float]:
    """List by how much a control changes the accuracy of each run at a multiple."""
    there = scores_at(finished(runs), multiple, ACCURACY, quantity)
    changes = there[quantity] - there[ACCURACY]
    return changes.dropna().tolist()
