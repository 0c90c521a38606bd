"""Which of some trials is followed: the one with the best score on dev among those that ended
well.
"""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from workflow.config.errors import ConfigError, check_known
from workflow.config.job import Job
from workflow.config.strict import read_json
from workflow.results.record import Record
from workflow.results.store import Store, shipped_store
from workflow.tasks.spec import TASKS
from workflow.tasks.task import Selection


def dev_score(record: Record) -> float | None:
    """Return the score on dev by which trials are compared; None where a trial has none."""
    score = record.metrics.get(_selection(record).score)
    return score if record.status == "ok" and score is not None and math.isfinite(score) else None


def best_of(records: Iterable[Record]) -> str:
    """Return the digest of the best trial; `ConfigError` where none ended well.

    Of several that are as good, the one with the lowest learning rate, the first of these. Trials
    that have not learned their task count only where none has.
    """
    scored = []
    for record in records:
        score = dev_score(record)
        if score is not None:
            scored.append((record, score))
    if not scored:
        raise ConfigError("trials: all failed, so there is nothing to choose from")
    selection = _selection(scored[0][0])
    learned = [(record, score) for record, score in scored if _has_learned(record, selection)]
    scored = learned or scored
    scores = [score for _, score in scored]
    rates = [record.job.training.lr for record, _ in scored]
    best, _ = scored[choose(scores, rates, selection)]
    return best.digest


def choose(scores: Sequence[float], rates: Sequence[float], selection: Selection) -> int:
    """Return the place of the best of some trials. rates: the learning rate of each."""
    best = min(scores) if selection.better == "lower" else max(scores)
    as_good = []
    for place, score in enumerate(scores):
        if abs(score - best) <= selection.tie:
            as_good.append(place)
    return min(as_good, key=rates.__getitem__)


def _has_learned(record: Record, selection: Selection) -> bool:
    if selection.learned is None or not record.over_condition:
        return True
    there = record.over_condition[0].metrics.get(selection.score)
    return there is not None and there >= selection.learned


def _selection(record: Record) -> Selection:
    return TASKS[record.job.task].selection


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
