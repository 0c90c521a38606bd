"""How long runs will take, learned from records: as long as the nearest run took, times how much more they compute.

The nearest: of the same kind of device, then of the same task, then of this machine, then by `Place.distance`. Of all
seeds of a configuration the fastest counts: whatever else the machine had to do made the others slower. How far such an
estimate is off is measured on the records themselves: each is predicted by the others.
"""

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, median

from workflow.config.job import Job
from workflow.monitor.work import Place
from workflow.results.record import Record

START = 4.0  # seconds in which a run starts and ends, however little it computes
FAR = 10.0  # times the work of the nearest record; beyond that a time is a guess and the memory is not known
FEW = 8  # records; of fewer, how far estimates are off is not measured
# Times too long or too short, where nothing here measures it. Runs of scale laptop told from those of overnight, on
# another machine and with up to 60 times the work, were off by 1.9 on average (docs/log.md).
UNMEASURED, ELSEWHERE, OTHER_TASK = 1.5, 1.5, 1.5


@dataclass(frozen=True)
class Timed:
    """A run that ended. benchmark: seconds of its process, where Snakemake timed it. here: on this machine."""

    record: Record
    here: bool
    benchmark: float | None = None

    @property
    def seconds(self) -> float | None:
        """Of the whole process; None of a run that failed. Of one that was resumed, Snakemake timed the rest alone."""
        if self.record.cost is None:
            return None
        spent = self.record.cost.seconds
        return self.benchmark if self.benchmark and self.benchmark >= spent else spent + START


@dataclass(frozen=True)
class Known:
    """A configuration of which runs have ended on a device: one record, and the seconds of each of `digests`."""

    record: Record
    place: Place
    device: str
    here: bool
    digests: tuple[str, ...]
    seconds: tuple[float, ...]

    @property
    def job(self) -> Job:
        return self.record.job

    @property
    def is_gpu(self) -> bool:
        return not self.device.startswith("cpu")


@dataclass(frozen=True)
class Estimate:
    """seconds of one run. error: times too long or too short, on average. nearest: what it was learned from."""

    seconds: float
    error: float
    nearest: Known
    times: float  # how much more, or less, this run computes than that one
    same_task: bool


class Estimator:
    """What is known of how long runs take, on a GPU or on a CPU."""

    def __init__(self, runs: Iterable[Timed], *, gpu: bool = False):
        cells: dict[tuple[str, str, bool], dict[str, Timed]] = defaultdict(dict)
        for run in (run for run in runs if run.record.cost):  # each digest once, wherever it was read
            cells[run.record.job.configuration, run.record.origin.device, run.here][run.record.digest] = run
        self.gpu, self.known = gpu, [_known(key, list(cell.values())) for key, cell in cells.items()]

    def estimate(self, job: Job, without: str | None = None) -> Estimate | None:
        """Of one run. without: a digest that is left out. None where nothing is known."""
        found = self._seconds(job, without)
        if found is None:
            return None
        seconds, nearest, place = found
        return Estimate(
            seconds=seconds,
            error=self._error(job, place, nearest),
            nearest=nearest,
            times=place.times(nearest.place),
            same_task=job.task == nearest.place.task,
        )

    def _seconds(
        self, job: Job, without: str | None = None, *, others: bool = False
    ) -> tuple[float, Known, Place] | None:
        """others: from other configurations alone."""
        place, configuration = Place.of(job), job.configuration
        known = [each for each in self.known if not others or each.job.configuration != configuration]
        known = [each for each in known if each.digests != (without,)]
        if not known:
            return None
        nearest = min(known, key=lambda each: self._rank(place, each, configuration))
        timed = zip(nearest.digests, nearest.seconds, strict=True)
        spent = min(seconds for digest, seconds in timed if digest != without)
        return START + max(0.0, spent - START) * place.work / nearest.place.work, nearest, place

    def _rank(self, place: Place, known: Known, configuration: str) -> tuple:
        same = known.job.configuration == configuration
        other_task = known.place.task != place.task
        return known.is_gpu != self.gpu, other_task, not known.here, not same, place.distance(known.place)

    def _error(self, job: Job, place: Place, nearest: Known) -> float:
        same = nearest.job.configuration == job.configuration
        error = self.errors["again" if same else "near"].mean
        error *= 1 if nearest.here else ELSEWHERE
        error *= 1 if nearest.place.task == job.task else OTHER_TASK
        return error * math.sqrt(max(1.0, place.times(nearest.place) / FAR))

    @cached_property
    def errors(self) -> "dict[str, Errors]":
        """again: a run predicted by other seeds of its configuration; near: a configuration by the others."""
        logs: dict[str, list[float]] = {"again": [], "near": []}
        for known in (each for each in self.known if each.is_gpu == self.gpu and each.here):
            near = self._seconds(known.job, others=True)
            timed = list(zip(known.digests, known.seconds, strict=True))
            for digest, seconds in timed:
                if len(known.digests) > 1:
                    again = min(each for other, each in timed if other != digest)
                    logs["again"].append(abs(math.log(again / seconds)))
                if near and near[1].here and near[1].place.task == known.place.task:
                    logs["near"].append(abs(math.log(near[0] / seconds)))
        return {name: Errors.of(values) for name, values in logs.items()}


@dataclass(frozen=True)
class Errors:
    """How far estimates of single runs were off: times too long or too short. count: runs that were predicted."""

    count: int
    median: float
    most: float  # of nine in ten
    mean: float

    @property
    def measured(self) -> bool:
        return self.count >= FEW

    @classmethod
    def of(cls, logs: list[float]) -> "Errors":
        if len(logs) < FEW:
            return cls(len(logs), UNMEASURED, UNMEASURED, UNMEASURED)
        middle, most = median(logs), sorted(logs)[math.ceil(0.9 * len(logs)) - 1]
        return cls(len(logs), math.exp(middle), math.exp(most), math.exp(fmean(logs)))


def _known(key: tuple[str, str, bool], runs: list[Timed]) -> Known:
    record, (_, device, here) = runs[0].record, key
    digests, seconds = tuple(run.record.digest for run in runs), tuple(run.seconds for run in runs)
    return Known(record, Place.of(record.job), device, here, digests, seconds)
