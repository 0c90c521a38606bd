"""Write the plan: `python -m workflow.scripts.plan CONFIG OUT`, CONFIG as JSON. One object per row."""

import argparse
import json
from pathlib import Path

from workflow.cli._main import run
from workflow.config.strict import parse_json
from workflow.plan.ablations import load_config
from workflow.plan.plan import plan
from workflow.results.record import write_text


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="jobs", description="Write the plan of all jobs.")
    parser.add_argument("config", help="the config as JSON")
    parser.add_argument("out", type=Path)
    options = parser.parse_args(argv)
    rows = [
        {**row.model_dump(), "digest": row.job.digest, "configuration": row.job.configuration}
        for row in plan(load_config(parse_json(options.config, "config")))
    ]
    write_text(options.out, json.dumps(rows, indent=1))


if __name__ == "__main__":
    run(main)
