"""Trace a figure, table or verdict to its runs: `python -m workflow.cli.trace FILE [--data]`.

FILE: an .svg, .pdf or .png of a figure, the .json of a table, ledger.json, or the claims of a
question. Prints its origin, its commits and, for each run behind it, the page, the record and
whether the record is unchanged. With --data, prints its numbers as CSV.
"""

from pathlib import Path

from workflow.config.command_line import Parser, print_data, print_lines, run
from workflow.config.errors import ConfigError
from workflow.results import provenance
from workflow.results.store import own_store


def _find_page(digest: str) -> str:
    """Return the first page of a run, or the path it would have."""
    pages = sorted(Path("reports").glob(f"*/questions/*/{digest}.html"))
    return pages[0].as_posix() if pages else f"reports/SCALE/questions/QUESTION/{digest}.html"


def _compare(digest: str, signed: dict[str, str]) -> str:
    """Say whether the record of a run is the one that the file was made from."""
    store = own_store()
    place = store.describe_place(digest)
    if digest not in store:
        return f"{place}, missing"
    try:
        same = store.read(digest).signature == signed.get(digest)
    except ConfigError:
        return f"{place}, refused: edited after the run"
    if not same:
        return f"{place}, not the record that was used"
    return f"{place}, signed {signed[digest]}"


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="trace", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--data", action="store_true", help="print only its numbers, as CSV")
    options = parser.parse_args(argv)
    trace = provenance.read(options.file)
    if options.data:
        print_data(trace.data)
        return
    unnamed = "see the record of each run" if trace.runs else "none (computed by formula, or cited)"
    lines = [f"origin: {trace.origin}", f"commit: {', '.join(trace.commits) or unnamed}"]
    lines.append(f"runs behind it: {len(trace.runs)}")
    lines += [
        f"  {digest}  {_find_page(digest)}  {_compare(digest, trace.signed)}"
        for digest in trace.runs
    ]
    print_lines(lines)


if __name__ == "__main__":
    run(main)
