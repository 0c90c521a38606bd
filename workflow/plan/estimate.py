"""Estimate what runs take, and say what their jobs ask a scheduler for. Nothing is measured.

A run is expected to take as long as the nearest run with a record took, times how much more it
computes. The nearest: of the same kind of device, then of the same task, then of this machine
(unless it computes far less or more), then the most alike. Of several seeds of a configuration the
fastest counts: whatever else the machine had to do made the others slower.

A run asks for its estimated time times the factor by which estimates may be off; other jobs ask for
minutes. A job that asked for too little asks for more at each attempt. Short runs travel together.
"""

import math
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from pydantic import Field

from workflow.config.choices import AXES, choice_names, has_kernel, has_library
from workflow.config.errors import ConfigError
from workflow.config.files import config_file
from workflow.config.job import Job
from workflow.config.strict import StrictModel, parse, read_yaml
from workflow.plan.planned_runs import PlannedRuns
from workflow.plan.targets import Targets
from workflow.results.record import Record
from workflow.results.registry import OVER_S
from workflow.results.store import own_store

# Fitted leave-one-out on the runs of scale laptop (docs/log.md): an update of a layer has a fixed
# cost of 30 million multiply-adds, and a multiply-add of attention costs as much as four of a
# matrix.
PER_LAYER_AND_UPDATE = 3e7
OF_ATTENTION = 4
# beyond so many times the work of another run, a run's time is a guess and its memory unknown
FAR = 10.0
# The share of its peak rate that a device reaches. Megatron-LM reaches 44 to 52 % on A100
# (Narayanan et al. 2021, Table 1) with far wider layers than the papers'; narrower ones leave more
# idle. No run of this suite has measured it.
SHARE = 0.3
PASSES = 3  # a backward pass computes twice what the forward pass does


class Device(StrictModel):
    """A device. fp32, bf16: its peak rates in operations a second; bf16 is None where it computes
    in 32 bits alone.
    """

    fp32: float = Field(gt=0)
    bf16: float | None = Field(None, gt=0)
    source: str = Field(min_length=3)


def load_devices() -> dict[str, Device]:
    """Read the devices of config/devices.yaml, by name."""
    raw = read_yaml(config_file("devices.yaml"))
    return {
        name: parse(Device, entry, f"config/devices.yaml: {name}") for name, entry in raw.items()
    }


def work(job: Job) -> float:
    """Count a training as multiply-adds of a matrix: N (3e7 + tokens (4 d^2 + 2 d ff + 4 * 2 S d))
    per update.
    """
    net = job.net
    # queries with keys, weights with values: 2 S d
    products = 2 * reach(job) * net.d_model
    attention = OF_ATTENTION * products
    per_token = matrices(job) / net.layers + attention
    layer = PER_LAYER_AND_UPDATE + job.training.tokens_per_update * per_token
    return job.training.steps * net.layers * layer


def reach(job: Job) -> int:
    """Return the most keys that a query can see: S, or the length of the cache, and no more than a
    sentence has.
    """
    span = job.attention.span
    keys = span.get("limit") or span.get("cache") or 0
    longest = getattr(job.net, "max_length", math.inf)
    return min(keys, longest)


def matrices(job: Job) -> int:
    """Count the numbers in the matrices of a net's layers, roughly."""
    net = job.net
    attention = 4 * net.d_model**2
    feed_forward = 2 * net.d_model * net.d_ff
    return net.layers * (attention + feed_forward)


def memory_bytes(job: Job, record: Record) -> float | None:
    """Take the peak memory of another run in bytes; None if it is of another task, or its updates
    are far smaller.
    """
    if record.job.task != job.task:
        return None
    per_step = work(job) / job.training.steps
    measured = work(record.job) / record.job.training.steps
    if per_step / measured > FAR:
        return None
    return record.cost.peak_memory_bytes


def training_operations(job: Job) -> float:
    """Count the operations of a training, two per multiply-add of matrices and attention, without
    evaluation.
    """
    attention = job.net.layers * 2 * reach(job) * job.net.d_model
    per_token = matrices(job) + attention
    tokens = job.training.steps * job.training.tokens_per_update
    return 2 * PASSES * tokens * per_token


