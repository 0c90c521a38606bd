"""Look while it runs: `python -m workflow.cli.watch [--scale laptop] [--every SECONDS] [--once]`.

Shows every run of the plan, done, running with its loss and the time left, failed with the reason, or waiting; the same
stands in reports/SCALE/progress.html, which loads itself again. Ends when nothing is running or waiting, or by Ctrl-C.
"""

import argparse
import shutil
import sys
import time
from pathlib import Path

from workflow.config.command_line import printable, run
from workflow.config.errors import ConfigError
from workflow.monitor.states import State, counts, states
from workflow.report.pages.site import Site

CLEAR = "\x1b[2J\x1b[H"


def lines(found: list[State], height: int, width: int | None) -> list[str]:
    """As many as the terminal has room for: what runs and what failed before what is done or waits. width None: all."""
    made = [counts(found), *(f"{one.state:8} {one.digest}  {one.told}  {one.name}" for one in found)]
    more = len(made) - height
    shown = made if more <= 0 else [*made[: height - 1], f"... and {more + 1} more"]
    return [printable(line)[:width] for line in shown]


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="watch", description="Look at the runs while they run.")
    parser.add_argument("--every", type=float, default=5.0, metavar="SECONDS")
    parser.add_argument("--once", action="store_true")
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
        found = states(results, options.results / "runs", options.logs)
        over = options.once or all(one.state in ("done", "failed") for one in found)
        told = {"counts": counts(found), "states": found, "every": None if over else max(1, round(options.every))}
        site.write("progress.html.j2", "progress.html", title="How far the runs are", **told)
        width, height = shutil.get_terminal_size() if sys.stdout.isatty() else (None, 24)
        shown = lines(found, len(found) + 1 if options.once else height - 1, width)
        print(("" if options.once else CLEAR) + "\n".join(shown), flush=True)
        if over:
            return
        time.sleep(options.every)


if __name__ == "__main__":
    try:
        run(main)
    except KeyboardInterrupt:
        print()
