"""Hold the rows of a plan, and look up its runs.

A row says which question asks for which job and as what. `PlannedRuns` finds which question asks
for a run, and which run represents a configuration.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Literal

from workflow.config.errors import ConfigError, check_known
from workflow.config.files import shown_path
from workflow.config.job import Job
from workflow.config.renamed import renew_row
from workflow.config.strict import FrozenModel, Name, parse, read_json
from workflow.plan.sources import DIGITS
from workflow.results.store import own_store, ships
from workflow.settings.config import Setup
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
    asked = []
    for number, row in enumerate(rows):
        if question in (None, row.get("question")):
            parse(WrittenRow, row, f"{shown_path(path)}: run {number}")
            asked.append(row)
    return asked


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
    others = len(names) - 1
    return f"{names[0]} and {others} more"


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
    trials = " ".join(job.trials)
    return hashlib.sha256(trials.encode()).hexdigest()[:DIGITS]


def digests(wanted: list[str], others: list[str]) -> str:
    """Return a regular expression for the wanted digests: a list of them, or of the `others` it
    excludes, if shorter.

    Snakemake matches it against every file, so a long one would cost much time.
    """
    if len(wanted) <= len(others):
        return pattern(wanted)
    return f"(?!{pattern(others)}){DIGEST}"


def pattern(names) -> str:
    """Return a regular expression for these names and nothing else."""
    return "|".join(map(re.escape, names)) or "(?!)"


class PlannedRuns:
    """The runs of a plan. rows: in a stable order. plain: without trials, what follows them, and
    other sizes.

    missing: datasets that are not available, with the reason. Their runs have no job file and
    cannot be trained.
    """

    def __init__(self, rows: list[PlanRow], setup: Setup, missing: dict[str, str]):
        self.rows = rows
        self.missing = missing
        self.plain = [row for row in rows if row.plain]
        self.train = setup.config.train
        self.train_first: set[str] = set()
        for scale in setup.scales.values():
            self.train_first.update(scale.train_first)
        self._catalogues = setup.catalogues

    @cached_property
    def jobs(self) -> dict[str, Job]:
        """Map each digest to its job."""
        return {row.job.digest: row.job for row in self.rows}

    @cached_property
    def configurations(self) -> dict[str, str]:
        """Map each configuration whose costs are measured to the run whose net is: that of its
        first seed.
        """
        first: dict[str, str] = {}
        for row in self.plain:
            first.setdefault(row.job.configuration, row.job.digest)
        return first

    @cached_property
    def labels(self) -> Labels:
        return Labels(self.rows)

    @cached_property
    def corpora(self) -> dict[str, PlanRow]:
        """Map the file name of each dataset under results/data to a row that reads it."""
        return {row.job.corpus: row for row in self.rows}

    def texts_of_topics(self, question: str | None = None) -> list[str]:
        """List the file names of the datasets, of a question or of all, whose optimal predictor is
        known.
        """
        texts = dict.fromkeys(row.job.corpus for row in self.rows_of(question))
        return [slug for slug in texts if self._of_topics[slug]]

    @cached_property
    def _of_topics(self) -> dict[str, bool]:
        """Say of each dataset whether it is a corpus of topics, whose optimal predictor is
        known.
        """
        known = {}
        for slug, row in self.corpora.items():
            entry = self._catalogues[row.job.task].entries.get(row.corpus)
            known[slug] = bool(getattr(entry, "topics", None))
        return known

    def optimal_predictor_options(self, slug: str) -> str:
        """Write the options of the script of optimal predictors: windows, streams, tokens."""
        spans = [job.attention.span for job in self.jobs.values() if job.corpus == slug]
        limits = {span["limit"] for span in spans if span.get("limit")}
        if not limits:
            limits = {span["cache"] for span in spans}
        # powers of two from 4 up to the first beyond every S
        last = max(limits).bit_length()
        powers = {2**n for n in range(2, last + 1)}
        windows = " ".join(map(str, sorted(limits | powers)))
        return f"--windows {windows} {self.scored_part(slug)}"

    def scored_part(self, slug: str) -> str:
        """Write as options which part of a text nets are scored on: streams, tokens."""
        scored = next(job for job in self.jobs.values() if job.corpus == slug).evaluation
        return f"--streams {scored.streams} --tokens {scored.tokens}"

    def dynamic_jobs(self, slug: str) -> dict[str, Job]:
        """Map digest to job for the jobs that read a text with a dynamic span, at the largest S
        among them.
        """
        limits: dict[str, int] = {}
        for row in self.plain:
            span = row.job.attention.span
            if row.job.corpus == slug and span["name"] == "dynamic":
                limits[row.job.digest] = span["limit"]
        largest = max(limits.values(), default=None)
        widest = [digest for digest, limit in limits.items() if limit == largest]
        return {digest: self.jobs[digest] for digest in widest}

    def dynamic_nets(self, slug: str) -> list[str]:
        """List the files of weights of the jobs of `dynamic_jobs` that are trained here."""
        trained = [digest for digest in self.dynamic_jobs(slug) if not self.is_precomputed(digest)]
        return [f"results/runs/{digest}/weights.pt" for digest in trained]

    @cached_property
    def without_job_file(self) -> list[str]:
        """List the runs without a job file. A job file that exists is not an output: its content
        never changes.
        """
        known = [digest for digest, job in self.jobs.items() if job.corpus not in self.missing]
        return [digest for digest in known if not Path(f"results/runs/{digest}/job.json").exists()]

    @cached_property
    def trained_anyway(self) -> frozenset[str]:
        """Collect the runs that are trained here although their record came with the project."""
        if self.train == "everything":
            return frozenset(self.jobs)
        if self.train == "nothing":
            return frozenset()
        named = {row.job.digest for row in self.plain if row.question in self.train_first}
        first_seeds = self.configurations.values()
        return frozenset(named.intersection(first_seeds))

    def is_precomputed(self, digest: str) -> bool:
        """Say whether the record of a run is taken from what came with the project."""
        return digest not in self.trained_anyway and ships(digest)

    @cached_property
    def precomputed(self) -> list[str]:
        """List the runs whose records are taken from what came with the project."""
        return [digest for digest in self.jobs if self.is_precomputed(digest)]

    @cached_property
    def trained(self) -> list[str]:
        """List the runs that are trained here."""
        return [digest for digest in self.jobs if not self.is_precomputed(digest)]

    @cached_property
    def _by_question(self) -> dict[str, list[PlanRow]]:
        rows = defaultdict(list)
        for row in self.rows:
            rows[row.question].append(row)
        return rows

    def rows_of(self, question: str | None = None) -> list[PlanRow]:
        """List the rows of a question; without one, here and below, all."""
        return self.rows if question is None else self._by_question.get(question, [])

    def digests_of(self, question: str | None = None) -> list[str]:
        return list(dict.fromkeys(row.job.digest for row in self.rows_of(question)))

    def configurations_of(self, question: str) -> list[str]:
        plain = [row for row in self.rows_of(question) if row.plain]
        return list(dict.fromkeys(row.job.configuration for row in plain))

    @cached_property
    def shipped(self) -> dict[str, str]:
        """Map the runs whose shipped record is read to its `contents`.

        A run whose folder holds a record is not among them, though its record may ship as well.
        """
        store = own_store()
        read = [digest for digest in self.precomputed if store.file_of(digest) is None]
        return {digest: store.shipped[digest].contents for digest in read}

    def records_of(self, question: str | None = None) -> list[str]:
        """List the files of a question's records: of the runs that are or were trained here."""
        return self._record_files(self.digests_of(question))

    def _record_files(self, digests: Iterable[str]) -> list[str]:
        files = (digest for digest in digests if digest not in self.shipped)
        return [f"results/runs/{digest}/record.json" for digest in files]

    def shipped_contents(self, digests: Iterable[str]) -> str:
        """Digest the `contents` of the shipped records among these runs; empty if there are none.

        What is made of these records is made again if one of them changes.
        """
        contents = [self.shipped[digest] for digest in digests if digest in self.shipped]
        if not contents:
            return ""
        return _digest_lines(contents)

    def job_of(self, configuration: str) -> Job:
        """Return the job whose net is measured for a configuration."""
        return self.jobs[self.configurations[configuration]]

    def cores_of(self, digest: str) -> int:
        """Count the cores that a run is trained on."""
        return self.jobs[digest].training.cores

    def data_of(self, digest: str) -> str:
        """Name the file of the dataset that a run reads; end in a line where it is not
        available.
        """
        corpus = self.jobs[digest].corpus
        # Snakemake asks for what is to be made alone, and shows other errors in many lines
        if corpus in self.missing:
            raise SystemExit(f"config error: {self.missing[corpus]}")
        return f"results/data/{corpus}.npz"

    @cached_property
    def choices(self) -> dict[str, Job]:
        """Map the name of each choice among trials to a job that waits for it."""
        return {name_choice(job): job for job in self.jobs.values() if job.trials}

    def choice_of(self, digest: str) -> list[str]:
        """Name the file that says which trial a run follows; none of one without trials."""
        job = self.jobs[digest]
        if not job.trials:
            return []
        return [f"results/choices/{name_choice(job)}.json"]

    def trials_of(self, choice: str) -> list[str]:
        """List the trials of a choice by digest; end with an error line if there are none."""
        if choice not in self.choices:
            raise SystemExit(f"config error: choice {choice}: no run of this config needs it")
        return list(self.choices[choice].trials)

    def trial_records_of(self, choice: str) -> list[str]:
        """List the files of the records of the trials of a choice that are trained here."""
        return self._record_files(self.trials_of(choice))

    def net_of(self, configuration: str) -> str:
        """Name the file that a configuration is measured from: its weights, or its job.

        A precomputed run has no weights; its costs are found by its job.
        """
        digest = self.configurations[configuration]
        name = "job.json" if self.is_precomputed(digest) else "weights.pt"
        return f"results/runs/{digest}/{name}"

    @cached_property
    def groups(self) -> dict[str, list[str]]:
        """Group the configurations that the same questions ask for, to be timed together.

        So each configuration is timed once, and a question waits for no timing that it does not ask
        for.
        """
        asked: dict[str, dict[str, None]] = defaultdict(dict)
        for row in self.plain:
            asked[row.job.configuration][row.question] = None
        groups: dict[str, list[str]] = defaultdict(list)
        for configuration, questions in asked.items():
            groups[name_group(questions)].append(configuration)
        return groups

    def groups_of(self, question: str) -> list[str]:
        """List the groups of a question's configurations."""
        wanted = set(self.configurations_of(question))
        return [group for group, members in self.groups.items() if wanted.issuperset(members)]

    def jobs_of(self, group: str) -> list[Job]:
        """List the jobs whose nets are measured for a group; all are of one task."""
        return list(map(self.job_of, self.groups[group]))

    @property
    def threads(self) -> list[int]:
        """List the numbers of threads with which nets are trained."""
        return sorted({job.training.threads for job in self.jobs.values()})

    def longest_spans(self, question: str) -> list[str]:
        """List the configurations to seek the longest S from: each span at its largest S, with all
        keys and softmax.
        """
        configurations: dict[str, str] = {}
        largest: dict[str, int] = {}
        for row in self.rows_of(question):
            attention = row.job.attention
            name = attention.span["name"]
            limit = attention.span.get("limit")
            keeps_all = attention.selection["name"] == "all"
            is_softmax = attention.normaliser["name"] == "softmax"
            if not (row.plain and limit and keeps_all and is_softmax):
                continue
            if limit > largest.get(name, 0):
                largest[name] = limit
                configurations[name] = row.job.configuration
        return list(configurations.values())

    def digest_of(self, question: str | None = None) -> str:
        """Digest a question's rows in the plan, or all: if they change, what is made of them is
        made again.
        """
        lines = []
        for row in self.rows_of(question):
            asked = (
                row.question,
                row.variant,
                row.label,
                row.colour,
                row.baseline,
                row.paper_corpus,
                row.S,
                row.k,
                row.size,
                row.tuning,
                row.job.digest,
            )
            lines.append(" ".join(map(str, asked)))
        return _digest_lines(lines)


def _digest_lines(lines: Iterable[str]) -> str:
    text = "\n".join(lines)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]
