"""The state of every run of the plan: running, failed, done or waiting. Read from records and logs alone."""

import re
import time
from dataclasses import dataclass
from pathlib import Path

from workflow.config.errors import ConfigError
from workflow.config.job import Job
from workflow.config.strict import parse
from workflow.monitor.durations import spell
from workflow.monitor.effects import score
from workflow.monitor.work import per_update
from workflow.plan.plan import read_plan
from workflow.plan.texts import badge_of
from workflow.results.record import read_record
from workflow.tasks.spec import JOBS

STATES = ("running", "failed", "done", "waiting")
QUIET = 600  # seconds after which a log that nobody writes belongs to no running run
POINT = re.compile(r"^step (\d{1,12})  (.*?)  (\d{1,12}) tokens/s$", re.MULTILINE)  # as the loop prints it


@dataclass(frozen=True)
class State:
    """state: one of `STATES`; detail: its score, its loss and the time left, or the reason."""

    job: Job
    digest: str
    name: str
    state: str
    detail: str


def read_states(results: Path, runs: Path, logs: Path, now: float | None = None) -> list[State]:
    """Of each run of a scale's plan, the running ones first. results: the scale's folder."""
    plan = results / "plan.json"
    if not plan.exists():
        raise ConfigError(f"{plan}: no plan yet; start snakemake first")
    rows = {row["digest"]: row for row in reversed(read_plan(plan))}
    states = [_read_state(row, runs, logs, time.time() if now is None else now) for row in rows.values()]
    return sorted(states, key=lambda state: (STATES.index(state.state), state.name, state.digest))


def _read_state(row: dict, runs: Path, logs: Path, now: float) -> State:
    digest, job = row["digest"], parse(JOBS[row["job"]["task"]], row["job"], f"plan.json: {row['digest']}")
    grid = "".join(f", {key} = {row[key]}" for key in ("S", "k") if row[key] is not None)
    text = badge_of(job.task, [row["paper_corpus"]], row["corpus"])
    name = f"{row['ablation']}: {row['variant']} on {text.badge}{grid}, seed {job.seed}"
    record, log = runs / digest / "record.json", logs / "train" / f"{digest}.log"
    if record.exists():
        return State(job, digest, name, *_read_ended(record))
    if log.is_file() and now - log.stat().st_mtime < min(QUIET, job.training.time_limit_s):
        text = log.read_text(encoding="utf-8", errors="replace")
        return State(job, digest, name, "running", _describe_progress(text, job))
    return State(job, digest, name, "waiting", "")


def _read_ended(path: Path) -> tuple[str, str]:
    try:
        record = read_record(path)
    except (ConfigError, OSError) as error:
        return "failed", str(error)
    if record.status != "ok":
        return "failed", f"{record.status}: {record.reason}"
    name, took = score(record.job.task), f" in {spell(record.cost.seconds)}" if record.cost else ""
    return "done", f"{name} {record.metrics.get(name, float('nan')):.4g}{took}"


def _describe_progress(log: str, job: Job) -> str:
    """The last point of the curve and the time that the rest takes at its speed."""
    points = POINT.findall(log)
    steps = job.training.steps
    if not points:
        return f"step 0 of {steps}"
    step, losses, speed = points[-1]
    left = (steps - int(step)) * per_update(job) / max(1, int(speed))
    return f"step {step} of {steps}, {' '.join(losses.split())}, about {spell(left)} left"


def count_states(states: list[State]) -> str:
    """3 running, 1 failed, 80 done, 100 waiting"""
    return ", ".join(f"{sum(run.state == state for run in states)} {state}" for state in STATES)
