"""What a job asks a scheduler for, time and memory, as functions for `resources:`; and which runs travel together.

The time of a run is that of the estimates (`workflow.monitor.estimate`), as much longer as they are off; other jobs
take minutes. A job that asked for too little asks for more at each attempt.
"""

import math
from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path

from workflow.config.job import Job
from workflow.monitor.estimate import FAR, Estimate, Estimator
from workflow.monitor.resources import memory_bytes
from workflow.monitor.timed import read_timed
from workflow.monitor.work import work
from workflow.plan.targets import Targets

DAY = 86400  # seconds; a run that takes longer is interrupted, and goes on in its next job
NOTICE = 120  # seconds before its time is up in which a run is told so: what is left of an update, and a checkpoint
SHORT = 600  # seconds; runs that ask for no more travel in groups
MINUTES, TIMING = 10, 60  # that another job asks for; that a timing of all configurations of a question does
SPARE = (
    1.5  # times the memory that a run is expected to take; twice that from the second attempt on, and no more: a run
)
# that is interrupted again and again must not outgrow its node
UNKNOWN = 8000  # MB of a run like which none has ended
TOLD, ALONE = f"--signal=USR1@{NOTICE}", "--exclusive"  # for sbatch; alone: no other job on its node

Request = Callable[..., int]


class Requests:
    """scheduled: whether jobs go to a scheduler; where they do not, nothing is estimated and nothing is asked for."""

    def __init__(self, targets: Targets, *, scheduled: bool):
        self.targets, self.scheduled = targets, scheduled
        self.estimate = cache(self._estimate)

    @cached_property
    def estimator(self) -> Estimator:
        return Estimator(read_timed(Path("results/runs")), gpu=bool(self.targets.config.gpus))

    # what rules ask for

    def of_run(self) -> dict[str, Request | str]:
        """Of the rule `train`; its GPUs everywhere, for without a scheduler Snakemake counts them."""
        runs, gpus = self.targets.runs, self.targets.config.gpus
        return {"gpu": lambda wildcards: gpus * runs.devices_of(wildcards.digest)} | self._asked(
            lambda wildcards, attempt: minutes(self.seconds_of(wildcards.digest) * 2 ** (attempt - 1)),
            mem_mb=lambda wildcards, attempt: min(attempt, 2) * self.megabytes_of(wildcards.digest),
            slurm_extra=TOLD,
        )

    def of_configuration(self) -> dict[str, Request]:
        """Of a rule that measures the net of one configuration."""
        digests = self.targets.runs.configurations
        return self._asked(
            _rising(MINUTES),
            mem_mb=lambda wildcards, attempt: min(attempt, 2) * self.megabytes_of(digests[wildcards.configuration]),
        )

    def of_timing(self) -> dict[str, Request | str]:
        """Of a rule that times: it has its node to itself."""
        return self._asked(_rising(TIMING), slurm_extra=ALONE)

    def of_data(self) -> dict[str, Request]:
        """Of a rule that makes or reads a data set."""
        return self._asked(_rising(MINUTES))

    @property
    def group(self) -> Callable | None:
        """Of short runs."""
        of_run = lambda wildcards: "short" if self.seconds_of(wildcards.digest) <= SHORT else None  # noqa: E731
        return of_run if self.scheduled else None

    def _asked(self, runtime: Request, **more: Request | str) -> dict[str, Request | str]:
        return {"runtime": runtime, **more} if self.scheduled else {}

    # estimates

    def _estimate(self, digest: str) -> Estimate | None:
        """None where all that has run is far smaller, or was on a CPU and this is for a GPU."""
        job = self._job(digest)
        estimate = self.estimator.estimate(job)
        if estimate is None or estimate.nearest.is_gpu != self.estimator.gpu:
            return None
        return estimate if work(job) <= FAR * work(estimate.nearest.job) else None

    def seconds_of(self, digest: str) -> float:
        """As long as the run may well take, at most as long as its own limit allows."""
        limit, estimate = self._job(digest).training.time_limit_s, self.estimate(digest)
        return NOTICE + (min(limit, estimate.seconds * estimate.error) if estimate else limit)

    def megabytes_of(self, digest: str) -> int:
        estimate = self.estimate(digest)
        peak = memory_bytes(self._job(digest), estimate.nearest.record) if estimate else None
        return UNKNOWN if peak is None else math.ceil(SPARE * peak / 1e6)

    def _job(self, digest: str) -> Job:
        return self.targets.runs.jobs[digest]


def _rising(needed: int) -> Request:
    """So many minutes, twice as many at each attempt."""
    return lambda wildcards, attempt: minutes(60 * needed * 2 ** (attempt - 1))


def minutes(seconds: float) -> int:
    """At least one, and no more than a day has."""
    return math.ceil(min(seconds, DAY) / 60)