def device_seconds(job: Job, device: Device) -> float:
    """Predict the seconds of a training on a named device, at the assumed share of its peak
    rate.
    """
    rate = device.fp32
    if job.training.precision == "bf16" and device.bf16 is not None:
        rate = device.bf16
    return training_operations(job) / (SHARE * rate)


TOO_LONG = 30 * 86400  # seconds; a longer estimate would be meaningless
START = 4.0  # seconds in which a run starts and ends, however little it computes
# Times too long or too short: runs of scale laptop told from those of overnight, on another machine
# and with up to 60 times the work, were off by 1.9 on average (docs/log.md).
OFF = 2.0
# a run of so many times less work mostly starts and ends, and says nothing of this machine
COMPARABLE = math.log(60)
# how far two runs are apart, in powers of e of work
OTHER_CHOICE, OTHER_NET, OTHER_CORPUS = 2.0, 1.0, 0.1
# that one has compiled code and the other has not, which takes two to four times as long
OTHER_CODE = 5.0


# Costs of a configuration, besides START: forking two processes that load a model, and the steps of
# both. A turn of a timing, besides the seconds that a scale gives it: in seconds and in steps.
FORKS, STEPS_MEASURED = 1.0, 10
TURN, STEPS_OF_TURN = 0.3, 4


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
    computed = work(job)
    configuration = job.configuration
    ended = [run for run in runs if run.record.cost]

    def distance(run: Timed) -> tuple:
        return _distance(job, computed, configuration, run, gpu)

    nearest = min(ended, key=distance, default=None)
    if nearest is None:
        return None
    more_work = computed / nearest.work
    seconds = START + nearest.record.cost.seconds * more_work
    return Estimate(job, seconds, nearest)


def _distance(job: Job, computed: float, configuration: str, run: Timed, gpu: bool) -> tuple:
    """Rank a run by how far it is from a job: by kind, then by work and choices, then by time."""
    known = run.record.job
    more_work = abs(math.log(computed / run.work))
    apart = more_work
    for axis in AXES:
        own = getattr(job.attention, axis)
        if own["name"] != getattr(known.attention, axis)["name"]:
            apart += OTHER_CHOICE
    if _is_compiled(job) != _is_compiled(known):
        apart += OTHER_CODE
    if job.net.name != known.net.name:
        apart += OTHER_NET
    if job.corpus != known.corpus:
        apart += OTHER_CORPUS
    here = run.here and more_work < COMPARABLE
    kinds = (
        run.is_gpu != gpu,
        job.task != known.task,
        not here,
        known.configuration != configuration,
    )
    return (*kinds, apart, run.seconds)


def _is_compiled(job: Job) -> bool:
    """Say whether compiled code knows all choices of a job, where there is a compiler.

    It knows none that has been deleted since, or came from elsewhere.
    """
    for axis in AXES:
        name = getattr(job.attention, axis)["name"]
        if name not in choice_names(axis) or not has_kernel(axis, name):
            return False
    return True


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
        weights = runs / digest / "weights.pt"
        found.append(Timed(record, here=weights.exists()))
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
        estimates = [estimate(job, known, gpu=gpu) for job in jobs]
        return cls([each for each in estimates if each], cores)

    @property
    def on_gpu(self) -> bool:
        """Tell whether all of it was estimated from runs on a GPU."""
        return all(each.nearest.is_gpu for each in self.estimates)

    @property
    def device_seconds(self) -> float:
        """Sum the seconds of a core, or of the GPU."""
        seconds = 0.0
        for each in self.estimates:
            seconds += each.seconds * self._threads(each.job)
        return seconds

    @property
    def wall(self) -> float:
        """Estimate the seconds until all is done.

        The work is shared among the cores, and takes at least as long as the longest run.
        """
        longest = max(each.seconds for each in self.estimates)
        workers = 1 if self.on_gpu else self.cores
        return max(self.device_seconds / workers, longest)

    def _threads(self, job: Job) -> int:
        if self.on_gpu:
            return 1
        return min(job.training.cores, self.cores)

    def source_lines(self) -> list[str]:
        """Say which runs the estimates are based on, and how close these are to the plan."""
        # several estimates may be based on the same run
        nearest = {}
        places = set()
        for each in self.estimates:
            run = each.nearest
            nearest[id(run)] = run
            where = "run here" if run.here else "precomputed"
            places.add(f"{run.record.origin.device} ({where})")
        devices = ", ".join(sorted(places))
        lines = [f"based on {len(nearest)} runs on {devices}"]
        new = []
        other_tasks = set()
        for each in self.estimates:
            known = each.nearest.record.job
            if each.job.configuration == known.configuration:
                continue
            new.append(each)
            if each.job.task != known.task:
                other_tasks.add(each.job.task)
        total = len(self.estimates)
        line = f"{total - len(new)} of {total} repeat a configuration that has run"
        if new:
            line += f"; the other estimates may be off by {OFF:g}× or more"
        lines.append(line)
        if other_tasks:
            names = ", ".join(sorted(other_tasks))
            lines.append(
                f"no run of {names} has a record: the time is extrapolated from another task"
            )
        return lines


