"""Print where a figure or table comes from: `python -m workflow.cli.trace FILE [--data]`.

FILE: an .svg, .pdf or .png of a figure or the .json of a table. Prints its origin, the commits, where
the page and the record of each run behind it lie, or, with --data, its numbers as CSV.
"""

from pathlib import Path

from workflow.config.command_line import Parser, printable, run
from workflow.results import provenance


def _find_page(digest: str) -> str:
    """Return the first page of a run; where there is none, where it would lie."""
    pages = sorted(Path("reports").glob(f"*/ablations/*/{digest}.html"))
    return pages[0].as_posix() if pages else f"reports/SCALE/ablations/ABLATION/{digest}.html"


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="trace", description="Print where a figure or table comes from.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--data", action="store_true", help="print the numbers behind it, as CSV, and nothing else")
    options = parser.parse_args(argv)
    trace = provenance.read(options.file)
    if options.data:
        print(trace.data, end="")
        return
    lines = [f"origin: {trace.origin}", f"commit: {', '.join(trace.commits) or 'none: computed by formula, or cited'}"]
    lines.append(f"runs behind it: {len(trace.runs)}")
    lines += [f"  {digest}  {_find_page(digest)}  results/runs/{digest}/record.json" for digest in trace.runs]
    print("\n".join(map(printable, lines)))


if __name__ == "__main__":
    run(main)
