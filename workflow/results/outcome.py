"""What a run came to, checked against what its record can hold."""

import math
from dataclasses import asdict, dataclass, field
from typing import Any, SupportsFloat

from pydantic_core import PydanticSerializationError

from workflow.config.errors import ConfigError, check_known, shown
from workflow.config.job import Job
from workflow.config.missing import Missing
from workflow.config.strict import parse
from workflow.results.record import Cost, Macs, Origin, Point, Record, ScoresAt, Status
from workflow.results.registry import REGISTRY, check_registered, names
from workflow.tasks.spec import TASKS
from workflow.training.evaluation import Evaluation, MacCounts, Sample, ScoredAt, Story


@dataclass(frozen=True)
class Outcome:
    """What a run came to: all of its record but the job and where the numbers come from.

    story: curve, log, losses and weights. status .. cost, bits: see `Record`.
    can_be_scored_again: a score failed, so the checkpoint is kept.
    """

    status: Status
    story: Story
    reason: str | None = None
    metrics: dict[str, float] = field(default_factory=dict)
    over_condition: tuple[ScoredAt, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    cost: Cost | None = None
    bits: str = "this machine"
    can_be_scored_again: bool = False

    def record(
        self, job: Job, origin: Origin, weights: str | None, follows: str | None = None
    ) -> Record:
        """Make the record. weights: a digest of the story's. follows: the trial that was chosen."""
        return Record(
            digest=job.digest,
            job=job,
            origin=origin,
            follows=follows,
            status=self.status,
            reason=self.reason,
            metrics=self.metrics,
            over_condition=[ScoresAt(**asdict(each)) for each in self.over_condition],
            facts=self.facts,
            missing=self.missing,
            cost=self.cost,
            bits=self.bits,
            weights=weights,
            curve=self.story.curve,
            losses=self.story.losses,
            log=self.story.log[-20:],
        )


@dataclass(frozen=True)
class Findings:
    """What a record holds of an evaluation.

    metrics: finite numbers. facts: without those that are None. missing: reasons by name.
    has_failed: whether a score or fact failed, or has a name that no task knows.
    """

    metrics: dict[str, float]
    facts: dict[str, Any]
    missing: dict[str, str]
    has_failed: bool


def sift(found: Evaluation, failed: dict[str, str], task: str) -> Findings:
    """Keep what a record may hold of an evaluation, and say of the rest why it is missing.

    failed: reasons of what could not be computed, by name. task: its name.
    """
    failed = dict(failed)
    metrics = {name: score for name, score in found.metrics.items() if score is not None}
    facts = {name: fact for name, fact in found.facts.items() if fact is not None}
    # a name that the rehearsal did not meet
    for source, values in (("metric", metrics), ("fact", facts)):
        for name in values.keys() - {*names(source)}:
            del values[name]
            failed[name] = f"none of the `quantities` of task {task} has this name"
    numbers, missing = numbers_of(metrics)
    for name, reason in failed.items():
        if name not in numbers and name not in facts:
            missing[name] = reason
    return Findings(numbers, facts, missing, has_failed=bool(failed))


def numbers_of(scores: dict[str, Any]) -> tuple[dict[str, float], dict[str, str]]:
    """Part scores that are finite numbers from the others, whose reasons are returned."""
    numbers = {}
    reasons = {}
    for name, score in scores.items():
        if isinstance(score, Missing):
            reasons[name] = score.reason
        elif math.isfinite(number := _number(score)):
            numbers[name] = number
        else:
            reasons[name] = f"{score} is not a finite number"
    return numbers, reasons


def _number(score: Any) -> float:
    """Convert a score of Python, NumPy or torch; NaN for anything else."""
    try:
        return float(score)
    except (TypeError, ValueError, RuntimeError):
        return math.nan


def macs_of(counts: MacCounts | None) -> Macs | None:
    return None if counts is None else Macs(**asdict(counts))


def check_sample(job: Job, origin: Origin, sample: Sample) -> None:
    """Refuse what the record of a run could not hold, known by a few samples of it.

    `ConfigError` for a column of the curve, a score or a fact that no task names, or that is not of
    its kind.
    """
    runner = TASKS[job.task].runner
    for name in sample.point:
        check_known(f"column of the learning curve of {runner}", name, Point.model_fields)
    check_registered("metric", runner, sample.metrics)
    check_registered("fact", runner, sample.facts)
    for name, score in sample.metrics.items():
        if not isinstance(score, Missing | SupportsFloat | None):
            wanted = "a number or `Missing(reason)`"
            raise ConfigError(f"{runner}: score '{name}' must be {wanted}, got {shown(score)}")
    for name, value in sample.facts.items():
        if REGISTRY[name].number and not isinstance(value, int | float | None):
            raise ConfigError(f"{runner}: fact '{name}' must be a number, got {shown(value)}")
    content = {
        "digest": job.digest,
        "job": job,
        "origin": origin,
        "status": "ok",
        "curve": [sample.point],
        "metrics": numbers_of(sample.metrics)[0],
        "facts": sample.facts,
    }
    try:
        parse(Record, content, runner).model_dump_json()
    except PydanticSerializationError as error:
        raise ConfigError(f"{runner}: a fact that JSON cannot store: {error}") from None
