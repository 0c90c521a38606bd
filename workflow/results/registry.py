"""The registry of all quantities: the title, unit, direction and source of each.

The scores and facts of a task are defined in the folder of the task. This module defines what every
run has, and the costs that are measured for a configuration.

Every metric or fact in a record, and every measured cost, must be listed here. Tables, pages and
claims take titles and units from the registry, and a record with an unknown name is refused.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal, get_args

from workflow.config.choices import choice_facts
from workflow.config.errors import check_known
from workflow.results.statistics import UNBOUNDED, Bounds
from workflow.tasks.spec import TASKS
from workflow.tasks.task import Quantity, fact, merge_quantities

# measured for a configuration after its training
COSTS = ("flops", "memory", "longest_span", "throughput")
# what is timed, each with its speed
KINDS = ("train", "predict", "library_train", "library_predict")
SPEEDS = {f"{kind}_tokens_per_s": kind for kind in KINDS}
OF_TEXTS = ("optimal_predictor", "topic_borders")  # measured on a synthetic corpus
Source = Literal["metric", "fact", "curve", "run", "flops", "memory", "longest_span", "throughput"]
SPREAD = "half-width of its 95 % interval over rounds, as a fraction of the mean"
QUIET = "the reference step on the idle machine, ms; timings with another value come from another machine"
PER = "multiply-accumulate operations (MACs) per predicted character or subword"
DENSE = f"{PER}, of the dense definition"
EXECUTED = f"{PER}, executed by the engine in PyTorch"
FROM_SHAPES = "MACs per character or subword, from tensor shapes"


def _timed(kind: str, speed: str, step: str) -> list[Quantity]:
    """List the quantities of a step that is timed in interleaved rounds."""
    what = step.removesuffix(", ms")
    return [
        Quantity(
            f"{kind}_tokens_per_s", speed, "tokens/s", "throughput", better="higher", claimable=True
        ),
        Quantity(
            f"{kind}_ms",
            step,
            "",
            "throughput",
            better="lower",
            meaning=f"{what}, mean over rounds",
        ),
        Quantity(f"{kind}_spread", f"{what}, {SPREAD}", "", "throughput"),
        Quantity(f"{kind}_turns", "its rounds", "ms", "throughput", number=False),
        Quantity(
            f"{kind}_references",
            "the reference step of each round",
            "ms",
            "throughput",
            number=False,
        ),
    ]


_OF_ALL_TASKS = [
    *(fact(each.name, each.title, each.unit) for each in choice_facts() if each.by_head),
    Quantity(
        "late_gain",
        "dev improvement in the last quarter of training",
        "bits",
        "curve",
        bounds=UNBOUNDED,
    ),
    # the cost of the run itself
    Quantity("parameters", "#params", "parameters", "run", better="lower"),
    Quantity("seconds", "training time", "s", "run", better="lower"),
    Quantity("tokens_per_s", "training throughput of the run", "tokens/s", "run", better="higher"),
    Quantity("peak_memory_bytes", "peak memory of the run", "bytes", "run", better="lower"),
    Quantity("macs_dense", "MACs, dense", "MACs", "run", "lower", meaning=DENSE),
    Quantity(
        "macs_executed", "MACs, executed", "MACs", "run", "lower", claimable=True, meaning=EXECUTED
    ),
    # measured for a configuration
    Quantity(
        "macs_analytic", FROM_SHAPES, "", "flops", "lower", meaning=f"{PER}, from tensor shapes"
    ),
    Quantity(
        "macs_torch",
        "MACs counted by PyTorch",
        "",
        "flops",
        "lower",
        meaning=f"{PER}, counted by PyTorch",
    ),
    Quantity(
        "macs_fvcore",
        "MACs counted by fvcore",
        "",
        "flops",
        "lower",
        meaning=f"{PER}, counted by fvcore",
    ),
    Quantity("unsupported", "operators that fvcore does not count", "", "flops", number=False),
    Quantity(
        "memory_train_bytes", "training memory", "bytes", "memory", better="lower", claimable=True
    ),
    Quantity("memory_evaluate_bytes", "evaluation memory", "bytes", "memory", better="lower"),
    Quantity(
        "memory_reserved_bytes",
        "memory reserved by the allocator",
        "bytes",
        "memory",
        better="lower",
    ),
    Quantity("reference_ms", "reference step, ms", "", "throughput", meaning=QUIET),
    Quantity("quiet", "whether the machine was idle", "", "throughput", number=False),
    *_timed("train", "training speed", "step time, ms"),
    *_timed("predict", "prediction speed", "prediction time, ms"),
    *_timed("library_train", "training speed (entmax library)", "step time (entmax library), ms"),
    *_timed(
        "library_predict",
        "prediction speed (entmax library)",
        "prediction time (entmax library), ms",
    ),
]
_QUANTITIES = sorted(
    [
        *merge_quantities(TASKS.values()),
        *(replace(quantity, tasks=tuple(TASKS)) for quantity in _OF_ALL_TASKS),
    ],
    key=lambda quantity: get_args(Source).index(quantity.source),
)
REGISTRY = {quantity.name: quantity for quantity in _QUANTITIES}
# costs, which one measurement of a configuration gives for all of its seeds
MEASURED_BY = {
    name: quantity.source for name, quantity in REGISTRY.items() if quantity.source in COSTS
}


def names(*sources: Source) -> list[str]:
    """List the names of the quantities from these sources, in registry order."""
    return [quantity.name for quantity in _QUANTITIES if quantity.source in sources]


def bounds_of(name: str) -> Bounds:
    """Return the minimum and maximum of a quantity; an unregistered one is unbounded."""
    return REGISTRY[name].bounds if name in REGISTRY else UNBOUNDED


def check_registered(kind: Source, of: str, wanted: Iterable[str]) -> None:
    """Raise `ConfigError` with the nearest known name if no task has this metric or fact. of: their
    origin.
    """
    for name in wanted:
        check_known(f"{kind} of {of} (the `quantities` of a task name them)", name, names(kind))
