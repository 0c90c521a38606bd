"""Predict the hours that a named device takes to train, from the multiply-adds of the runs and the device's peak."""

from collections import Counter
from collections.abc import Iterable

from workflow.config.job import Job
from workflow.monitor.durations import spell_hours
from workflow.monitor.work import matrices, per_update, reach
from workflow.plan.config import Device

# Of the peak rate. Megatron-LM reaches 44 to 52 % on A100 (Narayanan et al. 2021, Table 1) with layers far wider than
# the papers'; narrower ones leave more of a device idle. No run of this suite has measured it.
SHARE = 0.3
PASSES = 3  # a backward pass computes twice what the forward pass does


def training_operations(job: Job) -> float:
    """Of a run: two for each multiply-add in the matrices of its layers and in its attention, without evaluation."""
    attention = job.net.layers * 2 * reach(job) * job.net.d_model
    return 2 * PASSES * job.training.steps * per_update(job) * (matrices(job) + attention)


def device_lines(jobs: Iterable[Job], name: str, device: Device) -> list[str]:
    """What a device would take to train all jobs, those that are trained already among them."""
    jobs, seconds = list(jobs), Counter()
    for job in jobs:
        half = job.training.precision == "bf16" and device.bf16 is not None
        seconds[job.task] += training_operations(job) / (SHARE * (device.bf16 if half else device.fp32))
    by_task = ", ".join(f"{task} {spell_hours(spent / 3600)}" for task, spent in seconds.items())
    return [
        f"on one {name}: about {spell_hours(seconds.total() / 3600)} hours to train all {len(jobs)} runs",
        f"  {by_task}",
        f"  predicted from multiply-adds, at {100 * SHARE:.0f} % of the device's peak rate: large nets reach 44 to 52 "
        "(Narayanan et al. 2021), small ones less; nothing here has measured it",
    ]
