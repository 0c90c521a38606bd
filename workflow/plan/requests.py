"""Say what time and memory a job asks a scheduler for, as functions for `resources:`, and which
runs travel together.

A run asks for its estimated time (`workflow.plan.estimate`) times the factor by which estimates may
be off; other jobs ask for minutes. A job that asked for too little asks for more at each attempt.
"""

import math
from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path

from workflow.config.job import Job
from workflow.plan.estimate import (
    FAR,
    OFF,
    Estimate,
    Timed,
    estimate,
    memory_bytes,
    read_timed,
    work,
)
from workflow.plan.targets import Targets

DAY = 86400  # seconds; a run that takes longer is interrupted, and goes on in its next job
# seconds before its time is up that a run is told so: enough to end an update and write a
# checkpoint
NOTICE = 120
SHORT = 600  # seconds; runs that ask for no more travel in groups
# minutes that a job asks for: one that is no run; one that times configurations
MINUTES, TIMING = 10, 60
# A run asks for so many times the memory that it is expected to take, and from the second attempt
# on for twice that, no more: a run that is interrupted again and again must not outgrow its node.
SPARE = 1.5
UNKNOWN = 8000  # MB, for a run where nothing like it has ended
# options of sbatch; alone: no other job on its node
TOLD, ALONE = f"--signal=USR1@{NOTICE}", "--exclusive"

Request = Callable[..., int]


class Requests:
    """What each rule asks for. scheduled: whether jobs go to a scheduler; if not, nothing is
    estimated or asked for.
    """

    def __init__(self, targets: Targets, *, scheduled: bool):
        self.targets, self.scheduled = targets, scheduled
        self.estimate = cache(self._estimate)

    @cached_property
    def known(self) -> list[Timed]:
        return read_timed(Path("results/runs"))

    # requests of rules

    def of_run(self) -> dict[str, Request | str]:
        """Return what `train` asks for; GPUs in any case, because without a scheduler Snakemake
        counts them.
        """
        jobs, gpus = self.targets.runs.jobs, self.targets.config.gpus
        return {
            "gpu": lambda wildcards: gpus * jobs[wildcards.digest].training.devices
        } | self._asked(
            lambda wildcards, attempt: minutes(
                self.seconds_of(wildcards.digest) * 2 ** (attempt - 1)
            ),
            mem_mb=lambda wildcards, attempt: min(attempt, 2) * self.megabytes_of(wildcards.digest),
            slurm_extra=TOLD,
        )

    def of_configuration(self) -> dict[str, Request]:
        """Return what a rule that measures the net of one configuration asks for."""
        digests = self.targets.runs.configurations
        return self._asked(
            _rising(MINUTES),
            mem_mb=lambda wildcards, attempt: (
                min(attempt, 2) * self.megabytes_of(digests[wildcards.configuration])
            ),
        )

    def of_timing(self) -> dict[str, Request | str]:
        """Return what a rule that times asks for: it has its node to itself."""
        return self._asked(_rising(TIMING), slurm_extra=ALONE)

    def of_data(self) -> dict[str, Request]:
        """Return what a rule that makes or reads a dataset asks for."""
        return self._asked(_rising(MINUTES))

    @property
    def group(self) -> Callable | None:
        """Return the function that groups short runs, which travel together; None where nothing is
        scheduled.
        """
        of_run = lambda wildcards: "short" if self.seconds_of(wildcards.digest) <= SHORT else None  # noqa: E731
        return of_run if self.scheduled else None

    @property
    def group_of_pages(self) -> str | None:
        """Name the group of what is made of records; None where nothing is scheduled.

        Whenever a run ends, Snakemake looks at all that a job of a group waits for: long for ten
        thousand runs.
        """
        return "report" if self.scheduled else None

    def _asked(self, runtime: Request, **more: Request | str) -> dict[str, Request | str]:
        return {"runtime": runtime, **more} if self.scheduled else {}

    # estimates

    def _estimate(self, digest: str) -> Estimate | None:
        """Estimate a run; None where all runs known are far smaller, or not of the same kind of
        device.
        """
        gpu = bool(self.targets.config.gpus)
        found = estimate(self._job(digest), self.known, gpu=gpu)
        if found is None or found.nearest.is_gpu != gpu:
            return None
        return found if work(found.job) <= FAR * found.nearest.work else None

    def seconds_of(self, digest: str) -> float:
        """Return the seconds to ask for: the estimate with its error, at most the run's own limit,
        and `NOTICE`.
        """
        limit, expected = self._job(digest).training.time_limit_s, self.estimate(digest)
        return NOTICE + (min(limit, expected.seconds * OFF) if expected else limit)

    def megabytes_of(self, digest: str) -> int:
        expected = self.estimate(digest)
        peak = memory_bytes(self._job(digest), expected.nearest.record) if expected else None
        return UNKNOWN if peak is None else math.ceil(SPARE * peak / 1e6)

    def _job(self, digest: str) -> Job:
        return self.targets.runs.jobs[digest]


def _rising(needed: int) -> Request:
    """Return a request for so many minutes, doubled at each further attempt."""
    return lambda wildcards, attempt: minutes(60 * needed * 2 ** (attempt - 1))


def minutes(seconds: float) -> int:
    """Round seconds up to minutes, at most a day."""
    return math.ceil(min(seconds, DAY) / 60)
