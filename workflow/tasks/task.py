"""What a task says of itself in its `__init__.py`. Imports no torch: plans and pages read it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, get_args

from workflow.config.errors import ConfigError, check_known
from workflow.config.job import Job
from workflow.tasks.catalogue import BaseCatalogue
from workflow.tasks.quantities import ON_CURVE, AxisScale, Direction, Metric, Quantity

if TYPE_CHECKING:
    import torch

SECTIONS = ("attention", "net", "training", "evaluation")  # of every job, besides what `Job` has


class CostModule(Protocol):
    """The functions of a module that measures a task's costs, which a `TaskSpec` names in `costs`.

    A step is a function without arguments that is timed; with it comes how many characters or
    subwords it reads, predicts or learns from. Inputs are random: costs do not depend on them.
    """

    def training_step(
        self, job: Job, model: "torch.nn.Module", device: "torch.device"
    ) -> tuple[Callable[[], None], int]:
        """Make an update of the parameters, with caches as full as training fills them."""

    def prediction(
        self, job: Job, model: "torch.nn.Module", device: "torch.device", batch: int
    ) -> tuple[Callable[[], None], int]:
        """Make a prediction for `batch` inputs."""

    def evaluation(
        self, job: Job, model: "torch.nn.Module", device: "torch.device"
    ) -> tuple[Callable[[], None], int]:
        """Make a step of the job's evaluation, whose peak memory is measured."""

    def count(self, job: Job, model: "torch.nn.Module", device: "torch.device") -> dict[str, float]:
        """Count MACs per character or subword: macs_analytic, macs_torch, macs_fvcore."""


COST_FUNCTIONS = tuple(name for name in vars(CostModule) if not name.startswith("_"))


@dataclass(frozen=True)
class Curve:
    """What a point of a task's learning curve holds, besides its step and its speed.

    loss: the metric that training lowers; its splits include train and dev.
    title: of the axis. scale: of the axis.
    columns: further ones. The facts of choices that are one number have theirs anyway.
    """

    loss: Metric
    title: str
    scale: AxisScale = "linear"
    columns: tuple[str, ...] = ()

    def __post_init__(self):
        check_known("scale of the axis in curve", self.scale, get_args(AxisScale))

    @property
    def unit(self) -> str:
        """Return the unit of the loss as names of columns have it, e.g. bpc."""
        return self.loss.name

    @property
    def losses(self) -> tuple[str, str]:
        """Name the columns of the loss on train and dev."""
        return f"train_{self.unit}", f"dev_{self.unit}"


def curve_columns(curves: Iterable[Curve]) -> list[str]:
    """List the columns that all these curves have together, each once: losses first, facts last."""
    curves = list(curves)
    losses = [column for curve in curves for column in curve.losses]
    further = [column for curve in curves for column in curve.columns]
    return list(dict.fromkeys([*losses, *further, *ON_CURVE]))


@dataclass(frozen=True)
class Condition:
    """What a task varies when it tests a trained model: its scores are functions of it.

    name: a word. title: of an axis. scale: of an axis.
    """

    name: str
    title: str
    scale: AxisScale = "log"


@dataclass(frozen=True)
class Solved:
    """When a model has learned a task: its variant's mean of a score is at least this.

    title: of one that has not. Nothing is concluded from a comparison with it.
    """

    quantity: str
    least: float
    title: str


@dataclass(frozen=True)
class Selection:
    """How the best of several trials is found.

    score: a metric on dev. tie: a score that differs from the best by at most so much is as good;
    of several that are, the one with the lowest learning rate is taken.
    learned: what a trial must score at the first value of the task's condition, which is that of
    training; one that does not is taken only where none does.
    at: the value of the task's condition at which the score is read; None for that of the run.
    title: what pages call the score, where that is more than its metric's title.
    """

    score: str
    better: Direction
    tie: float = 0.0
    learned: float | None = None
    at: float | None = None
    title: str = ""


@dataclass(frozen=True)
class ExampleTitles:
    """Titles of the three columns of the fact `shown`, which quotes what a model wrote."""

    source: str
    reference: str
    output: str


@dataclass(frozen=True)
class Column:
    """A column of a page's table: the quantity that it shows, and how it is headed."""

    quantity: str
    title: str
    unit: str = ""


