"""Compare two bundles of results: `python -m workflow.cli.compare A B [--page OUT.html]`.

A and B: a scale's folder under results/ or results/precomputed/, or an archive. Prints how differently they were made
and which numbers differ by more than their scatter. Exits with 3 where one does, else with 0: a check for CI.
"""

import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import ttest_ind

from workflow.config.command_line import Parser, run
from workflow.config.errors import ConfigError
from workflow.config.files import output_path
from workflow.report.bundle import Bundle, read_bundle
from workflow.report.numbers import number, percent
from workflow.report.pages.site import Site
from workflow.results.record import Record
from workflow.results.statistics import LEVEL, holm
from workflow.results.timings import SPEEDS, split_turns
from workflow.tasks.spec import TASKS

MOVED = 3  # the exit status where a number moved
SAME = 1e-3  # a count has no noise: up to a thousandth is rounding
NAMES = ["ablation", "paper_corpus", "variant", "S", "k"]


def compare_origins(a: Iterable[Record], b: Iterable[Record]) -> dict[str, tuple[list[str], list[str]]]:
    """What differs between the sides, by name: the values of a and of b."""
    sides = [_origin_values(records) for records in (a, b)]
    names = dict.fromkeys([*sides[0], *sides[1]])
    both = {name: tuple(sorted(side.get(name, {"none"})) for side in sides) for name in names}
    return {name: values for name, values in both.items() if values[0] != values[1]}


def _origin_values(records: Iterable[Record]) -> dict[str, set[str]]:
    """Every value of every field of the origins but the time, of the scale and of the texts."""
    values: dict[str, set[str]] = {}
    for record in records:
        origin = record.origin
        fields = origin.model_dump(exclude={"started", "versions", "sources", "accepted"})
        fields |= {"scale": record.job.scale, "text": f"{record.job.corpus} ({record.job.checksum[:19]})"}
        fields |= {f"version of {name}": version for name, version in origin.versions.items()}
        fields |= {f"source {file}": digest for file, digest in origin.sources.items()}
        fields |= {f"accepted change {number}": line for number, line in enumerate(origin.accepted, 1)}
        for name, value in fields.items():
            values.setdefault(name, set()).add(str(value))
    return values


def have_other_scales(a: pd.DataFrame, b: pd.DataFrame) -> bool:
    """Whether S and k are other numbers on the two sides; then they are paired by rank."""
    return set(a["scale"]) != set(b["scale"])


def add_keys(runs: pd.DataFrame, by_rank: bool) -> pd.DataFrame:
    """With a column `key`: ablation, text of the paper, variant, S and k; by_rank: their ranks in place of S and k."""
    runs = runs.copy()
    for column in ("S", "k") if by_rank else ():
        groups = runs.groupby(["ablation", "paper_corpus", "variant"])[column]
        runs[column] = groups.rank(method="dense", ascending=False)
    rows = runs[NAMES].itertuples(index=False)
    runs["key"] = [tuple(None if pd.isna(value) else value for value in row) for row in rows]
    return runs


def compare_cells(a: pd.DataFrame, b: pd.DataFrame) -> tuple[list[dict], list[tuple], list[tuple]]:
    """A line for each quantity of each cell that both have, and the keys of the cells that only one has.

    A configuration that serves several ablations is compared once, in the first of them.
    """
    for side in (a, b):
        if len(scales := sorted(set(side["scale"]))) > 1:
            raise ConfigError(f"a bundle of several scales, {' and '.join(scales)}: compare one at a time")
    by_rank = have_other_scales(a, b)
    left, right = (dict(list(add_keys(side, by_rank).groupby("key", sort=False))) for side in (a, b))
    lines, seen = [], set()
    for key in (key for key in left if key in right):
        pair = (left[key]["configuration"].iloc[0], right[key]["configuration"].iloc[0])
        if pair in seen:
            continue
        seen.add(pair)
        lines += _compare_status(key, left[key], right[key])
        for quantity, title, unit in TASKS[left[key]["task"].iloc[0]].columns:
            lines += _compare_quantity(key, quantity, title, unit, left[key], right[key])
    tested = [line for line in lines if line["p"] is not None]
    for line, p in zip(tested, holm([line["p"] for line in tested]), strict=True):
        line |= {"holm": p, "moved": p <= LEVEL}
    return lines, [key for key in left if key not in right], [key for key in right if key not in left]


def _compare_status(key: tuple, left: pd.DataFrame, right: pd.DataFrame) -> list[dict]:
    """The share of runs that ended well, where it differs: a failure is a number that moved."""
    a, b = ((side["status"] == "ok").mean() for side in (left, right))
    if a == b:
        return []
    line = {"key": key, "measure": "runs that ended well", "unit": "", "a": a, "b": b}
    line |= {"n": [len(left), len(right)], "change": 100 * (b / a - 1) if a else None}
    return [line | {"holm": None, "p": None, "moved": True, "why": "a run failed"}]


def _compare_quantity(
    key: tuple, quantity: str, title: str, unit: str, left: pd.DataFrame, right: pd.DataFrame
) -> list[dict]:
    sides = [_values(rows, quantity) for rows in (left, right)]
    if not all(sides):
        return []
    a, b = (sum(side) / len(side) for side in sides)
    line = {"key": key, "measure": title, "unit": unit, "a": a, "b": b, "n": [len(side) for side in sides]}
    change = 100 * (b / a - 1) if a else None
    return [line | {"change": change, "holm": None} | _test_difference(quantity, *sides)]


def _values(rows: pd.DataFrame, quantity: str) -> list[float]:
    """One for each seed that ended well; for each turn of a timing."""
    finished = rows[rows["status"] == "ok"]
    if quantity in SPEEDS:
        return split_turns(finished[finished[quantity].notna()], quantity)["value"].tolist()
    return finished[quantity].dropna().tolist()


def _test_difference(quantity: str, a: list[float], b: list[float]) -> dict:
    """moved: None where one value on a side leaves the noise unknown. p: of Welch's t test, where there is noise."""
    difference, varies = abs(np.mean(b) - np.mean(a)), bool(np.std(a) + np.std(b))
    if difference <= SAME * abs(np.mean(a)) and (a == b or not varies):
        return {"p": None, "moved": False, "why": "the same"}
    several = min(len(a), len(b)) > 1
    if (several or quantity.startswith("macs")) and not varies:
        return {"p": None, "moved": True, "why": "it does not vary on either side"}
    if not several:
        return {"p": None, "moved": None, "why": "one value on a side, so its noise is not known"}
    p = float(ttest_ind(a, b, equal_var=False).pvalue)
    return {"p": p, "moved": False, "why": "Welch's t test over seeds or turns"}


def compare_bundles(a: Bundle, b: Bundle) -> dict:
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
    parser = Parser(prog="compare", description="Compare two bundles of results.")
    parser.add_argument("a", type=Path)
    parser.add_argument("b", type=Path)
    parser.add_argument(
        "--page", type=lambda word: output_path(word, ".html"), help="also write the comparison as a page"
    )
    options = parser.parse_args(argv)
    comparison = compare_bundles(read_bundle(options.a), read_bundle(options.b))
    if not comparison["lines"]:
        raise ConfigError(f"{options.a} and {options.b} have no number in common: nothing was compared")
    if options.page:
        Site(options.a, options.page.parent).write("compare.html.j2", options.page.name, **comparison)
    print("\n".join(report_lines(comparison)))
    sys.exit(MOVED if comparison["moved"] else 0)


if __name__ == "__main__":
    run(main)
