"""Which of some trials is followed: the one with the best score on dev among those that ended
well.
"""

import math
from collections.abc import Iterable
from pathlib import Path

from workflow.config.errors import ConfigError, check_known
from workflow.config.job import Job
from workflow.config.strict import read_json
from workflow.results.record import Record
from workflow.results.store import Store, shipped_store
from workflow.tasks.spec import TASKS


def dev_score(record: Record) -> float | None:
    """Return the score on dev by which trials are compared, of which less is better; None where a
    trial has none.
    """
    score = record.metrics.get(f"dev_{TASKS[record.job.task].curve.unit}")
    return score if record.status == "ok" and score is not None and math.isfinite(score) else None


def best_of(records: Iterable[Record]) -> str:
    """Return the digest of the best trial, the first among equals; `ConfigError` where none ended
    well.
    """
    scores = {
        record.digest: score for record in records if (score := dev_score(record)) is not None
    }
    if not scores:
        raise ConfigError("trials: all failed, so there is nothing to choose from")
    return min(scores, key=scores.__getitem__)


def read_choice(path: Path | None, job: Job) -> str | None:
    """Read which trial a job follows; `ConfigError` unless it has trials and this is one of them,
    or has none.
    """
    if path is None and job.trials is None:
        return None
    if path is None or job.trials is None:
        wrong = (
            "has no trials to choose from"
            if path
            else "has trials; say which it follows: --choice FILE"
        )
        raise ConfigError(f"job {job.digest}: {wrong}")
    content = read_json(path)
    follows = content.get("follows") if isinstance(content, dict) else None
    check_known(f"trial in {path}", follows, job.trials)
    return follows


def equal_run(job: Job, runs: Path, source: str) -> Record | None:
    """Find a finished run of this job: one by the same code whose bits travel, or a shipped one.

    runs: the folder of the runs that were trained here. source: the digest of the code.
    """
    here = Store(runs)
    if job.digest in here:
        record = here.read(job.digest)
        same_bits = record.bits == "portable" and record.origin.source == source
        if record.status == "ok" and same_bits:
            return record
    shipped = shipped_store()
    if job.digest in shipped:
        record = shipped.read(job.digest)
        if record.status == "ok":
            return record
    return None
