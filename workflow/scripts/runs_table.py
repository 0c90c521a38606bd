"""Collect all records and measures: `python -m workflow.scripts.runs_table PLAN OUT`."""

import argparse
import json
from pathlib import Path

from workflow.cli._main import run
from workflow.results.record import read_record, write_text
from workflow.results.runs_table import MEASURES, gather


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="gather", description="Collect all records and measures.")
    parser.add_argument("plan", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args(argv)
    folder, plan = options.plan.parent, json.loads(options.plan.read_text())
    records = {
        digest: read_record(folder / "runs" / digest / "record.json") for digest in {row["digest"] for row in plan}
    }
    files = {kind: folder / "measures" / f"{kind}.json" for kind in MEASURES}
    measures = {kind: json.loads(path.read_text()) for kind, path in files.items() if path.exists()}
    write_text(options.out, json.dumps(gather(plan, records, measures)))


if __name__ == "__main__":
    run(main)
