"""Look up the runs of a plan: which question asks for a run, and which are trained here.

`workflow.plan.run_files` names their files.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property

from workflow.config.job import Job
from workflow.plan.rows import Labels, PlanRow
from workflow.plan.sources import DIGITS
from workflow.results.precomputed import runs_of_cards
from workflow.results.store import own_store, ships
from workflow.settings.config import Setup

LONGEST_NAME = 80  # letters in the name of a file that is named after several questions


def name_group(questions: Iterable[str]) -> str:
    """Name a file for the configurations of these questions.

    It names all of them, or the first, the number of others and a digest.

    >>> name_group(["span_limit", "known_entropy"])
    'known_entropy+span_limit'
    """
    names = sorted(questions)
    name = "+".join(names)
    if len(name) <= LONGEST_NAME:
        return name
    others = len(names) - 1
    return f"{names[0]}+{others}-{_digest(name)}"


def name_choice(job: Job) -> str:
    """Name the choice among a job's trials: a digest of theirs."""
    return _digest(" ".join(job.trials))


def _digest(text: str) -> str:
    """Return 12 hexadecimal digits."""
    whole = hashlib.sha256(text.encode())
    return whole.hexdigest()[:DIGITS]


def _find_carded(setup: Setup, plain: Iterable[PlanRow]) -> set[str]:
    """List the parts of a card of which each run of the variant is in a card that ships."""
    if setup.config.train == "everything":
        return set()
    shipped = runs_of_cards(setup.config.scale)
    runs: dict[str, set[str]] = defaultdict(set)
    for row in plain:
        if row.variant == setup.card.name:
            runs[row.question].add(row.job.digest)
    return {part for part, digests in runs.items() if digests <= shipped}


class PlannedRuns:
    """The runs of a plan. rows: in a stable order.

    plain: the rows without trials, what follows them, and other sizes. missing: datasets that are
    not available, with the reason. Their runs have no job file and cannot be trained. carded: the
    parts of a card whose runs and costs ship with a card.
    """

    def __init__(self, rows: list[PlanRow], setup: Setup, missing: dict[str, str]):
        self.rows = rows
        self.missing = missing
        self.plain = [row for row in rows if row.plain]
        self.train = setup.config.train
        self.train_first: set[str] = set()
        for scale in setup.scales.values():
            self.train_first.update(scale.train_first)
        self.carded = _find_carded(setup, self.plain) if setup.card else set()
        if setup.card:
            # its costs are ratios, of models that are timed here in the same rounds
            self.train_first.update(setup.asked.keys() - self.carded)

    # what is planned

    @cached_property
    def jobs(self) -> dict[str, Job]:
        """Map each digest to its job."""
        return {row.job.digest: row.job for row in self.rows}

    @cached_property
    def configurations(self) -> dict[str, str]:
        """Map each configuration whose costs are measured to its run with the first seed."""
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

    @property
    def threads(self) -> list[int]:
        """List the numbers of threads with which models are trained."""
        numbers = {job.training.threads for job in self.jobs.values()}
        return sorted(numbers)

    def job_of(self, configuration: str) -> Job:
        """Return the job whose model is measured for a configuration."""
        return self.jobs[self.configurations[configuration]]

    def cores_of(self, digest: str) -> int:
        """Count the cores that a run is trained on."""
        return self.jobs[digest].training.cores

    # of a question; without one, all

    @cached_property
    def _by_question(self) -> dict[str, list[PlanRow]]:
        rows = defaultdict(list)
        for row in self.rows:
            rows[row.question].append(row)
        return rows

    def rows_of(self, question: str | None = None) -> list[PlanRow]:
        """List the rows of a question."""
        if question is None:
            return self.rows
        return self._by_question.get(question, [])

    def digests_of(self, question: str | None = None) -> list[str]:
        digests = [row.job.digest for row in self.rows_of(question)]
        return list(dict.fromkeys(digests))

    def configurations_of(self, question: str) -> list[str]:
        plain = [row for row in self.rows_of(question) if row.plain]
        configurations = [row.job.configuration for row in plain]
        return list(dict.fromkeys(configurations))

    def longest_spans(self, question: str) -> list[str]:
        """List the configurations from which the longest S is sought.

        Each span at its largest S, with all keys and softmax.
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
        """Digest the rows of a question: if they change, what is made of them is made again."""
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
        return _digest("\n".join(lines))

    # what is trained here

    @cached_property
    def trained_anyway(self) -> frozenset[str]:
        """Collect the runs that are trained here although their record ships with the project."""
        if self.train == "everything":
            return frozenset(self.jobs)
        if self.train == "nothing":
            return frozenset()
        named = set()
        for row in self.plain:
            if row.question in self.train_first:
                named.add(row.job.digest)
        first_seeds = self.configurations.values()
        return frozenset(named.intersection(first_seeds))

    def is_precomputed(self, digest: str) -> bool:
        """Say whether the record of a run is one that ships with the project."""
        return digest not in self.trained_anyway and ships(digest)

    @cached_property
    def precomputed(self) -> list[str]:
        """List the runs whose records ship with the project."""
        return [digest for digest in self.jobs if self.is_precomputed(digest)]

    @cached_property
    def trained(self) -> list[str]:
        """List the runs that are trained here."""
        taken = set(self.precomputed)
        return [digest for digest in self.jobs if digest not in taken]

    @cached_property
    def shipped(self) -> dict[str, str]:
        """Map the runs whose shipped record is read to its `contents`.

        A run whose folder holds a record is not among them, though its record may ship as well.
        """
        store = own_store()
        read = {}
        for digest in self.precomputed:
            if store.file_of(digest) is None:
                read[digest] = store.shipped[digest].contents
        return read

    def shipped_contents(self, digests: Iterable[str]) -> str:
        """Digest the `contents` of the shipped records among these runs; empty if there are none.

        What is made of these records is made again if one of them changes.
        """
        contents = []
        for digest in digests:
            if digest in self.shipped:
                contents.append(self.shipped[digest])
        if not contents:
            return ""
        return _digest("\n".join(contents))

    # trials

    @cached_property
    def choices(self) -> dict[str, Job]:
        """Map the name of each choice among trials to a job that waits for it."""
        following = [job for job in self.jobs.values() if job.trials]
        return {name_choice(job): job for job in following}

    def trials_of(self, choice: str) -> list[str]:
        """List the trials of a choice by digest; end with an error line if there are none."""
        if choice not in self.choices:
            raise SystemExit(f"config error: choice {choice}: no run of this config needs it")
        return list(self.choices[choice].trials)

    # groups that are timed together

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
        found = []
        for group, members in self.groups.items():
            if wanted.issuperset(members):
                found.append(group)
        return found

    def jobs_of(self, group: str) -> list[Job]:
        """List the jobs whose models are measured for a group; all are of one task."""
        configurations = self.groups[group]
        return list(map(self.job_of, configurations))
