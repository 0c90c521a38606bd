"""What runs would cost, from the nearest records: time, memory, disk, and the smallest effect that seeds can show.

No net is built and nothing is measured: a run takes as long as the nearest one, times how much more it multiplies.
"""

import math
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from workflow.config.choices import AXES
from workflow.config.job import Job
from workflow.plan.reads import reads
from workflow.plan.scales import load_corpora
from workflow.plan.targets import Targets
from workflow.results.record import Record
from workflow.results.statistics import smallest_effect

RECORD_BYTES = 150_000  # record, curve and job, roughly
FAR = 10.0  # times the work of the nearest record; beyond that a time is a guess and the memory is not known
OTHER_CHOICE = 2.0  # the distance of two choices on an axis, in powers of e of work


@cache
def score(task: str) -> str:
    """What a run of the task is judged by: the metric that config/tasks names, on test."""
    return f"test_{load_corpora(task).metric}"


def per_update(job: Job) -> int:
    """Characters, or pieces with their padding, that an update learns from."""
    training = job.training
    return training.block * training.batch if job.task == "char_lm" else training.tokens * training.accumulate


def work(job: Job) -> float:
    """Multiply-accumulates of the training, roughly: L (4 d^2 + 2 d ff + 2 S d) for each token of each update."""
    net, training, span = job.net, job.training, job.attention.span
    reach = min(span.get("limit") or span.get("cache") or 0, getattr(net, "max_length", math.inf))
    layer = 4 * net.d_model**2 + 2 * net.d_model * net.d_ff + 2 * reach * net.d_model
    return training.steps * per_update(job) * net.layers * layer


def nearest(job: Job, records: Iterable[Record]) -> Record | None:
    """The record whose work and choices are nearest, of the same task where there is one; None without a record."""
    costed = [record for record in records if record.cost]
    same_task = [record for record in costed if record.job.task == job.task]
    return min(same_task or costed, key=lambda record: _distance(job, record.job), default=None)


def _distance(job: Job, other: Job) -> float:
    choices = sum(getattr(job.attention, axis)["name"] != getattr(other.attention, axis)["name"] for axis in AXES)
    return abs(math.log(work(job) / work(other))) + OTHER_CHOICE * choices


def training_seconds(job: Job, record: Record) -> float:
    """Of one run, on the record's device."""
    return record.cost.seconds * work(job) / work(record.job)


def disk_bytes(job: Job, record: Record) -> float:
    """Bytes of a run's folder: its weights in 32 bits, scaled by the size of its matrices, and its record."""
    return 4 * record.cost.parameters * _matrices(job) / _matrices(record.job) + RECORD_BYTES


def memory_bytes(job: Job, record: Record) -> float | None:
    """Bytes at the peak; None where the record is of another task, or its updates are far smaller."""
    if record.job.task != job.task:
        return None
    larger = work(job) / job.training.steps / (work(record.job) / record.job.training.steps)
    return record.cost.peak_memory_bytes if larger <= FAR else None


def _matrices(job: Job) -> int:
    return job.net.layers * (4 * job.net.d_model**2 + 2 * job.net.d_model * job.net.d_ff)


def detectable_effects(records: Iterable[Record], seeds: dict[str, int]) -> dict[str, float]:
    """By task, the smallest difference of its score that so many pairs of seeds would show four times out of five.

    The scatter is that between seeds of one configuration, pooled over all with several; a task without is left out.
    """
    cells: dict[tuple[str, str], list[float]] = defaultdict(list)
    for record in records:
        job, metric = record.job, score(record.job.task)
        if record.status == "ok" and metric in record.metrics:
            cells[job.task, job.configuration].append(record.metrics[metric])
    effects = {}
    for task, count in seeds.items():
        several = [values for (name, _), values in cells.items() if name == task and len(values) > 1]
        if several and count > 1:
            squares = sum(sum((value - sum(values) / len(values)) ** 2 for value in values) for values in several)
            scatter = math.sqrt(squares / sum(len(values) - 1 for values in several))
            effects[task] = smallest_effect(math.sqrt(2) * scatter, count)
    return effects


EACH = {"flops": 4.0, "memory": 3.0, "longest_span": 15.0}  # seconds of a configuration, the start of Python included
START = 5.0  # seconds before a timing starts


def measure_files(targets: Targets) -> dict[str, list[str]]:
    """The costs that all pages show: kind -> files."""
    wanted: dict[str, dict[str, None]] = defaultdict(dict)
    for name in targets.ablations:
        for kind in targets.costs_shown(name):
            wanted[kind].update(dict.fromkeys(targets.cost_files(name, kind)))
    files = {kind: list(paths) for kind, paths in wanted.items()}
    if any("layers" in reads("tables", name) for name in targets.artefacts("tables")):
        files["layers"] = [f"{targets.results}/layers.json"]
    return files | ({"steps": [f"{targets.results}/steps.json"]} if targets.has_engine else {})


def measure_seconds(targets: Targets, kind: str, files: list[str], lanes: int) -> float:
    """Roughly, on two cores. Counts run side by side, timings alone."""
    if kind in EACH:
        return EACH[kind] * len(files) / lanes
    if kind == "throughput":
        return sum(_timed(targets, Path(file).stem) for file in files)
    if kind == "layers":
        how = targets.measures["translation"]
        return START + 4 * len(how.layer_lengths) * (0.2 + how.passes * how.seconds)
    sizes = targets.measures["char_lm"].engine
    return 10 + 0.001 * sum(sizes.lengths) * sizes.d_model / 64


def _timed(targets: Targets, ablation: str) -> float:
    how = targets.measures[targets.ablations[ablation].task]
    return START + 2 * len(targets.runs.nets_of(ablation)) * how.passes * (how.seconds + 0.2)