def training_lines(needed: TrainingTime, *, gpu: bool) -> list[str]:
    """Say how long runs take, what the estimate is based on, and how much memory they need."""
    if not needed.estimates:
        return ["training: no comparable run has a record, so the time is unknown"]
    if gpu and not needed.on_gpu:
        return [
            "training: no GPU run has a record, so the time is unknown;"
            " see the scale's description above"
        ]
    where = "on one GPU" if needed.on_gpu else f"on {needed.cores} otherwise idle cores"
    if needed.wall > TOO_LONG:
        hint = "the description above says which machine the scale is for"
        lines = [f"training: more than a month {where}; {hint}"]
    else:
        device = "GPU" if needed.on_gpu else "core"
        hours = f"{spell_hours(needed.device_seconds / 3600)} {device}-hours"
        lines = [f"training: about {spell(needed.wall)} {where}; {hours}"]
    lines += [f"  {line}" for line in needed.source_lines()]
    peaks = [memory_bytes(each.job, each.nearest.record) for each in needed.estimates]
    return [*lines, _memory_line(peaks)]


def _memory_line(needed: list[float | None]) -> str:
    known = [peak for peak in needed if peak is not None]
    if not known:
        return "memory: unknown"
    gibibytes = max(known) / 2**30
    line = f"memory: about {gibibytes:.1f} GiB per run"
    unknown = len(needed) - len(known)
    if unknown:
        line += f"; unknown for {unknown} runs"
    return line


def waiting_runs(runs: PlannedRuns, folder: Path) -> list[str]:
    """List the planned runs that have no record yet. folder: of those that were trained here."""
    return [digest for digest in runs.trained if not (folder / digest / "record.json").exists()]


@dataclass(frozen=True)
class CostTime:
    """How long the costs of a card take. seconds: until each file is there, by its path; what runs
    next to others counts for its share of the machine. configurations: how many are measured.
    """

    seconds: dict[str, float]
    configurations: int

    @classmethod
    def of(cls, targets: Targets, known: list[Timed], cores: int) -> "CostTime":
        """Estimate what is not there yet and is measured here, from how long updates take."""
        taken = set(targets.precomputed.files)
        seconds = {}
        measured = set()
        for file in targets.costs_of_card():
            if file in taken or Path(file).exists():
                continue
            kind, name = Path(file).parent.name, Path(file).stem
            if kind == "throughput":  # has the machine to itself
                jobs = targets.runs.jobs_of(name)
                seconds[file] = START + sum(_timing_seconds(job, targets, known) for job in jobs)
                measured.update(job.configuration for job in jobs)
            elif kind in ("memory", OVER_S):  # MACs are counted in the process of memory
                job = targets.runs.job_of(name)
                limits = targets.limits_of_card[name] if kind == OVER_S else [None]
                each = FORKS + STEPS_MEASURED * _update_seconds(job, known, targets)
                seconds[file] = (START + len(limits) * each) / cores
                measured.add(name)
        return cls(seconds, len(measured))

    def line(self, cores: int) -> str:
        """Write the estimate as that of training."""
        return (
            f"costs: about {spell(sum(self.seconds.values()))} on {cores} otherwise idle cores; "
            f"{self.configurations} configurations"
        )