@dataclass(frozen=True)
class TaskSpec:
    """A task in words.

    job: its class of jobs. catalogue: the model of config/tasks/NAME.yaml.
    runner, write_corpus: dotted names of what computes it and of what makes a dataset ready.
    costs: dotted name of the `CostModule` that measures it.
    tokens: what a model predicts, in words. prediction: what predicting them is called.
    curve: its learning curve, whose loss is one of its metrics.
    headline: quantities of a configuration, the first the task's score; the costs follow.
    scores: quantities of one run.
    metrics: its scores besides the loss. quantities: further numbers that its records hold, such as
    facts, and costs that only this task has.
    examples: where its records quote what a model wrote.
    condition: what the metrics that are `over_condition` are functions of.
    tuned_by: how trials are compared; by default by the loss on dev. not_tuned_by: how else they
    could be; a page says which trial each would choose.
    solved: what a model must reach; None where every score can be compared. pooled: whether seeds
    of two variants are not paired, but their standard deviation is pooled over the variants.

    `ConfigError` for a name that the others do not explain: it would be missed only once a run has
    ended.
    """

    job: type[Job]
    catalogue: type[BaseCatalogue]
    runner: str
    write_corpus: str
    costs: str
    tokens: str
    prediction: str
    curve: Curve
    headline: tuple[str, ...]
    scores: tuple[str, ...]
    metrics: tuple[Metric, ...] = ()
    quantities: tuple[Quantity, ...] = ()
    examples: ExampleTitles | None = None
    condition: Condition | None = None
    tuned_by: Selection | None = None
    not_tuned_by: tuple[Selection, ...] = ()
    solved: Solved | None = None
    pooled: bool = False

    def __post_init__(self):
        for section in SECTIONS:
            if section not in self.job.model_fields:
                needed = ", ".join(SECTIONS)
                raise ConfigError(
                    f"{self.job.__name__} has no section '{section}'; it needs {needed}"
                )
        self._check_names("curve", self.curve.losses)
        self._check_names("headline", self.headline)
        self._check_names("scores", self.scores)
        self._check_names("tuned_by", [self.selection.score])
        self._check_names("not_tuned_by", [each.score for each in self.not_tuned_by])
        score = self.headline[0]
        if self.known[score].source != "metric":
            raise ConfigError(
                f"headline: '{score}' is a fact; the first is the task's score, a metric"
            )

    def _check_names(self, field: str, names: Iterable[str]) -> None:
        what = f"name in {field} (the metrics and quantities explain it)"
        for name in names:
            check_known(what, name, self.known)

    @property
    def known(self) -> dict[str, Quantity]:
        """Map the name of everything that its records hold to its quantity, metrics first."""
        known = {}
        for metric in (self.curve.loss, *self.metrics):
            known |= {quantity.name: quantity for quantity in metric.quantities}
        known |= {quantity.name: quantity for quantity in self.quantities}
        return known

    @property
    def selection(self) -> Selection:
        """Return how trials are compared."""
        _, dev_loss = self.curve.losses
        return self.tuned_by or Selection(dev_loss, better="lower")

    def title_of(self, selection: Selection) -> str:
        """Return what pages call the score by which trials are compared."""
        return selection.title or self.known[selection.score].title

    @property
    def name(self) -> str:
        return self.job.model_fields["task"].default

    @property
    def columns(self) -> list[Column]:
        """List the columns of a configuration: the headline and the costs."""
        return [
            *self._columns_of(self.headline),
            Column("macs_executed", "executed"),
            Column("train_tokens_per_s", f"training, {self.tokens} / s"),
            Column("predict_tokens_per_s", f"{self.prediction}, {self.tokens} / s"),
        ]

    @property
    def score_columns(self) -> list[Column]:
        """List the columns of a run: its scores."""
        return self._columns_of(self.scores)

    def _columns_of(self, names: Iterable[str]) -> list[Column]:
        quantities = [self.known[name] for name in names]
        return [Column(each.name, each.title, each.unit) for each in quantities]


def merge_quantities(tasks: Iterable[TaskSpec]) -> list[Quantity]:
    """List the quantities of all tasks; one that several declare is listed once."""
    merged: dict[str, Quantity] = {}
    for task in tasks:
        for name, quantity in task.known.items():
            first = merged.get(name, quantity)
            merged[name] = replace(first, tasks=(*first.tasks, task.name))
    return list(merged.values())
