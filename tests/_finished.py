"""Records of jobs that ended well, and runs whose time is known."""

from tests import _site
from tests._runs import run
from workflow.plan.estimate import START, Timed
from workflow.results.record import Cost


def finished(job, seconds=10.0, **metrics):
    """Make the record of a job that took so many seconds."""
    cost = Cost(seconds=seconds, tokens_per_s=1.0, peak_memory_bytes=1 << 30, parameters=1000)
    about = {"job": job, "digest": job.digest, "cost": cost, "metrics": metrics}
    return _site.record(run(seed=job.seed)).model_copy(update=about)


def timed(job, seconds=10.0, *, here=True, device="cpu: a processor, 2 cores"):
    """Make a run whose process took so many seconds."""
    record = finished(job, seconds - START)
    origin = record.origin.model_copy(update={"device": device})
    return Timed(record.model_copy(update={"origin": origin}), here)
