"""Estimate how long runs will take from records: as long as the nearest run took, times how much
more they compute.

The nearest: of the same kind of device, then of the same task, then of this machine (unless it
computes far less or more), then the most alike. Of several seeds of a configuration the fastest
counts: whatever else the machine had to do made the others slower.
"""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from workflow.config.choices import AXES
from workflow.config.errors import ConfigError
from workflow.config.job import Job
from workflow.plan.work import SHARE, Device, device_seconds, work
from workflow.results.record import Record
from workflow.results.store import own_store

START = 4.0  # seconds in which a run starts and ends, however little it computes
# Times too long or too short: runs of scale laptop told from those of overnight, on another machine
# and with up to 60 times the work, were off by 1.9 on average (docs/log.md).
OFF = 2.0
# a run of so many times less work mostly starts and ends, and says nothing of this machine
COMPARABLE = math.log(60)
# how far two runs are apart, in powers of e of work
OTHER_CHOICE, OTHER_NET, OTHER_CORPUS = 2.0, 1.0, 0.1


@dataclass(frozen=True)
class Timed:
    """A run that ended. here: on this machine."""

    record: Record
    here: bool

    @property
    def seconds(self) -> float:
        """Return how long the whole process took."""
        return self.record.cost.seconds + START

    @cached_property
    def work(self) -> float:
        return work(self.record.job)

    @property
    def is_gpu(self) -> bool:
        return not self.record.origin.device.startswith("cpu")


@dataclass(frozen=True)
class Estimate:
    """seconds of one run; nearest: the run that it is told from."""

    job: Job
    seconds: float
    nearest: Timed


def estimate(job: Job, runs: Iterable[Timed], *, gpu: bool = False) -> Estimate | None:
    """Estimate the time of one run, on a GPU or on a CPU; None where no run has ended well."""
    computed, configuration = work(job), job.configuration
    ended = [run for run in runs if run.record.cost]
    nearest = min(
        ended, key=lambda run: _distance(job, computed, configuration, run, gpu), default=None
    )
    if nearest is None:
        return None
    return Estimate(job, START + nearest.record.cost.seconds * computed / nearest.work, nearest)


def _distance(job: Job, computed: float, configuration: str, run: Timed, gpu: bool) -> tuple:
    known = run.record.job
    choices = sum(
        getattr(job.attention, axis)["name"] != getattr(known.attention, axis)["name"]
        for axis in AXES
    )
    apart = abs(math.log(computed / run.work)) + OTHER_CHOICE * choices
    apart += OTHER_NET * (job.net.name != known.net.name) + OTHER_CORPUS * (
        job.corpus != known.corpus
    )
    here = run.here and abs(math.log(computed / run.work)) < COMPARABLE
    kinds = (
        run.is_gpu != gpu,
        job.task != known.task,
        not here,
        known.configuration != configuration,
    )
    return (*kinds, apart, run.seconds)


def read_timed(runs: Path) -> list[Timed]:
    """Read every run whose record can be read: those of this folder first, then those that ship.

    A run took place here if its folder holds weights: none ship with a record.
    """
    records = own_store(runs)
    found = []
    for digest in records.digests():
        try:
            record = records.read(digest)
        except (ConfigError, OSError):
            continue  # edited, or of another version: no estimate is based on it
        found.append(Timed(record, here=(runs / digest / "weights.pt").exists()))
    return found


def spell(seconds: float) -> str:
    """Write seconds in the unit that keeps the number short: 90 -> '1.5 min'."""
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


def spell_hours(hours: float) -> str:
    """Write hours, with two digits where they are few: 0.1304, 84.2, 4523.0 -> '0.13', '84',
    '4,523'.
    """
    if hours < 0.01:
        return "less than 0.01"
    return f"{hours:,.0f}" if hours >= 10 else f"{hours:.2g}"


@dataclass(frozen=True)
class TrainingTime:
    """estimates: one for each run of which something like it has ended. cores: of the machine; a
    GPU takes one run.
    """

    estimates: list[Estimate]
    cores: int

    @classmethod
    def of(
        cls, jobs: Iterable[Job], known: list[Timed], cores: int, *, gpu: bool = False
    ) -> "TrainingTime":
        return cls([each for job in jobs if (each := estimate(job, known, gpu=gpu))], cores)

    @property
    def on_gpu(self) -> bool:
        """Tell whether all of it was estimated from runs on a GPU."""
        return all(each.nearest.is_gpu for each in self.estimates)

    @property
    def device_seconds(self) -> float:
        """Sum the seconds of a core, or of the GPU."""
        return sum(each.seconds * self._threads(each.job) for each in self.estimates)

    @property
    def wall(self) -> float:
        """Estimate the seconds until all is done: the work shared among the cores, and at least the
        longest run.
        """
        longest = max(each.seconds for each in self.estimates)
        return max(self.device_seconds / (1 if self.on_gpu else self.cores), longest)

    def _threads(self, job: Job) -> int:
        return 1 if self.on_gpu else min(job.training.cores, self.cores)

    def source_lines(self) -> list[str]:
        """Say which runs the estimates are based on, and how close these are to the plan."""
        nearest = {id(each.nearest): each.nearest for each in self.estimates}.values()
        places = {
            f"{run.record.origin.device} ({'run here' if run.here else 'precomputed'})"
            for run in nearest
        }
        new = [
            each
            for each in self.estimates
            if each.job.configuration != each.nearest.record.job.configuration
        ]
        lines = [f"based on {len(nearest)} runs on {', '.join(sorted(places))}"]
        lines.append(
            f"{len(self.estimates) - len(new)} of {len(self.estimates)} repeat a configuration that has run"
        )
        lines[-1] += f"; the other estimates may be off by {OFF:g}× or more" if new else ""
        if other := sorted(
            {each.job.task for each in new if each.nearest.record.job.task != each.job.task}
        ):
            lines.append(
                f"no run of {', '.join(other)} has a record: the time is extrapolated from another task"
            )
        return lines


def device_lines(jobs: Iterable[Job], name: str, device: Device) -> list[str]:
    """Say how long a named device would train all jobs, those that are trained already among
    them.
    """
    jobs, seconds = list(jobs), Counter()
    for job in jobs:
        seconds[job.task] += device_seconds(job, device)
    by_task = ", ".join(f"{task} {spell_hours(spent / 3600)}" for task, spent in seconds.items())
    return [
        f"on one {name}: about {spell_hours(seconds.total() / 3600)} hours to train all {len(jobs)} runs",
        f"  {by_task}",
        f"  predicted from MACs at {100 * SHARE:.0f} % of the device's peak rate, not measured: "
        "large models reach 44 to 52 % (Narayanan et al. 2021), small ones less",
    ]
