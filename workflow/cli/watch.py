"""Watch the runs of a scale: `python -m workflow.cli.watch [--scale laptop] [--every SECONDS] [--once]`.

Shows the state of every run of the plan: running with the last line of its log, failed with the reason, done or
waiting; and how long the trainings to come take, by what like ones took. Ends when nothing is running or waiting, or by
Ctrl-C.
"""

import os
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from workflow.config.command_line import Parser, at_least, printable, run
from workflow.config.errors import ConfigError
from workflow.config.strict import parse
from workflow.plan.estimate import Forecast, read_timed, spell
from workflow.plan.plan import read_plan
from workflow.plan.scales import load_corpora
from workflow.plan.texts import badge_of
from workflow.results.record import read_record
from workflow.tasks.spec import JOBS, Job

CLEAR = "\x1b[2J\x1b[H"
STATES = ("running", "failed", "done", "waiting")
QUIET = 600  # seconds after which a log that nobody writes belongs to no running run


@dataclass(frozen=True)
class State:
    """state: one of `STATES`; detail: its score, the last line of its log, or the reason."""

    job: Job
    digest: str
    name: str
    state: str
    detail: str


def read_states(results: Path, runs: Path, logs: Path) -> list[State]:
    """The state of each run of a scale's plan, the running ones first. results: the scale's folder."""
    plan = results / "plan.json"
    if not plan.exists():
        raise ConfigError(f"{plan}: no plan yet; start snakemake first")
    rows = {row["digest"]: row for row in reversed(read_plan(plan))}
    states = [_read_state(row, runs, logs) for row in rows.values()]
    return sorted(states, key=lambda state: (STATES.index(state.state), state.name, state.digest))


def _read_state(row: dict, runs: Path, logs: Path) -> State:
    digest, job = row["digest"], parse(JOBS[row["job"]["task"]], row["job"], f"plan.json: {row['digest']}")
    grid = "".join(f", {key} = {row[key]}" for key in ("S", "k") if row[key] is not None)
    text = badge_of(job.task, [row["paper_corpus"]], row["corpus"])
    name = f"{row['ablation']}: {row['variant']} on {text.badge}{grid}, seed {job.seed}"
    record, log = runs / digest / "record.json", logs / "train" / f"{digest}.log"
    if record.exists():
        return State(job, digest, name, *_read_ended(record))
    if log.is_file() and time.time() - log.stat().st_mtime < min(QUIET, job.training.time_limit_s):
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines() or ["begins"]
        return State(job, digest, name, "running", f"{' '.join(lines[-1].split())}, of {job.training.steps} steps")
    return State(job, digest, name, "waiting", "")


def _read_ended(path: Path) -> tuple[str, str]:
    try:
        record = read_record(path)
    except (ConfigError, OSError) as error:
        return "failed", str(error)
    if record.status != "ok":
        return "failed", f"{record.status}: {record.reason}"
    name, took = (
        f"test_{load_corpora(record.job.task).metric}",
        f" in {spell(record.cost.seconds)}" if record.cost else "",
    )
    return "done", f"{name} {record.metrics.get(name, float('nan')):.4g}{took}"


def headline(states: list[State], runs: Path, cores: int) -> str:
    """How many runs are in which state, and how long those take that have no record, each from its start."""
    known = read_timed(runs)
    newest = max((run for run in known if run.here), key=lambda run: run.record.origin.started, default=None)
    to_come = [run.job for run in states if run.state in ("running", "waiting")]
    forecast = Forecast.of(to_come, known, cores, gpu=newest is not None and newest.is_gpu)
    likely = f"; trainings to come: about {spell(forecast.wall)} on {cores} cores" if forecast.estimates else ""
    return ", ".join(f"{sum(run.state == state for run in states)} {state}" for state in STATES) + likely


def screen_lines(head: str, states: list[State], height: int, width: int | None) -> list[str]:
    """As many lines as the terminal has room for, in the order of the states. width None: lines are not cut."""
    lines = [head, *(f"{run.state:8} {run.digest}  {run.detail}  {run.name}" for run in states)]
    more = len(lines) - height
    shown = lines if more <= 0 else [*lines[: height - 1], f"... and {more + 1} more"]
    return [printable(line)[:width] for line in shown]


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="watch", description="Watch the runs of a scale.")
    parser.add_argument("--every", type=at_least(1), default=5, metavar="SECONDS")
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--cores", type=at_least(1), default=os.cpu_count())
    parser.add_argument("--scale", default="laptop", help="folder under results/")
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--logs", type=Path, default=Path("logs"))
    options = parser.parse_args(argv)
    while True:
        states = read_states(options.results / options.scale, options.results / "runs", options.logs)
        over = options.once or all(run.state in ("done", "failed") for run in states)
        head = headline(states, options.results / "runs", options.cores)
        width, height = shutil.get_terminal_size() if sys.stdout.isatty() else (None, 24)
        shown = screen_lines(head, states, len(states) + 1 if options.once else height - 1, width)
        print(("" if options.once else CLEAR) + "\n".join(shown), flush=True)
        if over:
            return
        time.sleep(options.every)


if __name__ == "__main__":
    try:
        run(main)
    except KeyboardInterrupt:
        print()
