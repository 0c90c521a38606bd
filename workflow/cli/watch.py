"""Watch the runs of a scale: `python -m workflow.cli.watch [--scale laptop] [--every SECONDS] [--once]`.

Shows the state of every run of the plan: running with its loss and the time left, failed with the reason, done or
waiting; and how long the trainings to come take, by what like ones took. The page reports/SCALE/progress.html shows the
same and reloads itself. Ends when nothing is running or waiting, or by Ctrl-C.
"""

import os
import shutil
import sys
import time
from pathlib import Path

from workflow.config.command_line import Parser, at_least, printable, run
from workflow.config.errors import ConfigError
from workflow.monitor.durations import spell
from workflow.monitor.estimate import Estimator
from workflow.monitor.forecast import Forecast
from workflow.monitor.states import State, count_states, read_states
from workflow.monitor.timed import read_timed
from workflow.report.pages.site import Site

CLEAR = "\x1b[2J\x1b[H"


def describe(states: list[State], runs: Path, cores: int) -> str:
    """How many runs are in which state, and how long those take that have no record, each from its start."""
    known = read_timed(runs)
    newest = max((run for run in known if run.here), key=lambda run: run.record.origin.started, default=None)
    gpu = newest is not None and not newest.record.origin.device.startswith("cpu")
    to_come = [run.job for run in states if run.state in ("running", "waiting")]
    forecast = Forecast.of(to_come, Estimator(known, gpu=gpu), cores)
    likely = f"; trainings to come: about {spell(forecast.wall[1])} on {cores} cores" if forecast.pairs else ""
    return count_states(states) + likely


def screen_lines(head: str, states: list[State], height: int, width: int | None) -> list[str]:
    """As many lines as the terminal has room for, in the order of the states. width None: lines are not cut."""
    lines = [head, *(f"{run.state:8} {run.digest}  {run.detail}  {run.name}" for run in states)]
    more = len(lines) - height
    shown = lines if more <= 0 else [*lines[: height - 1], f"... and {more + 1} more"]
    return [printable(line)[:width] for line in shown]


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="watch", description="Watch the runs of a scale.")
    parser.add_argument("--every", type=float, default=5.0, metavar="SECONDS")
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--cores", type=at_least(1), default=os.cpu_count())
    parser.add_argument("--scale", default="laptop", help="folder under results/ and reports/")
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--reports", type=Path, default=Path("reports"))
    parser.add_argument("--logs", type=Path, default=Path("logs"))
    options = parser.parse_args(argv)
    if not 0.1 <= options.every <= 86400:
        raise ConfigError(f"--every {options.every:g}: expected seconds from 0.1 to 86,400")
    results = options.results / options.scale
    site = Site(results, options.reports / options.scale)
    while True:
        states = read_states(results, options.results / "runs", options.logs)
        over = options.once or all(run.state in ("done", "failed") for run in states)
        every = None if over else max(1, round(options.every))
        head = describe(states, options.results / "runs", options.cores)
        context = {"title": "Progress of the runs", "counts": head, "states": states, "every": every}
        site.write("progress.html.j2", "progress.html", **context)
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
