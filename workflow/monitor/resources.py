"""What runs take besides time: memory and disk."""

from workflow.config.job import Job
from workflow.monitor.estimate import FAR
from workflow.monitor.work import matrices, work
from workflow.results.record import Record

RECORD_BYTES = 150_000  # record, curve and job, roughly


def disk_bytes(job: Job, record: Record) -> float:
    """Bytes of a run's folder: its weights in 32 bits, scaled by the size of its matrices, and its record."""
    return 4 * record.cost.parameters * matrices(job) / matrices(record.job) + RECORD_BYTES


def memory_bytes(job: Job, record: Record) -> float | None:
    """Bytes at the peak; None where the record is of another task, or its updates are far smaller."""
    if record.job.task != job.task:
        return None
    larger = work(job) / job.training.steps / (work(record.job) / record.job.training.steps)
    return record.cost.peak_memory_bytes if larger <= FAR else None