def _timing_seconds(job: Job, targets: Targets, known: list[Timed]) -> float:
    """Estimate how long the turns of a configuration take."""
    measure = targets.shared.measures[job.task]
    kinds = 4 if has_library(job.attention.normaliser["name"]) else 2  # train, predict; by both
    turn = TURN + measure.seconds + STEPS_OF_TURN * _update_seconds(job, known, targets)
    return measure.passes * kinds * turn


def _update_seconds(job: Job, known: list[Timed], targets: Targets) -> float:
    """Estimate how long an update takes, evaluation included; 0 where nothing like it has run."""
    found = estimate(job, known, gpu=bool(targets.config.gpus))
    return (found.seconds - START) / job.training.steps if found else 0.0


def cost_lines(targets: Targets, known: list[Timed], cores: int) -> list[str]:
    """Say how long the costs of a card take, if any are to be measured."""
    needed = CostTime.of(targets, known, cores)
    return [needed.line(cores)] if needed.configurations else []


def card_lines(targets: Targets, cores: int) -> list[str]:
    """Say before a card is made what it trains, and how long that and its costs take."""
    folder = Path("results/runs")
    jobs = [targets.runs.jobs[digest] for digest in waiting_runs(targets.runs, folder)]
    line = (
        f"card of {targets.setup.card.title}: {len(jobs)} of {len(targets.runs.jobs)} runs to train"
    )
    known = read_timed(folder)
    lines = [line]
    if jobs:
        gpu = bool(targets.config.gpus)
        needed = TrainingTime.of(jobs, known, cores, gpu=gpu)
        lines += training_lines(needed, gpu=gpu)[:1]
    return lines + cost_lines(targets, known, cores)


@dataclass(frozen=True)
class Waiting:
    """A run that a card waits for. seconds: expected, of the whole machine. share: of the machine
    that it takes while it runs.
    """

    configuration: str
    seconds: float
    share: float


class Countdown:
    """Tells again and again how long a card still takes.

    A run is expected to take as long as another seed took; without one, as estimated, times what
    the runs that are there took more than that.
    """

    def __init__(
        self,
        runs: dict[str, Waiting],
        costs: dict[str, float],
        seconds_of: Callable[[str], float | None],
    ):
        """Begin now. runs: by digest. costs: expected seconds, by file. seconds_of: how long a run
        took, by digest; None until it is there.
        """
        self.runs = runs
        self.costs = costs
        self.seconds_of = seconds_of
        self.done = 0
        self.changed = time.monotonic()  # when a run was found that was not there before

    @classmethod
    def of(cls, targets: Targets, cores: int) -> "Countdown":
        """Expect what is missing of a card."""
        folder = Path("results/runs")
        known = read_timed(folder)
        gpu = bool(targets.config.gpus)
        runs = {}
        for digest in waiting_runs(targets.runs, folder):
            job = targets.runs.jobs[digest]
            found = estimate(job, known, gpu=gpu)
            share = 1.0 if gpu else min(job.training.cores, cores) / cores
            seconds = share * found.seconds if found else 0.0
            runs[digest] = Waiting(job.configuration, seconds, share)
        store = own_store(folder)
        costs = CostTime.of(targets, known, cores).seconds

        @cache
        def ended(digest: str) -> float:
            cost = store.read(digest).cost
            return START + (cost.seconds if cost else 0.0)

        def seconds_of(digest: str) -> float | None:
            return ended(digest) if (folder / digest / "record.json").exists() else None

        return cls(runs, costs, seconds_of)

    def line(self, now: float) -> str:
        """Say what is left. now: in seconds, as of `time.monotonic`."""
        took = {}
        actual = 0.0
        expected = 0.0
        waiting = []
        for digest, each in self.runs.items():
            seconds = self.seconds_of(digest)
            if seconds is None:
                waiting.append(each)
                continue
            took[each.configuration] = each.share * seconds
            actual += each.share * seconds
            expected += each.seconds
        slower = actual / expected if expected else 1.0
        left = 0.0
        for each in waiting:
            left += took.get(each.configuration, slower * each.seconds)
        left += sum(each for file, each in self.costs.items() if not Path(file).exists())
        done = len(self.runs) - len(waiting)
        if done > self.done:
            self.done = done
            self.changed = now
        # since then the next ones have been running, and nothing says how far they are
        left = max(left - (now - self.changed), left / 2)
        return f"about {spell(left)} left; {done} of {len(self.runs)} runs trained"

    def start(self, pause: float = 60.0) -> None:
        """Print a line after each pause, until all is there or this process ends."""

        def tell() -> None:
            while not self._is_done():
                time.sleep(pause)
                print(self.line(time.monotonic()), file=sys.stderr, flush=True)

        threading.Thread(target=tell, daemon=True).start()

    def _is_done(self) -> bool:
        trained = all(self.seconds_of(digest) is not None for digest in self.runs)
        return trained and all(Path(file).exists() for file in self.costs)


