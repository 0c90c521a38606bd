"""The numbers that a task declares: its metrics by split, its facts, and costs of its own.

Imports no torch: plans and pages read it.
"""

import math
from dataclasses import KW_ONLY, dataclass
from typing import Literal

from workflow.config.choices import choice_facts

SCORED = ("dev", "test")
Direction = Literal["lower", "higher"]
AxisScale = Literal["linear", "log"]
AT_LEAST_ZERO = (0.0, math.inf)


@dataclass(frozen=True)
class Quantity:
    """A number that the suite shows, described once.

    title, unit: as tables show them.
    source: a metric or fact of the record, a column of its curve, the cost of the run, or what
    measures it.
    better: which direction is better, None where none is.
    number: False for lists, strings and whatever else a table cannot average.
    claimable: whether a claim may be about it.
    meaning: for the data dictionary of all runs, where the title does not say it.
    tasks: those that have it; filled in from the tasks that declare it.
    bounds: the least and the most that it can be; its interval ends there.
    of_samples: whether it is a share of samples in %, each of which counts or does not.
    scale: of the axis of a figure of it.
    censored_by: the fact that says on which side the value is only a bound, if it can be
    (`workflow.results.censored`).
    """

    name: str
    title: str
    _: KW_ONLY
    source: str
    unit: str = ""
    better: Direction | None = None
    number: bool = True
    claimable: bool = False
    meaning: str = ""
    tasks: tuple[str, ...] = ()
    bounds: tuple[float, float] = AT_LEAST_ZERO
    of_samples: bool = False
    scale: AxisScale = "linear"
    censored_by: str | None = None


@dataclass(frozen=True)
class Metric:
    """A score of a model on several splits; a record calls it SPLIT_name.

    claimable: whether a claim may be about it on dev or test. bounds: the least and the most that
    it can be. over_condition: whether a record has it at several values of its task's condition;
    drawn: whether a question's page then has a figure of it. better, of_samples, scale,
    censored_by: as of a `Quantity`.
    """

    name: str
    title: str
    _: KW_ONLY
    better: Direction | None
    unit: str = ""
    splits: tuple[str, ...] = SCORED
    claimable: bool = False
    bounds: tuple[float, float] = AT_LEAST_ZERO
    over_condition: bool = False
    drawn: bool = True
    of_samples: bool = False
    scale: AxisScale = "linear"
    censored_by: str | None = None

    @property
    def quantities(self) -> list[Quantity]:
        """List the quantity of each split."""
        return [self._on(split) for split in self.splits]

    def _on(self, split: str) -> Quantity:
        words = split.replace("_", " ")
        return Quantity(
            f"{split}_{self.name}",
            f"{words} {self.title}",
            source="metric",
            unit=self.unit,
            better=self.better,
            claimable=self.claimable and split in SCORED,
            bounds=self.bounds,
            of_samples=self.of_samples,
            scale=self.scale,
            censored_by=self.censored_by,
        )


def fact(
    name: str, title: str, unit: str = "", *, number: bool = False, claimable: bool = False
) -> Quantity:
    """Declare a fact that a record keeps: a number, or else a list, a string or a picture."""
    return Quantity(name, title, source="fact", unit=unit, number=number, claimable=claimable)


# Facts of a choice that are one number, such as the mean span: points of a curve have them.
OF_CHOICES = [each for each in choice_facts() if not each.by_head]
ON_CURVE = tuple(each.name for each in OF_CHOICES)
# Facts of a model whose heads learn their spans, for the tasks whose pages and claims show them.
SPANS = (
    *(fact(each.name, each.title, each.unit, number=True, claimable=True) for each in OF_CHOICES),
    fact("start_span", "mean span before training", "characters", number=True),
)
# The level of chance of a dataset: `workflow.results.trained_enough`.
CHANCE = fact("symbol_entropy", "entropy of single symbols of dev", "bits", number=True)
