"""Say where a figure or table comes from: `python -m workflow.cli.trace FILE [--data]`.

FILE: an .svg, .pdf or .png of a figure or the .json of a table. Prints its origin, the commits, where
the page and the record of each run behind it lie, or, with --data, its numbers as CSV.
"""

import argparse
from pathlib import Path

from workflow.cli._main import printable, run
from workflow.results import provenance as traces


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="trace", description="Say where a figure or table comes from.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--data", action="store_true", help="print the numbers behind it, as CSV, and nothing else")
    options = parser.parse_args(argv)
    found = traces.read(options.file)
    if options.data:
        print(found.data, end="")
        return
    lines = [f"origin: {found.origin}", f"commit: {', '.join(found.commits) or 'none: computed or cited'}"]
    lines.append(f"runs: {len(found.runs)}")
    lines += [f"  {one}  reports/runs/{one}.html  results/runs/{one}/record.json" for one in found.runs]
    print("\n".join(map(printable, lines)))


if __name__ == "__main__":
    run(main)
