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
from workflow.tasks.quantities import Direction, Quantity, fact
from workflow.tasks.spec import TASKS
from workflow.tasks.task import merge_quantities

# measured for a configuration after its training
COSTS = ("flops", "memory", "longest_span", "throughput")
OVER_S = "costs_over_S"  # of the configurations of a card
# what is timed, each with its speed
KINDS = ("train", "predict", "library_train", "library_predict")
SPEEDS = {f"{work}_tokens_per_s": work for work in KINDS}
OF_TEXTS = ("optimal_predictor", "topic_borders")  # measured on a synthetic corpus
Source = Literal["metric", "fact", "curve", "run", "flops", "memory", "longest_span", "throughput"]
PER_TOKEN = "multiply-accumulate operations (MACs) per predicted character or subword"


def _cost(
    name: str,
    title: str,
    source: Source,
    unit: str = "",
    better: Direction | None = "lower",
    *,
    claimable: bool = False,
    meaning: str = "",
) -> Quantity:
    """Describe a cost that is a number; less is better where nothing else is said."""
    return Quantity(
        name,
        title,
        source=source,
        unit=unit,
        better=better,
        claimable=claimable,
        meaning=meaning,
    )


def _timed(work: str, speed: str, step: str) -> list[Quantity]:
    """Describe a step that is timed in rounds that alternate between configurations.

    work: begins the names. speed, step: what its two main numbers are called.
    """
    spread = "half-width of its 95 % interval over rounds, as a fraction of the mean"
    rounds = (
        Quantity(f"{work}_turns", "its rounds", source="throughput", unit="ms", number=False),
        Quantity(
            f"{work}_references",
            "the reference step of each round",
            source="throughput",
            unit="ms",
            number=False,
        ),
    )
    return [
        _cost(
            f"{work}_tokens_per_s", speed, "throughput", "tokens/s", better="higher", claimable=True
        ),
        _cost(f"{work}_ms", f"{step}, ms", "throughput", meaning=f"{step}, mean over rounds"),
        _cost(f"{work}_spread", f"{step}, {spread}", "throughput", better=None),
        *rounds,
    ]


# Of the choices of attention, which a model of any task may have.
_FACTS = tuple(fact(each.name, each.title, each.unit) for each in choice_facts() if each.by_head)
_OF_CURVE = (
    Quantity(
        "late_gain",
        "dev improvement in the last quarter of training",
        source="curve",
        unit="bits",
        bounds=UNBOUNDED,
    ),
)
_OF_RUN = (
    _cost("parameters", "#params", "run", "parameters"),
    _cost("seconds", "training time", "run", "s"),
    _cost("tokens_per_s", "training throughput of the run", "run", "tokens/s", better="higher"),
    _cost("peak_memory_bytes", "peak memory of the run", "run", "bytes"),
    _cost(
        "macs_dense",
        "MACs, dense",
        "run",
        "MACs",
        meaning=f"{PER_TOKEN}, of the dense definition",
    ),
    _cost(
        "macs_executed",
        "MACs, executed",
        "run",
        "MACs",
        claimable=True,
        meaning=f"{PER_TOKEN}, executed by the engine in PyTorch",
    ),
)
_FLOPS = (
    _cost(
        "macs_analytic",
        "MACs per character or subword, from tensor shapes",
        "flops",
        meaning=f"{PER_TOKEN}, from tensor shapes",
    ),
    _cost(
        "macs_torch",
        "MACs counted by PyTorch",
        "flops",
        meaning=f"{PER_TOKEN}, counted by PyTorch",
    ),
    _cost(
        "macs_fvcore",
        "MACs counted by fvcore",
        "flops",
        meaning=f"{PER_TOKEN}, counted by fvcore",
    ),
    Quantity("unsupported", "operators that fvcore does not count", source="flops", number=False),
)
_MEMORY = (
    _cost("memory_train_bytes", "training memory", "memory", "bytes", claimable=True),
    _cost("memory_evaluate_bytes", "evaluation memory", "memory", "bytes"),
    _cost("memory_reserved_bytes", "memory reserved by the allocator", "memory", "bytes"),
)
_THROUGHPUT = (
    _cost(
        "reference_ms",
        "reference step, ms",
        "throughput",
        better=None,
        meaning="the reference step on the idle machine, ms; timings with another value come from"
        " another machine",
    ),
    Quantity("quiet", "whether the machine was idle", source="throughput", number=False),
    *_timed("train", "training speed", "step time"),
    *_timed("predict", "prediction speed", "prediction time"),
    *_timed("library_train", "training speed (entmax library)", "step time (entmax library)"),
    *_timed(
        "library_predict", "prediction speed (entmax library)", "prediction time (entmax library)"
    ),
)


def _list_all() -> list[Quantity]:
    """List the quantities of the tasks and of every run, by their source."""
    everywhere = (*_FACTS, *_OF_CURVE, *_OF_RUN, *_FLOPS, *_MEMORY, *_THROUGHPUT)
    listed = merge_quantities(TASKS.values())
    listed += [replace(quantity, tasks=tuple(TASKS)) for quantity in everywhere]
    sources = get_args(Source)
    return sorted(listed, key=lambda quantity: sources.index(quantity.source))


_QUANTITIES = _list_all()
REGISTRY = {quantity.name: quantity for quantity in _QUANTITIES}
# costs, which one measurement of a configuration gives for all of its seeds
MEASURED_BY = {each.name: each.source for each in _QUANTITIES if each.source in COSTS}


def names(*sources: Source) -> list[str]:
    """List the names of the quantities from these sources, in registry order."""
    return [quantity.name for quantity in _QUANTITIES if quantity.source in sources]


def bounds_of(name: str) -> Bounds:
    """Return the minimum and maximum of a quantity; an unregistered one is unbounded."""
    return REGISTRY[name].bounds if name in REGISTRY else UNBOUNDED


def of_samples(name: str) -> bool:
    """Say whether a quantity is a share of samples; an unregistered one is not."""
    return name in REGISTRY and REGISTRY[name].of_samples


def check_registered(kind: Source, of: str, wanted: Iterable[str]) -> None:
    """Raise `ConfigError` with the nearest known name if no task has this metric or fact.

    of: what computes it, for the message.
    """
    what = f"{kind} of {of} (the metrics and quantities of a task name them)"
    for name in wanted:
        check_known(what, name, names(kind))
