"""Compare two sets of results: `python -m workflow.cli.compare A B [--page OUT.html]`.

A and B: a results folder, a set under results/precomputed, or a bundle. Prints what differs in their origin and which
cells moved beyond noise. Ends with 0 where none did, with 3 where one did: a check that CI can run.
"""

import argparse
import sys
from pathlib import Path

from workflow.compare.differences import cells, origins, other_scales
from workflow.compare.result_set import ResultSet, read
from workflow.config.command_line import run
from workflow.config.errors import ConfigError
from workflow.config.files import output_path
from workflow.report.pages.numbers import number, percent
from workflow.report.pages.site import Site

MOVED = 3


def compared(a: ResultSet, b: ResultSet) -> dict:
    """What the page and the terminal tell."""
    lines, *only = cells(a.runs, b.runs)
    by_rank = other_scales(a.runs, b.runs)
    return {
        "title": "Two sets of results",
        "a": a.name,
        "b": b.name,
        "origins": origins(a.records.values(), b.records.values()),
        "lines": [_named(one, by_rank) for one in sorted(lines, key=lambda one: not one["moved"])],
        "only": [(side.name, [_name(key, by_rank) for key in keys]) for side, keys in zip((a, b), only, strict=True)],
        "moved": sum(bool(one["moved"]) for one in lines),
        "unknown": sum(one["moved"] is None for one in lines),
    }


def _named(one: dict, by_rank: bool) -> dict:
    return one | {"name": _name(one["key"], by_rank)}


def _name(key: tuple, by_rank: bool) -> str:
    ablation, corpus, variant, *grid = key
    place = "{} no. {:g} from above" if by_rank else "{} = {:g}"
    more = [place.format(name, value) for name, value in zip("Sk", grid, strict=True) if value is not None]
    return ", ".join([f"{ablation}: {variant} on {corpus}", *more])


def printed(found: dict) -> list[str]:
    """The same for a terminal."""
    told = [f"{name}: {', '.join(here)} | {', '.join(there)}" for name, (here, there) in found["origins"].items()]
    lines = ["origin differs:", *(f"  {line}" for line in told)] if told else ["origin: the same"]
    lines += [f"only in {name}: {one}" for name, names in found["only"] for one in names]
    lines += [f"moved: {_told(one)}" for one in found["lines"] if one["moved"]]
    count, noise = len(found["lines"]), found["unknown"]
    return [*lines, f"{found['moved']} of {count} numbers moved beyond noise; of {noise} the noise is not known"]


def _told(one: dict) -> str:
    values = f"{number(one['a'], one['unit'])} | {number(one['b'], one['unit'])} ({percent(one['change'])})"
    return f"{one['name']}, {one['measure']}: {values}; {one['why']}"


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="compare", description="Compare two sets of results.")
    parser.add_argument("a", type=Path)
    parser.add_argument("b", type=Path)
    parser.add_argument(
        "--page", type=lambda word: output_path(word, ".html"), help="write the comparison as a page, too"
    )
    options = parser.parse_args(argv)
    found = compared(read(options.a), read(options.b))
    if not found["lines"]:
        raise ConfigError(f"{options.a} and {options.b} have no number in common: nothing was compared")
    if options.page:
        Site(options.a, options.page.parent).write("compare.html.j2", options.page.name, **found)
    print("\n".join(printed(found)))
    sys.exit(MOVED if found["moved"] else 0)


if __name__ == "__main__":
    run(main)
