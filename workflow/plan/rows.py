"""Hold the rows of a plan: which question asks for which run, and as what.

results/SCALE/plan.json is a list of them, written and read here.
"""

from collections import defaultdict
from pathlib import Path
from typing import Literal

from workflow.config.choices import AXES
from workflow.config.errors import ConfigError, check_known
from workflow.config.files import shown_path
from workflow.config.renamed import renew_row
from workflow.config.strict import FrozenModel, Name, parse, read_json
from workflow.tasks.spec import AnyJob


class PlanRow(FrozenModel):
    """One row of the plan: which question asks for which job.

    paper_corpus: the paper's corpus. corpus: the name of the one read in its place at this scale;
    job.corpus is the name of its file. label, colour, baseline: the variant's, where its question
    gives them. size: of the model, 1 where it is the scale's. tuning: `trial`, with the factors
    that it tries, or `tuned` by trials; None for a run of the recipe.
    """

    question: Name
    paper: Name
    variant: Name
    paper_corpus: Name
    corpus: str
    S: int | None
    k: int | None
    label: str | None = None
    colour: str | None = None
    baseline: Name | None = None
    size: float = 1.0
    tuning: Literal["trial", "tuned"] | None = None
    factors: dict[str, float] = {}
    job: AnyJob

    @property
    def plain(self) -> bool:
        """Say whether it is a run of the recipe at the scale's size, as tables and figures show."""
        return self.tuning is None and self.size == 1

    def record(self) -> dict:
        """Return the row as plan.json keeps it."""
        return {
            **self.model_dump(mode="json"),
            "digest": self.job.digest,
            "configuration": self.job.configuration,
        }


class WrittenRow(PlanRow):
    """A row as plan.json keeps it."""

    digest: Name
    configuration: Name


def read_plan(path: Path, question: str | None = None) -> list[dict]:
    """Read a plan.json, or a question's part of it.

    `ConfigError` where `workflow.scripts.plan` did not write it.
    """
    rows = read_json(path)
    are_rows = isinstance(rows, list) and all(isinstance(row, dict) for row in rows)
    if not are_rows or not rows:
        raise ConfigError(f"{shown_path(path)}: expected a list of runs, as the workflow writes it")
    rows = [renew_row(row) for row in rows]
    if question:
        planned = {row.get("question") for row in rows}
        check_known("question of this plan", question, planned)
    asked = []
    for number, row in enumerate(rows):
        if question in (None, row.get("question")):
            parse(WrittenRow, row, f"{shown_path(path)}: run {number}")
            asked.append(row)
    return asked


class Labels:
    """Describe runs and configurations in words, by the rows of the plan that ask for them."""

    def __init__(self, rows: list[PlanRow]):
        self._runs = defaultdict(list)
        self._configurations = defaultdict(list)
        for row in rows:
            self._runs[row.job.digest].append(row)
            self._configurations[row.job.configuration].append(row)

    def run(self, digest: str) -> str:
        """Describe a run, e.g. `adaptive on enwik8, S = 128, seed 2 (span_limit)`."""
        rows = self._runs[digest]
        seed = rows[0].job.seed
        return f"{_name_cell(rows[0])}, seed {seed} ({_askers(rows)})"

    def configuration(self, digest: str) -> str:
        """Describe a configuration: the same without a seed."""
        rows = self._configurations[digest]
        return f"{_name_cell(rows[0])} ({_askers(rows)})"


def _name_cell(row: PlanRow) -> str:
    """Name the variant, corpus, S, k and size of a row, and what it tries."""
    parts = [f"{row.variant} on {row.corpus}"]
    # a part of a battery names an S, which full attention does not take
    choices = [getattr(row.job.attention, axis) for axis in AXES]
    if row.S is not None and any("limit" in choice for choice in choices):
        parts.append(f"S = {row.S}")
    if row.k is not None:
        parts.append(f"k = {row.k}")
    if row.size != 1:
        parts.append(f"size {row.size:g}")
    for key, factor in row.factors.items():
        parts.append(f"trial of {key} x {factor:g}")
    if row.tuning == "tuned":
        parts.append("tuned")
    return ", ".join(parts)


def _askers(rows: list[PlanRow]) -> str:
    """Name the first question that asks for a run or configuration, and the number of others."""
    names = list(dict.fromkeys(row.question for row in rows))
    if len(names) == 1:
        return names[0]
    others = len(names) - 1
    return f"{names[0]} and {others} more"
