"""Write the plan: `python -m workflow.scripts.jobs CONFIG OUT`, CONFIG as JSON. One object per row."""

import argparse
import json
from pathlib import Path

from workflow.closed import parse_json
from workflow.plan import plan
from workflow.records import write_text
from workflow.scripts._main import run
from workflow.settings import load_config


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="jobs", description="Write the plan of all jobs.")
    parser.add_argument("config", help="the config as JSON")
    parser.add_argument("out", type=Path)
    options = parser.parse_args(argv)
    rows = [
        {**row.model_dump(), "digest": row.job.digest, "cell": row.job.cell}
        for row in plan(load_config(parse_json(options.config, "config")))
    ]
    write_text(options.out, json.dumps(rows, indent=1))


if __name__ == "__main__":
    run(main)
