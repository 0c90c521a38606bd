"""A row of the plan: which question asks for which job, and as what."""

from pathlib import Path
from typing import Literal

from workflow.config.errors import ConfigError, check_known
from workflow.config.files import shown_path
from workflow.config.renamed import renew_row
from workflow.config.strict import FrozenModel, Name, parse, read_json
from workflow.tasks.spec import AnyJob


class PlanRow(FrozenModel):
    """One row of the plan: which question asks for which job.

    paper_corpus: the paper's text. corpus: the name of the one read in its place at this scale;
    job.corpus is the name of its file. label, colour, baseline: the variant's, where its question
    gives them. size: of the net, 1 where it is the scale's. tuning: `trial`, with the factors that
    it tries, or `tuned` by trials; None for a run of the recipe.
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
        """Say whether it is a run of the recipe at the scale's size: what tables and figures
        show.
        """
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
    """Read a plan.json, or a question's part of it; `ConfigError` where `workflow.scripts.plan` did
    not write it.
    """
    rows = read_json(path)
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise ConfigError(f"{shown_path(path)}: expected a list of runs, as the workflow writes it")
    rows = [renew_row(row) for row in rows]
    if question:
        check_known("question of this plan", question, {row.get("question") for row in rows})
    asked = {
        number: row for number, row in enumerate(rows) if question in (None, row.get("question"))
    }
    for number, row in asked.items():
        parse(WrittenRow, row, f"{shown_path(path)}: run {number}")
    return [*asked.values()]
