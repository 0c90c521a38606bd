"""Collect the records of one ablation: `python -m workflow.scripts.runs_table ABLATION OUT [--config CONFIG]`."""

import os
from pathlib import Path

from workflow.config.command_line import Parser, run
from workflow.config.environment import CONFIG
from workflow.config.errors import check_known
from workflow.config.strict import parse_json
from workflow.plan.config import load_config
from workflow.plan.plan import plan
from workflow.results.record import read_record, write_text
from workflow.results.rows import write_rows
from workflow.results.runs_table import build_rows


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="runs_table", description="Collect the records of one ablation.")
    parser.add_argument("ablation")
    parser.add_argument("out", type=Path)
    parser.add_argument("--config", default=os.environ.get(CONFIG, "{}"), help="as JSON; the workflow passes its own")
    parser.add_argument("--runs", type=Path, help="the folder of all runs; as seen from OUT where it is left out")
    options = parser.parse_args(argv)
    rows = plan(load_config(parse_json(options.config, "config")))
    check_known("ablation of this plan", options.ablation, {row.ablation for row in rows})
    planned = [row.record() for row in rows if row.ablation == options.ablation]
    runs = options.runs or options.out.parent.parent.parent / "runs"  # results/SCALE/ablations/NAME.json
    records = {row["digest"]: read_record(runs / row["digest"] / "record.json") for row in planned}
    write_text(options.out, write_rows("runs", build_rows(planned, records)))


if __name__ == "__main__":
    run(main)
