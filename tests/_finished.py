"""Records of jobs that ended well."""

from tests import _site
from tests._runs import run
from workflow.results.record import Cost


def finished(job, seconds=10.0, **metrics):
    """The record of a job that took so long."""
    cost = Cost(seconds=seconds, tokens_per_s=1.0, peak_memory_bytes=1 << 30, parameters=1000)
    record = _site.record(run(seed=job.seed))
    return record.model_copy(update={"job": job, "digest": job.digest, "cost": cost, "metrics": metrics})
