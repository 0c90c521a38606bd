"""A row of the plan, which question asks for which job and as what, and its description."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from workflow.config.errors import ConfigError, check_known
from workflow.config.files import shown_path
from workflow.config.job import Job
from workflow.config.renamed import renew_row
from workflow.config.strict import FrozenModel, Name, parse, read_json
from workflow.plan.sources import DIGITS
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


LONGEST_NAME = 80  # letters in the name of a file that is named after several questions
DIGEST = "[0-9a-f]{12}"


class Labels:
    """Runs and configurations in words, by the rows of the plan that ask for them."""

    def __init__(self, rows: list[PlanRow]):
        self._runs = defaultdict(list)
        self._configurations = defaultdict(list)
        for row in rows:
            self._runs[row.job.digest].append(row)
            self._configurations[row.job.configuration].append(row)

    def run(self, digest: str) -> str:
        """Describe a run, e.g. `adaptive on enwik8, S = 128, seed 2 (span_limit)`."""
        rows = self._runs[digest]
        return f"{_name_cell(rows[0])}, seed {rows[0].job.seed} ({_askers(rows)})"

    def configuration(self, digest: str) -> str:
        """Describe a configuration: the same without a seed."""
        rows = self._configurations[digest]
        return f"{_name_cell(rows[0])} ({_askers(rows)})"


def _name_cell(row: PlanRow) -> str:
    """Name the variant, corpus, S, k and size of a row, and what it tries."""
    parts = [f"{row.variant} on {row.corpus}"]
    if row.S is not None:
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
    return f"{names[0]} and {len(names) - 1} more"


def name_group(questions: Iterable[str]) -> str:
    """Name a file for the configurations of these questions: all of them, or the first, their
    number and a digest.

    >>> name_group(["span_limit", "known_entropy"])
    'known_entropy+span_limit'
    """
    names = sorted(questions)
    name = "+".join(names)
    if len(name) <= LONGEST_NAME:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:DIGITS]
    return f"{names[0]}+{len(names) - 1}-{digest}"


def name_choice(job: Job) -> str:
    """Name the choice among a job's trials: a digest of theirs."""
    return hashlib.sha256(" ".join(job.trials).encode()).hexdigest()[:DIGITS]


def digests(wanted: list[str], others: list[str]) -> str:
    """Return a regular expression for the wanted digests: a list of them, or of the `others` it
    excludes, if shorter.

    Snakemake matches it against every file, so a long one would cost much time.
    """
    return pattern(wanted) if len(wanted) <= len(others) else f"(?!{pattern(others)}){DIGEST}"


def pattern(names) -> str:
    """Return a regular expression for these names and nothing else."""
    return "|".join(map(re.escape, names)) or "(?!)"
