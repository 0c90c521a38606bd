"""Write the plan: `python -m workflow.scripts.plan OUT [--config CONFIG]`, CONFIG as JSON.

OUT holds one object per row; results/runs/DIGEST/job.json next to its folder holds each job. Files
that exist already stay. Snakemake's process has made the same plan to know its jobs. It is made
again here, in two seconds, so that the command also works by hand.
"""

import json
import os
from pathlib import Path

from workflow.config.command_line import Parser, run
from workflow.config.environment import CONFIG
from workflow.config.strict import parse_json
from workflow.plan.plan import plan
from workflow.results.record import write_if_changed
from workflow.settings.config import load_setup


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="plan", description="Write the plan, and a job file for each run.")
    parser.add_argument("out", type=Path)
    parser.add_argument(
        "--config",
        default=os.environ.get(CONFIG, "{}"),
        help="the config as JSON; default: no keys",
    )
    options = parser.parse_args(argv)
    setup = load_setup(parse_json(options.config, "config"))
    missing: dict[str, str] = {}
    rows = plan(setup, missing)
    runs = options.out.parent.parent / "runs"
    available = [row for row in rows if row.corpus not in missing]
    jobs = {row.job.digest: row.job for row in available}
    for digest, job in jobs.items():
        content = job.model_dump_json(indent=1) + "\n"
        write_if_changed(runs / digest / "job.json", content, wait=False)
    content = json.dumps([row.record() for row in rows], indent=1)
    write_if_changed(options.out, content)
    os.sync()


if __name__ == "__main__":
    run(main)
