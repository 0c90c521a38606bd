"""Hold the claims of the papers against the runs: `python -m workflow.scripts.claims RUNS OUT`

Writes OUT.json and OUT.csv, a line for each claim.
"""

import argparse
import json
from pathlib import Path

import pandas as pd

from workflow.cli._main import run
from workflow.config.errors import ConfigError
from workflow.report.claims.ledger import ledger
from workflow.results.record import write_text
from workflow.results.runs_table import load, provenance


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="claims", description="Hold the claims of the papers against the runs.")
    parser.add_argument("runs", type=Path)
    parser.add_argument("out")
    options = parser.parse_args(argv)
    if options.runs == Path(f"{options.out}.json"):
        raise ConfigError(f"{options.out}: would be written over its own input, {options.runs}")
    runs = load(options.runs)
    lines, origin = ledger(runs), provenance(runs)
    write_text(f"{options.out}.json", json.dumps({"provenance": origin, "claims": lines}, indent=1))
    tidy = pd.DataFrame([{**one, **{key: " ".join(one[key]) for key in ("digests", "published")}} for one in lines])
    write_text(f"{options.out}.csv", tidy.assign(**{"measured at": origin}).to_csv(index=False))


if __name__ == "__main__":
    run(main)
