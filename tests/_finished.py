"""Records of jobs that ended well, and what is told from them."""

from tests import _site
from tests._runs import run
from workflow.plan.estimate import START, Timed
from workflow.results.record import Cost


def finished(job, seconds=10.0, **metrics):
    cost = Cost(seconds=seconds, tokens_per_s=1.0, peak_memory_bytes=1 << 30, parameters=1000)
    record = _site.record(run(seed=job.seed))
    return record.model_copy(
        update={"job": job, "digest": job.digest, "cost": cost, "metrics": metrics}
    )


def timed(job, seconds=10.0, *, here=True, device="cpu: a processor, 2 cores"):
    """Make a run whose process took so many seconds."""
    record = finished(job, seconds - START)
    origin = record.origin.model_copy(update={"device": device})
    return Timed(record.model_copy(update={"origin": origin}), here)
