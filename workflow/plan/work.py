"""Predict how much a run computes, its memory and disk space, and its time on a named device.
Nothing is measured.
"""

import math

from pydantic import Field

from workflow.config.files import config_file
from workflow.config.job import Job
from workflow.config.strict import StrictModel, parse, read_yaml
from workflow.results.record import Record

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


def per_update(job: Job) -> int:
    """Count the characters, or pieces with their padding, that an update learns from."""
    training = job.training
    return (
        training.block * training.batch
        if hasattr(training, "block")
        else training.tokens * training.accumulate
    )


def work(job: Job) -> float:
    """Count a training as multiply-adds of a matrix: N (3e7 + tokens (4 d^2 + 2 d ff + 4 * 2 S d))
    per update.
    """
    net, training = job.net, job.training
    attention = OF_ATTENTION * 2 * reach(job) * net.d_model
    layer = PER_LAYER_AND_UPDATE + per_update(job) * (matrices(job) / net.layers + attention)
    return training.steps * net.layers * layer


def reach(job: Job) -> int:
    """Return the most keys that a query can see: S, or the length of the cache, and no more than a
    sentence has.
    """
    span = job.attention.span
    return min(
        span.get("limit") or span.get("cache") or 0, getattr(job.net, "max_length", math.inf)
    )


def matrices(job: Job) -> int:
    """Count the numbers in the matrices of a net's layers, roughly."""
    return job.net.layers * (4 * job.net.d_model**2 + 2 * job.net.d_model * job.net.d_ff)


def memory_bytes(job: Job, record: Record) -> float | None:
    """Take the peak memory of another run in bytes; None if it is of another task, or its updates
    are far smaller.
    """
    if record.job.task != job.task:
        return None
    larger = work(job) / job.training.steps / (work(record.job) / record.job.training.steps)
    return record.cost.peak_memory_bytes if larger <= FAR else None


def training_operations(job: Job) -> float:
    """Count the operations of a training, two per multiply-add of matrices and attention, without
    evaluation.
    """
    attention = job.net.layers * 2 * reach(job) * job.net.d_model
    return 2 * PASSES * job.training.steps * per_update(job) * (matrices(job) + attention)


def device_seconds(job: Job, device: Device) -> float:
    """Predict the seconds of a training on a named device, at the assumed share of its peak
    rate.
    """
    half = job.training.precision == "bf16" and device.bf16 is not None
    return training_operations(job) / (SHARE * (device.bf16 if half else device.fp32))
