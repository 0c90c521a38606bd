"""Ask a scheduler for time and memory, by functions for `resources:`, and say which runs travel together.

A run asks for its estimated time (`workflow.plan.estimate`), as much longer as estimates are off; other jobs take
minutes. A job that asked for too little asks for more at each attempt.
"""

import math
from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path

from workflow.config.job import Job
from workflow.plan.estimate import OFF, Estimate, Timed, estimate, read_timed
from workflow.plan.targets import Targets
from workflow.plan.work import FAR, memory_bytes, work

DAY = 86400  # seconds; a run that takes longer is interrupted, and goes on in its next job
NOTICE = 120  # seconds before its time is up in which a run is told so: what is left of an update, and a checkpoint
SHORT = 600  # seconds; runs that ask for no more travel in groups
MINUTES, TIMING = 10, 60  # that another job asks for; that a timing of all configurations of a question does
# Times the memory that a run is expected to take; twice that from the second attempt on, and no more: a run that is
# interrupted again and again must not outgrow its node.
SPARE = 1.5
UNKNOWN = 8000  # MB, for a run where nothing like it has ended
TOLD, ALONE = f"--signal=USR1@{NOTICE}", "--exclusive"  # for sbatch; alone: no other job on its node

Request = Callable[..., int]


class Requests:
    """scheduled: whether jobs go to a scheduler; where they do not, nothing is estimated and nothing is asked for."""

    def __init__(self, targets: Targets, *, scheduled: bool):
        self.targets, self.scheduled = targets, scheduled
        self.estimate = cache(self._estimate)

    @cached_property
    def known(self) -> list[Timed]:
        return read_timed(Path("results/runs"))

    # what rules ask for

    def of_run(self) -> dict[str, Request | str]:
        """Return what the rule `train` asks for; its GPUs everywhere, for without a scheduler Snakemake counts them."""
        runs, gpus = self.targets.runs, self.targets.config.gpus
        return {"gpu": lambda wildcards: gpus * runs.devices_of(wildcards.digest)} | self._asked(
            lambda wildcards, attempt: minutes(self.seconds_of(wildcards.digest) * 2 ** (attempt - 1)),
            mem_mb=lambda wildcards, attempt: min(attempt, 2) * self.megabytes_of(wildcards.digest),
            slurm_extra=TOLD,
        )

    def of_configuration(self) -> dict[str, Request]:
        """Return what a rule asks for that measures the net of one configuration."""
        digests = self.targets.runs.configurations
        return self._asked(
            _rising(MINUTES),
            mem_mb=lambda wildcards, attempt: min(attempt, 2) * self.megabytes_of(digests[wildcards.configuration]),
        )

    def of_timing(self) -> dict[str, Request | str]:
        """Return what a rule asks for that times: it has its node to itself."""
        return self._asked(_rising(TIMING), slurm_extra=ALONE)

    def of_data(self) -> dict[str, Request]:
        """Return what a rule asks for that makes or reads a data set."""
        return self._asked(_rising(MINUTES))

    @property
    def group(self) -> Callable | None:
        """Group short runs, which travel together; None where nothing is scheduled."""
        of_run = lambda wildcards: "short" if self.seconds_of(wildcards.digest) <= SHORT else None  # noqa: E731
        return of_run if self.scheduled else None

    def _asked(self, runtime: Request, **more: Request | str) -> dict[str, Request | str]:
        return {"runtime": runtime, **more} if self.scheduled else {}

    # estimates

    def _estimate(self, digest: str) -> Estimate | None:
        """Estimate a run; None where all that has run is far smaller, or was on a CPU and this is for a GPU."""
        gpu = bool(self.targets.config.gpus)
        found = estimate(self._job(digest), self.known, gpu=gpu)
        if found is None or found.nearest.is_gpu != gpu:
            return None
        return found if work(found.job) <= FAR * found.nearest.work else None

    def seconds_of(self, digest: str) -> float:
        """Estimate the seconds that the run may well take, at most as long as its own limit allows."""
        limit, expected = self._job(digest).training.time_limit_s, self.estimate(digest)
        return NOTICE + (min(limit, expected.seconds * OFF) if expected else limit)

    def megabytes_of(self, digest: str) -> int:
        expected = self.estimate(digest)
        peak = memory_bytes(self._job(digest), expected.nearest.record) if expected else None
        return UNKNOWN if peak is None else math.ceil(SPARE * peak / 1e6)

    def _job(self, digest: str) -> Job:
        return self.targets.runs.jobs[digest]


def _rising(needed: int) -> Request:
    """Ask for so many minutes, twice as many at each attempt."""
    return lambda wildcards, attempt: minutes(60 * needed * 2 ** (attempt - 1))


def minutes(seconds: float) -> int:
    """Round up to minutes: at least one, and no more than a day has."""
    return math.ceil(min(seconds, DAY) / 60)
