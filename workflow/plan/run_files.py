"""Name the files of runs, and the wildcards that match them.

results/data/CORPUS.npz             what a run reads
results/runs/DIGEST/job.json        what identifies it
results/choices/CHOICE.json         which trial it follows
results/runs/DIGEST/record.json     what it leaves, with weights.pt next to it
"""

import re
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from workflow.plan.planned_runs import PlannedRuns, name_choice

RUNS = "results/runs"
DIGEST = "[0-9a-f]{12}"


def digests(wanted: list[str], others: list[str]) -> str:
    """Return a regular expression for the wanted digests.

    It lists them, or excludes the `others` if these are fewer: Snakemake matches it against every
    file, so a long one would cost much time.
    """
    if len(wanted) <= len(others):
        return pattern(wanted)
    return f"(?!{pattern(others)}){DIGEST}"


def pattern(names: Iterable[str]) -> str:
    """Return a regular expression for these names and nothing else."""
    return "|".join(map(re.escape, names)) or "(?!)"


class RunFiles:
    """The files of the runs of a plan."""

    def __init__(self, runs: PlannedRuns):
        self.runs = runs

    @cached_property
    def without_job_file(self) -> list[str]:
        """List the runs without a job file.

        A job file that exists is not an output: its content never changes.
        """
        lacking = []
        for digest, job in self.runs.jobs.items():
            is_available = job.corpus not in self.runs.missing
            path = Path(f"{RUNS}/{digest}/job.json")
            if is_available and not path.exists():
                lacking.append(digest)
        return lacking

    def data_of(self, digest: str) -> str:
        """Name the dataset that a run reads; end in a line where it is not available."""
        corpus = self.runs.jobs[digest].corpus
        reason = self.runs.missing.get(corpus)
        # Snakemake asks for what is to be made alone, and shows other errors in many lines
        if reason is not None:
            raise SystemExit(f"config error: {reason}")
        return f"results/data/{corpus}.npz"

    def choice_of(self, digest: str) -> list[str]:
        """Name the file that says which trial a run follows; none of one without trials."""
        job = self.runs.jobs[digest]
        if not job.trials:
            return []
        return [f"results/choices/{name_choice(job)}.json"]

    def records_of(self, question: str | None = None) -> list[str]:
        """List the records of a question, or all: of the runs that are or were trained here."""
        return self._records(self.runs.digests_of(question))

    def trial_records_of(self, choice: str) -> list[str]:
        """List the records of the trials of a choice that are trained here."""
        return self._records(self.runs.trials_of(choice))

    def _records(self, digests: Iterable[str]) -> list[str]:
        files = []
        for digest in digests:
            if digest not in self.runs.shipped:
                files.append(f"{RUNS}/{digest}/record.json")
        return files

    def model_of(self, configuration: str) -> str:
        """Name the file that a configuration is measured from: its weights, or its job.

        A precomputed run has no weights; its costs are found by its job.
        """
        digest = self.runs.configurations[configuration]
        if self.runs.is_precomputed(digest):
            return f"{RUNS}/{digest}/job.json"
        return weights_of(digest)

    def models_of(self, group: str) -> list[str]:
        """List the same for the configurations of a group."""
        configurations = self.runs.groups[group]
        return list(map(self.model_of, configurations))


def weights_of(digest: str) -> str:
    """Name the file with the weights of a run."""
    return f"{RUNS}/{digest}/weights.pt"
