"""What a claim can measure: registered quantities and derived ones, with their titles and units.

The plan reads this, so it imports no pandas. `workflow.claims.points` reads the values.
"""

from collections.abc import Iterable

from workflow.results.registry import MEASURED_BY, REGISTRY, SPEEDS
from workflow.tasks.quantities import SCORED

# in place of a question: claims about layers, which are measured without a run, and claims that a
# formula recomputes
LAYERS = "layers"
FORMULAS = "formulas"

SPANS = REGISTRY["mean_span"].tasks
DERIVED = {  # measure: title, unit, and the tasks that have it
    "span_share": ("mean span as a fraction of S", "of S", SPANS),
    "lower_over_upper_span": (
        "mean span of the lower layers relative to the upper layers",
        "×",
        SPANS,
    ),
    "longest_over_mean_span": ("longest span relative to the mean span", "×", SPANS),
    "ms": ("time of a layer", "ms", (LAYERS,)),
    "bytes": ("memory of a layer", "bytes", (LAYERS,)),
}
CLAIMABLE = {
    name: (quantity.title, quantity.unit, quantity.tasks)
    for name, quantity in REGISTRY.items()
    if quantity.claimable
} | DERIVED
UNITS = {name: unit for name, (_, unit, _) in CLAIMABLE.items()}
# measured once, without an interval: the relative difference between two processes with the same
# model, as on a CPU
COUNTED = {"memory_train_bytes": 0.2, "longest_S": 0.0, "bytes": 0.0}


def has_measure(task: str, measure: str) -> bool:
    """Return whether the runs of a task have a measure. task: the name of a task, or LAYERS."""
    return task in CLAIMABLE[measure][2]


def title_of_measure(measure: str) -> str:
    """Return the title of a measure."""
    return CLAIMABLE[measure][0]


def split_of(measures: Iterable[str]) -> str:
    """Return the split on which all measures are scored, `dev` or `test`; empty for a cost or a
    span.
    """
    return next(
        (split for split in SCORED if all(name.startswith(f"{split}_") for name in measures)), ""
    )


def kind_of_pairs(measure: str) -> str:
    """Name what a pair shares besides the corpus: `seed`, `round` of a timing, or `measurement` of
    a count.
    """
    if measure in SPEEDS or measure == "ms":
        return "round"
    return "measurement" if measure in MEASURED_BY or measure in COUNTED else "seed"
