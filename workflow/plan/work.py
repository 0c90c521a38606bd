"""Compute how much a run computes, what memory it needs, and how long a named device takes."""

import math

from pydantic import Field

from workflow.config.files import config_file
from workflow.config.job import Job
from workflow.config.strict import StrictModel, parse, read_yaml
from workflow.results.record import Record

# Fitted leave-one-out on the runs of scale laptop (docs/log.md): an update of a layer costs as much as 30 million
# multiply-adds before its first one, and a multiply-add of attention as much as four of a matrix.
PER_LAYER_AND_UPDATE = 3e7
OF_ATTENTION = 4
FAR = 10.0  # times the work of another run; beyond that its time is a guess and its memory says nothing
# Of the peak rate. Megatron-LM reaches 44 to 52 % on A100 (Narayanan et al. 2021, Table 1) with layers far wider than
# the papers'; narrower ones leave more of a device idle. No run of this suite has measured it.
SHARE = 0.3
PASSES = 3  # a backward pass computes twice what the forward pass does


class Device(StrictModel):
    """fp32, bf16: operations a second at the peak; bf16 is None where the device computes in 32 bits alone."""

    fp32: float = Field(gt=0)
    bf16: float | None = Field(None, gt=0)
    source: str = Field(min_length=3)


def load_devices() -> dict[str, Device]:
    """Read the devices of config/devices.yaml, by name."""
    raw = read_yaml(config_file("devices.yaml"))
    return {name: parse(Device, entry, f"config/devices.yaml: {name}") for name, entry in raw.items()}


def per_update(job: Job) -> int:
    """Count the characters, or pieces with their padding, that an update learns from."""
    training = job.training
    return training.block * training.batch if hasattr(training, "block") else training.tokens * training.accumulate


def work(job: Job) -> float:
    """Count a training in multiply-adds of a matrix: N (3e7 + tokens (4 d^2 + 2 d ff + 4 * 2 S d)) for each update."""
    net, training = job.net, job.training
    attention = OF_ATTENTION * 2 * reach(job) * net.d_model
    layer = PER_LAYER_AND_UPDATE + per_update(job) * (matrices(job) / net.layers + attention)
    return training.steps * net.layers * layer


def reach(job: Job) -> int:
    """Return the most keys that a query can see: S, or what the cache keeps, and no more than a sentence has."""
    span = job.attention.span
    return min(span.get("limit") or span.get("cache") or 0, getattr(job.net, "max_length", math.inf))


def matrices(job: Job) -> int:
    """Count the numbers in the matrices of a net's layers, roughly."""
    return job.net.layers * (4 * job.net.d_model**2 + 2 * job.net.d_model * job.net.d_ff)


def memory_bytes(job: Job, record: Record) -> float | None:
    """Estimate the bytes at the peak; None where the record is of another task, or its updates are far smaller."""
    if record.job.task != job.task:
        return None
    larger = work(job) / job.training.steps / (work(record.job) / record.job.training.steps)
    return record.cost.peak_memory_bytes if larger <= FAR else None


def training_operations(job: Job) -> float:
    """Count two for each multiply-add in the matrices of the layers and in attention; evaluation is left out."""
    attention = job.net.layers * 2 * reach(job) * job.net.d_model
    return 2 * PASSES * job.training.steps * per_update(job) * (matrices(job) + attention)


def device_seconds(job: Job, device: Device) -> float:
    """Compute the seconds that a named device would train, at the assumed share of its peak rate."""
    half = job.training.precision == "bf16" and device.bf16 is not None
    return training_operations(job) / (SHARE * (device.bf16 if half else device.fp32))
