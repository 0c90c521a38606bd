"""What a task says of itself in its `__init__.py`, and its catalogue of datasets. Imports no torch:
pages read it.
"""

import math
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from workflow.config.choices import choice_facts
from workflow.config.errors import ConfigError, check_known
from workflow.config.job import Job
from workflow.config.strict import StrictModel

SplitName = Literal["train", "dev", "test"]
SPLITS = ("train", "dev", "test")
VocabularySize = Annotated[int, Field(strict=True, ge=8, le=1 << 16)]


class BaseCatalogue(StrictModel):
    """The datasets of one task: one mapping, name -> entry, beside the metric.

    Every entry has a `title`, the few words on a badge, and `about`, the line beside it:
    `workflow.results.datasets`.
    user_form: how users name their own data, a word with a colon and what follows it; without one a
    task takes none.

    A subclass has the method `checksum(name, data_dir)`, which gives what identifies a dataset in a
    job, whichever folder it lies in; with a user_form also `user_entry(name)`, which makes an entry
    from the files as they are now.
    """

    user_form: ClassVar[str] = ""
    metric: str

    @property
    def entries(self) -> dict[str, Any]:
        """Return the entries by name, whatever the catalogue calls its mapping."""
        (name,) = type(self).model_fields.keys() - {"metric"}
        return getattr(self, name)

    @classmethod
    def is_users(cls, name: str) -> bool:
        """Say whether a name is that of a user's own data."""
        return bool(cls.user_form) and name.startswith(cls.user_form.partition(":")[0] + ":")

    def choices(self, name: str) -> list[str]:
        """List the valid names, the user's form last; before them a path of the user's with the
        form that it lacks.
        """
        guess = f"{self.user_form.partition(':')[0]}:{name.rpartition(':')[2]}"
        choices = [choice for choice in (*self.entries, self.user_form) if choice]
        with suppress(ConfigError):
            return [guess, *choices] if self.is_users(guess) and self.user_entry(guess) else choices
        return choices

    def title(self, name: str) -> str:
        """Say in a few words what a dataset is; for a user's, by the names of its files, which may
        be gone by now.
        """
        if self.is_users(name):
            files = name.partition(":")[2].split(",")
            return " and ".join(Path(file.strip()).name for file in files)
        return self.entries[name].title if name in self.entries else name

    def about(self, name: str) -> str:
        """Describe a dataset in one line; an unknown one in none."""
        if self.is_users(name):
            return "your own data"
        return self.entries[name].about if name in self.entries else ""

    def most_keys(self, name: str, job: Job) -> int:
        """Count the keys that a query can see at most: here of the longest sentence; other nets
        need their own.
        """
        return job.net.max_length

    def is_part(self, name: str, whole: str) -> bool:
        """Say whether a dataset is the beginning of another."""
        return False

    def knows(self, name: str) -> bool:
        return name in self.entries or self.is_users(name)

    def entry(self, name: str) -> Any:
        """Return the entry of a name; `ConfigError` with the nearest valid name where there is
        none.
        """
        if self.is_users(name):
            return self.user_entry(name)
        check_known("dataset", name, self.choices(name))
        return self.entries[name]

    def slug(self, name: str) -> str:
        """Name its file under results/data/: the name itself, or the form's word and 8 digits of
        the checksum.
        """
        if not self.is_users(name):
            return name
        return f"{name.partition(':')[0]}-{self.checksum(name).split(':')[1][:8]}"


SCORED = ("dev", "test")
# functions of what measures a task's costs
MEASURES = ("training_step", "prediction", "evaluation", "count")
AXIS_SCALES = ("linear", "log")  # of a learning curve's score
SECTIONS = ("attention", "net", "training", "evaluation")  # of every job, besides what `Job` has
Column = tuple[str, str, str]  # quantity, title and unit of a table's column


@dataclass(frozen=True)
class Quantity:
    """A number that the suite shows, described once.

    source: a metric or fact of the record, a column of its curve, the cost of the run, or what
    measures it. tasks: those that have it; filled in from the tasks that name it. better: which
    direction is better, None where none is.
    number: False for lists, texts and whatever else a table cannot average. claimable: whether a
    claim may be about it.
    meaning: in the data dictionary of all runs, where the title, which stands over columns, does
    not say it.
    bounds: the least and the most that it can be; its interval ends there.
    """

    name: str
    title: str
    unit: str
    source: str
    better: Literal["lower", "higher"] | None = None
    number: bool = True
    claimable: bool = False
    meaning: str = ""
    tasks: tuple[str, ...] = ()
    bounds: tuple[float, float] = (0.0, math.inf)


