"""Compare two sets of results: `python -m workflow.cli.compare A B [--page OUT.html]`.

A and B: the results folder of a scale, a folder of results/precomputed, or a bundle. Prints how
differently they were made and which numbers differ by more than their scatter. Exits with 0 where none does, with 3
where one does: a check for CI.
"""

import sys
from pathlib import Path

from workflow.compare.differences import compare_cells, compare_origins, have_other_scales
from workflow.compare.result_set import ResultSet, read_set
from workflow.config.command_line import Parser, run
from workflow.config.errors import ConfigError
from workflow.config.files import output_path
from workflow.report.numbers import number, percent
from workflow.report.pages.site import Site

MOVED = 3


def compare_sets(a: ResultSet, b: ResultSet) -> dict:
    """What the page and the terminal show."""
    lines, *only = compare_cells(a.runs, b.runs)
    by_rank = have_other_scales(a.runs, b.runs)
    named = [line | {"name": _name(line["key"], by_rank)} for line in lines]
    return {
        "title": "Two sets of results",
        "a": a.name,
        "b": b.name,
        "origins": compare_origins(a.records.values(), b.records.values()),
        "lines": sorted(named, key=lambda line: not line["moved"]),
        "only": [(side.name, [_name(key, by_rank) for key in keys]) for side, keys in zip((a, b), only, strict=True)],
        "moved": sum(bool(line["moved"]) for line in lines),
        "unknown": sum(line["moved"] is None for line in lines),
    }


def _name(key: tuple, by_rank: bool) -> str:
    ablation, paper_corpus, variant, *values = key
    form = "rank {1:g} of {0}" if by_rank else "{0} = {1:g}"
    grid = [form.format(axis, value) for axis, value in zip("Sk", values, strict=True) if value is not None]
    return ", ".join([f"{ablation}: {variant} on {paper_corpus}", *grid])


def report_lines(comparison: dict) -> list[str]:
    """The same for a terminal."""
    origins = [f"  {name}: {', '.join(a)} in A, {', '.join(b)} in B" for name, (a, b) in comparison["origins"].items()]
    lines = [f"A: {comparison['a']}", f"B: {comparison['b']}"]
    lines += ["they were made differently:", *origins] if origins else ["both were made in the same way"]
    lines += [f"only in {set_name}: {name}" for set_name, names in comparison["only"] for name in names]
    lines += [f"differs: {_describe(line)}" for line in comparison["lines"] if line["moved"]]
    count, unknown = len(comparison["lines"]), comparison["unknown"]
    noise = f"; how far {unknown} of them scatter is not known" if unknown else ""
    return [*lines, f"{comparison['moved']} of {count} numbers differ by more than their scatter{noise}"]


def _describe(line: dict) -> str:
    a, b = (number(line[side], line["unit"]) for side in "ab")
    return f"{line['name']}, {line['measure']}: {a} in A, {b} in B ({percent(line['change'])}); {line['why']}"


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="compare", description="Compare two sets of results.")
    parser.add_argument("a", type=Path)
    parser.add_argument("b", type=Path)
    parser.add_argument(
        "--page", type=lambda word: output_path(word, ".html"), help="also write the comparison as a page"
    )
    options = parser.parse_args(argv)
    comparison = compare_sets(read_set(options.a), read_set(options.b))
    if not comparison["lines"]:
        raise ConfigError(f"{options.a} and {options.b} have no number in common: nothing was compared")
    if options.page:
        Site(options.a, options.page.parent).write("compare.html.j2", options.page.name, **comparison)
    print("\n".join(report_lines(comparison)))
    sys.exit(MOVED if comparison["moved"] else 0)


if __name__ == "__main__":
    run(main)