def device_lines(jobs: Iterable[Job], name: str, device: Device) -> list[str]:
    """Say how long a named device would train all jobs, including those already trained."""
    jobs = list(jobs)
    seconds = Counter()
    for job in jobs:
        seconds[job.task] += device_seconds(job, device)
    by_task = []
    for task, spent in seconds.items():
        hours = spell_hours(spent / 3600)
        by_task.append(f"{task} {hours}")
    total = spell_hours(seconds.total() / 3600)
    return [
        f"on one {name}: about {total} hours to train all {len(jobs)} runs",
        f"  {', '.join(by_task)}",
        f"  predicted from MACs at {100 * SHARE:.0f} % of the device's peak rate, not measured: "
        "large models reach 44 to 52 % (Narayanan et al. 2021), small ones less",
    ]


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
        """Return what `train` asks for.

        GPUs in any case, because without a scheduler Snakemake counts them.
        """

        def gpus(wildcards) -> int:
            devices = self._job(wildcards.digest).training.devices
            return self.targets.config.gpus * devices

        def runtime(wildcards, attempt: int) -> int:
            seconds = self.seconds_of(wildcards.digest)
            return minutes(seconds * 2 ** (attempt - 1))

        def memory(wildcards, attempt: int) -> int:
            return min(attempt, 2) * self.megabytes_of(wildcards.digest)

        return {"gpu": gpus, **self._asked(runtime, mem_mb=memory, slurm_extra=TOLD)}

    def of_configuration(self) -> dict[str, Request]:
        """Return what a rule that measures the net of one configuration asks for."""
        digests = self.targets.runs.configurations

        def memory(wildcards, attempt: int) -> int:
            digest = digests[wildcards.configuration]
            return min(attempt, 2) * self.megabytes_of(digest)

        return self._asked(_rising(MINUTES), mem_mb=memory)

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
        if not self.scheduled:
            return None

        def of_run(wildcards) -> str | None:
            is_short = self.seconds_of(wildcards.digest) <= SHORT
            return "short" if is_short else None

        return of_run

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
        if work(found.job) > FAR * found.nearest.work:
            return None
        return found

    def seconds_of(self, digest: str) -> float:
        """Return the seconds to ask for: the estimate with its error, at most the run's own limit,
        and `NOTICE`.
        """
        asked = self._job(digest).training.time_limit_s
        expected = self.estimate(digest)
        if expected:
            asked = min(asked, expected.seconds * OFF)
        return NOTICE + asked

    def megabytes_of(self, digest: str) -> int:
        expected = self.estimate(digest)
        if expected is None:
            return UNKNOWN
        peak = memory_bytes(self._job(digest), expected.nearest.record)
        if peak is None:
            return UNKNOWN
        return math.ceil(SPARE * peak / 1e6)

    def _job(self, digest: str) -> Job:
        return self.targets.runs.jobs[digest]


def _rising(needed: int) -> Request:
    """Return a request for so many minutes, doubled at each further attempt."""

    def request(wildcards, attempt: int) -> int:
        return minutes(60 * needed * 2 ** (attempt - 1))

    return request


def minutes(seconds: float) -> int:
    """Round seconds up to minutes, at most a day."""
    return math.ceil(min(seconds, DAY) / 60)
