"""Choose the trial with the best dev score: `python -m workflow.scripts.choose OUT DIGEST...`."""

import json
from pathlib import Path

from workflow.config.command_line import Parser, run
from workflow.results.record import write_text
from workflow.results.store import RUNS, own_store
from workflow.results.trials import best_of, dev_score


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="choose", description="Choose the best trial by its dev score.")
    parser.add_argument("out", type=Path)
    parser.add_argument("trials", nargs="+", help="the digest of each trial")
    parser.add_argument("--runs", type=Path, default=RUNS, help="the runs that were trained here")
    options = parser.parse_args(argv)
    store = own_store(options.runs)
    records = [store.read(digest) for digest in options.trials]
    chosen = {
        "follows": best_of(records),
        "dev": {record.digest: dev_score(record) for record in records},
    }
    write_text(options.out, json.dumps(chosen, indent=1) + "\n")


if __name__ == "__main__":
    run(main)