def score_quantities(
    better: str,
    titles: dict[str, tuple[str, str]],
    claimed: Iterable[str] = (),
    splits=SCORED,
    most: float = math.inf,
) -> list[Quantity]:
    """Make a quantity for each split of each score; titles: (title, unit) by the score's name.
    most: of all of them.
    """
    quantities = []
    for name, (title, unit) in titles.items():
        for split in splits:
            about = (
                f"{split}_{name}",
                f"{split.replace('_', ' ')} {title}",
                unit,
                "metric",
                better,
            )
            claimable = name in claimed and split in SCORED
            quantities.append(Quantity(*about, claimable=claimable, bounds=(0.0, most)))
    return quantities


def fact(name: str, title: str, unit: str = "", **more) -> Quantity:
    """Make the quantity of a fact that a record keeps: a list, text or picture, or a number where
    `number` says so.
    """
    return Quantity(name, title, unit, "fact", **{"number": False, **more})


# Facts of a choice that are one number, such as the mean span: a learning curve shows them.
OF_CHOICES = [each for each in choice_facts() if not each.by_head]
ON_CURVE = tuple(each.name for each in OF_CHOICES)
# Facts of a model whose heads learn their spans. Pages and claims show them for the tasks that name
# them.
SPANS = [
    *(fact(each.name, each.title, each.unit, number=True, claimable=True) for each in OF_CHOICES),
    fact("start_span", "mean span before training", "characters", number=True),
]


# The level of chance of a dataset: `workflow.results.trained_enough`.
CHANCE = fact("symbol_entropy", "entropy of single symbols of dev", "bits", number=True)


@dataclass(frozen=True)
class TaskSpec:
    """A task in words. job: its class of jobs. catalogue: the model of config/tasks/NAME.yaml.

    runner, write_corpus, costs: dotted names of what computes it, what makes a dataset ready and
    what measures it; see `load`. tokens: what a net predicts, in words. prediction: what predicting
    them is called. curve: the loss of the learning curve: unit, axis label, scale of the axis.
    headline: quantities of a configuration, the first the task's score; the costs follow. scores:
    those of one run. examples: titles of the three columns of the fact `shown`.
    quantities: the metrics and facts that its records hold.

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
    curve: tuple[str, str, str]
    headline: tuple[str, ...]
    scores: tuple[str, ...]
    quantities: tuple[Quantity, ...]
    examples: tuple[str, ...] = ()

    def __post_init__(self):
        for section in SECTIONS:
            if section not in self.job.model_fields:
                raise ConfigError(
                    f"{self.job.__name__} has no section '{section}'; it needs {', '.join(SECTIONS)}"
                )
        unit, _, axis = self.curve
        check_known("scale of the axis in curve", axis, AXIS_SCALES)
        named = {
            "headline": self.headline,
            "scores": self.scores,
            "curve": (f"train_{unit}", f"dev_{unit}"),
        }
        for field, names in named.items():
            for name in names:
                check_known(f"name in {field} (the quantities explain it)", name, self.known)
        if self.known[self.headline[0]].source != "metric":
            raise ConfigError(
                f"headline: '{self.headline[0]}' is a fact; the first is the task's score, a metric"
            )
        if len(self.examples) not in (0, 3):
            raise ConfigError(
                f"examples: expected three titles of columns, got {len(self.examples)}"
            )

    @property
    def known(self) -> dict[str, Quantity]:
        """Map the name of each of its quantities to the quantity."""
        return {quantity.name: quantity for quantity in self.quantities}

    @property
    def name(self) -> str:
        return self.job.model_fields["task"].default

    @property
    def columns(self) -> list[Column]:
        """List the columns of a configuration: the headline and the costs."""
        return [
            *self._titled(self.headline),
            ("macs_executed", "executed", ""),
            ("train_tokens_per_s", f"training, {self.tokens} / s", ""),
            ("predict_tokens_per_s", f"{self.prediction}, {self.tokens} / s", ""),
        ]

    @property
    def score_columns(self) -> list[Column]:
        """List the columns of a run: its scores."""
        return self._titled(self.scores)

    def _titled(self, names: Iterable[str]) -> list[Column]:
        known = self.known
        return [(name, known[name].title, known[name].unit) for name in names]


def merge_quantities(tasks: Iterable[TaskSpec]) -> list[Quantity]:
    """List the quantities of all tasks; one that several tasks name, in the same words, stands
    once.
    """
    merged: dict[str, Quantity] = {}
    for task in tasks:
        for quantity in task.quantities:
            known = merged.get(quantity.name, quantity)
            merged[quantity.name] = replace(known, tasks=(*known.tasks, task.name))
    return list(merged.values())
