"""Write the plan: `python -m workflow.scripts.plan OUT [--config CONFIG]`, CONFIG as JSON.

OUT holds one object per row; beside it, results/runs/DIGEST/job.json holds each job. What stands
there already stays.
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
    missing: dict[str, str] = {}
    rows = plan(load_setup(parse_json(options.config, "config")), missing)
    runs = options.out.parent.parent / "runs"
    for job in {row.job.digest: row.job for row in rows if row.corpus not in missing}.values():
        write_if_changed(
            runs / job.digest / "job.json", job.model_dump_json(indent=1) + "\n", wait=False
        )
    write_if_changed(options.out, json.dumps([row.record() for row in rows], indent=1))
    os.sync()


if __name__ == "__main__":
    run(main)
