"""What every number of the suite is, said once: its title, unit, direction, and where it comes from.

Scores and facts of a task stand in its folder; here stands what every run has, and what is measured of it.

A metric or fact that a record holds, and a cost that was measured, must stand here: tables, pages and claims take their
titles and units from it, and a record with another name is refused.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal, get_args

from workflow.config.errors import check_known
from workflow.results.statistics import UNBOUNDED, Bounds
from workflow.tasks.spec import TASKS
from workflow.tasks.task import Quantity, fact, merge_quantities

COSTS = ("flops", "memory", "longest_span", "throughput")  # what is measured of a configuration after its training
OF_TEXTS = ("optimal_predictor", "topic_borders")  # what is measured of a text of topics
Source = Literal["metric", "fact", "curve", "run", "flops", "memory", "longest_span", "throughput"]
SPREAD = "half its 95 % interval over turns as a share of it"
QUIET = "the reference step on the quiet machine, ms; timings with another value are of another machine"
PER = "multiply-adds for one predicted character or piece"
DENSE, EXECUTED = f"{PER}, in the dense graph of the definition", f"{PER}, of the engine's code in torch"
FROM_SHAPES = "multiply-adds / character or piece: from shapes"


def _timed(kind: str, speed: str, step: str) -> list[Quantity]:
    """List what is kept of a step that was timed in turns."""
    what = step.removesuffix(", ms")
    return [
        Quantity(f"{kind}_tokens_per_s", speed, "tokens / s", "throughput", better="higher", claimable=True),
        Quantity(f"{kind}_ms", step, "", "throughput", better="lower", meaning=f"{what}, mean over its turns"),
        Quantity(f"{kind}_spread", f"{what}, {SPREAD}", "", "throughput"),
        Quantity(f"{kind}_turns", "its turns", "ms", "throughput", number=False),
        Quantity(f"{kind}_references", "the reference step beside them", "ms", "throughput", number=False),
    ]


_OF_ALL_TASKS = [
    fact("spans", "spans of the heads", "characters"),
    fact("alpha", "alpha of the heads"),
    Quantity("late_gain", "dev bits that the last quarter of the updates brought", "bits", "curve", bounds=UNBOUNDED),
    # what the run itself cost
    Quantity("parameters", "#params", "parameters", "run", better="lower"),
    Quantity("seconds", "training time", "s", "run", better="lower"),
    Quantity("tokens_per_s", "speed of the run", "tokens / s", "run", better="higher"),
    Quantity("peak_memory_bytes", "peak memory of the run", "bytes", "run", better="lower"),
    Quantity("macs_dense", "dense", "multiply-adds", "run", "lower", meaning=DENSE),
    Quantity("macs_executed", "executed", "multiply-adds", "run", "lower", claimable=True, meaning=EXECUTED),
    # what is measured of a configuration
    Quantity("macs_analytic", FROM_SHAPES, "", "flops", "lower", meaning=f"{PER}, from the shapes of the net"),
    Quantity("macs_torch", "counted by torch", "", "flops", better="lower", meaning=f"{PER}, counted by torch"),
    Quantity("macs_fvcore", "counted by fvcore", "", "flops", better="lower", meaning=f"{PER}, counted by fvcore"),
    Quantity("unsupported", "operators that fvcore does not count", "", "flops", number=False),
    Quantity("memory_train_bytes", "memory of a training step", "bytes", "memory", better="lower", claimable=True),
    Quantity("memory_evaluate_bytes", "memory of a block of evaluation", "bytes", "memory", better="lower"),
    Quantity("memory_reserved_bytes", "memory that the allocator reserves", "bytes", "memory", better="lower"),
    Quantity("reference_ms", "reference step, ms", "", "throughput", meaning=QUIET),
    Quantity("quiet", "whether the machine was quiet", "", "throughput", number=False),
    *_timed("train", "training speed", "a training step, ms"),
    *_timed("predict", "prediction speed", "a prediction, ms"),
    *_timed("library_train", "training speed with the entmax library", "a training step, entmax library, ms"),
    *_timed("library_predict", "prediction speed with the entmax library", "a prediction, entmax library, ms"),
]
_QUANTITIES = sorted(
    [*merge_quantities(TASKS.values()), *(replace(quantity, tasks=tuple(TASKS)) for quantity in _OF_ALL_TASKS)],
    key=lambda quantity: get_args(Source).index(quantity.source),
)
REGISTRY = {quantity.name: quantity for quantity in _QUANTITIES}


def names(*sources: Source) -> list[str]:
    """Name the quantities that come from these sources, in their order."""
    return [quantity.name for quantity in _QUANTITIES if quantity.source in sources]


def bounds_of(name: str) -> Bounds:
    """Return the least and the most that a quantity can be; no bounds of one that is not registered."""
    return REGISTRY[name].bounds if name in REGISTRY else UNBOUNDED


def check_registered(kind: Source, of: str, wanted: Iterable[str]) -> None:
    """Raise `ConfigError` with the nearest name where no task has such a metric or fact. of: what gives them."""
    for name in wanted:
        check_known(f"{kind} of {of} (the `quantities` of a task name them)", name, names(kind))
