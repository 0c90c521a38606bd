"""The limits of a run: time, the loss, and finite parameters. That of memory is in hardware.py."""

import math

from workflow.training.failures import Ended
from workflow.training.run import Run


def check_time(run: Run) -> None:
    """Raise `Ended` where the run has used up the time that its job allows."""
    limit = run.job.training.time_limit_s
    if run.seconds >= limit:
        raise Ended("timeout", f"time limit of {limit:.0f} s reached")


def check_loss(run: Run) -> None:
    """Raise `Ended` where the mean loss since the last point is NaN or above the job's bound."""
    mean = run.mean_loss()
    bound = run.job.training.loss_bound
    if not math.isfinite(mean) or mean > bound:
        problem = "above the bound of" if math.isfinite(mean) else "not finite; the bound is"
        where = f"mean loss {mean:.3g} nats up to step {run.step}"
        raise Ended("diverged", f"{where}, {problem} {bound:g}")


def check_parameters(run: Run) -> None:
    """Raise `Ended` where the last update left parameters that are not finite."""
    if not run.is_finite:
        raise Ended("diverged", f"non-finite parameters after step {run.step}")
