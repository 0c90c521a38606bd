"""Choose among trials: `python -m workflow.scripts.choose OUT RECORD...` writes which had the best
score on dev.
"""

import json
from pathlib import Path

from workflow.config.command_line import Parser, run
from workflow.results.record import read_record, write_text
from workflow.results.trials import best_of, dev_score


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="choose", description="Choose the best trial by its dev score.")
    parser.add_argument("out", type=Path)
    parser.add_argument("records", type=Path, nargs="+", help="record.json of each trial")
    options = parser.parse_args(argv)
    records = [read_record(path) for path in options.records]
    chosen = {
        "follows": best_of(records),
        "dev": {record.digest: dev_score(record) for record in records},
    }
    write_text(options.out, json.dumps(chosen, indent=1) + "\n")


if __name__ == "__main__":
    run(main)
