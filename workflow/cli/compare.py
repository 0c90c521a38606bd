"""Compare two bundles of results: `python -m workflow.cli.compare A B`.

A and B: a folder such as results/laptop or results/precomputed/laptop, or a bundle (.zip). Prints
how their provenance differs and which numbers differ by more than noise. Exits with 3 if any number
does, else with 0: a check for CI.
"""

import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import ttest_ind

from workflow.config.command_line import Parser, print_lines, run
from workflow.config.errors import ConfigError
from workflow.report.bundle import Bundle, read_bundle
from workflow.results.numbers import name_places, number, percent
from workflow.results.record import Record
from workflow.results.statistics import LEVEL, holm
from workflow.results.timings import SPEEDS, split_turns
from workflow.tasks.spec import TASKS

MOVED = 3  # exit status if a number moved
SAME = 1e-3  # counts have no noise: differences below a thousandth are rounding
NAMES = ["question", "paper_corpus", "variant", "S", "k"]


def compare_origins(
    a: Iterable[Record], b: Iterable[Record]
) -> dict[str, tuple[list[str], list[str]]]:
    """Map each property that differs between the sides to its values in a and in b."""
    sides = [_origin_values(records) for records in (a, b)]
    names = dict.fromkeys([*sides[0], *sides[1]])
    both = {name: tuple(sorted(side.get(name, {"none"})) for side in sides) for name in names}
    return {name: values for name, values in both.items() if values[0] != values[1]}


def _origin_values(records: Iterable[Record]) -> dict[str, set[str]]:
    """Collect all values of the origins' fields except the time, and of the scale and the
    corpora.
    """
    values: dict[str, set[str]] = {}
    for record in records:
        text = f"{record.job.corpus} ({record.job.checksum[:19]})"
        for name, value in (
            record.origin.fields() | {"scale": record.job.scale, "corpus": text}
        ).items():
            values.setdefault(name, set()).add(value)
    return values


def add_keys(runs: pd.DataFrame) -> pd.DataFrame:
    """Add a column `key`: question, the paper's corpus, variant, S and k."""
    rows = runs[NAMES].itertuples(index=False)
    return runs.assign(
        key=[tuple(None if pd.isna(value) else value for value in row) for row in rows]
    )


def compare_cells(a: pd.DataFrame, b: pd.DataFrame) -> tuple[list[dict], list[tuple], list[tuple]]:
    """Compare each quantity of each cell that both sides have; list the keys of cells that only one
    side has.

    A configuration shared by several questions is compared once, under the first.
    """
    if len(scales := sorted({*a["scale"], *b["scale"]})) > 1:
        raise ConfigError(
            f"bundles of different scales: {' and '.join(scales)}; valid: two bundles of the same scale"
        )
    left, right = (dict(list(add_keys(side).groupby("key", sort=False))) for side in (a, b))
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
        line["moved"] = p <= LEVEL
    return (
        lines,
        [key for key in left if key not in right],
        [key for key in right if key not in left],
    )


def _compare_status(key: tuple, left: pd.DataFrame, right: pd.DataFrame) -> list[dict]:
    """Compare the shares of successful runs: any difference counts as a number that moved."""
    a, b = ((side["status"] == "ok").mean() for side in (left, right))
    if a == b:
        return []
    line = {"key": key, "measure": "share of successful runs", "unit": "", "a": a, "b": b}
    return [line | {"p": None, "moved": True, "why": "a run failed"}]


def _compare_quantity(
    key: tuple, quantity: str, title: str, unit: str, left: pd.DataFrame, right: pd.DataFrame
) -> list[dict]:
    sides = [_values(rows, quantity) for rows in (left, right)]
    if not all(sides):
        return []
    a, b = (sum(side) / len(side) for side in sides)
    return [
        {"key": key, "measure": title, "unit": unit, "a": a, "b": b}
        | _test_difference(quantity, *sides)
    ]


def _values(rows: pd.DataFrame, quantity: str) -> list[float]:
    """List one value per successful seed, or per round of a timing."""
    finished = rows[rows["status"] == "ok"]
    if quantity in SPEEDS:
        return split_turns(finished[finished[quantity].notna()], quantity)["value"].tolist()
    return finished[quantity].dropna().tolist()


def _test_difference(quantity: str, a: list[float], b: list[float]) -> dict:
    """Test whether two sides differ. moved: None if the noise is unknown. p: of Welch's t-test,
    None without noise.
    """
    difference, varies = abs(np.mean(b) - np.mean(a)), bool(np.std(a) + np.std(b))
    if difference <= SAME * abs(np.mean(a)) and (a == b or not varies):
        return {"p": None, "moved": False, "why": "the same"}
    several = min(len(a), len(b)) > 1
    if (several or quantity.startswith("macs")) and not varies:
        return {"p": None, "moved": True, "why": "no variance on either side"}
    if not several:
        return {"p": None, "moved": None, "why": "one value on a side, so its noise is unknown"}
    p = float(ttest_ind(a, b, equal_var=False).pvalue)
    return {"p": p, "moved": False, "why": "Welch's t-test over seeds or timing rounds"}


def _name(key: tuple) -> str:
    question, paper_corpus, variant, S, k = key
    return ", ".join([f"{question}: {variant} on {paper_corpus}", *name_places(S, k)])


def report_lines(a: Bundle, b: Bundle, lines: list[dict], only: list[list[tuple]]) -> list[str]:
    """List how the provenance of two bundles differs, which cells only one has, and which numbers
    moved.
    """
    origins = compare_origins(a.records.values(), b.records.values())
    made = [
        f"  {name}: {', '.join(here)} in A, {', '.join(there)} in B"
        for name, (here, there) in origins.items()
    ]
    said = [f"A: {a.name}", f"B: {b.name}"]
    said += ["the provenance differs:", *made] if made else ["the provenance is the same"]
    sides = zip((a, b), only, strict=True)
    said += [f"only in {side.name}: {_name(key)}" for side, keys in sides for key in keys]
    moved = [line for line in lines if line["moved"]]
    said += [f"differs: {_name(line['key'])}, {_describe(line)}" for line in moved]
    unknown = sum(line["moved"] is None for line in lines)
    noise = f"; the noise of {unknown} is unknown" if unknown else ""
    return [*said, f"{len(moved)} of {len(lines)} numbers differ by more than noise{noise}"]


def _describe(line: dict) -> str:
    a, b = (number(line[side], line["unit"]) for side in "ab")
    change = percent(100 * (line["b"] / line["a"] - 1) if line["a"] else None)
    return f"{line['measure']}: {a} in A, {b} in B ({change}); {line['why']}"


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="compare", description=__doc__)
    parser.add_argument("a", type=Path, metavar="A")
    parser.add_argument("b", type=Path, metavar="B")
    options = parser.parse_args(argv)
    a, b = read_bundle(options.a), read_bundle(options.b)
    lines, *only = compare_cells(a.runs, b.runs)
    if not lines:
        raise ConfigError(
            f"{options.a} and {options.b} have no results in common; nothing was compared"
        )
    print_lines(report_lines(a, b, lines, only))
    sys.exit(MOVED if any(line["moved"] for line in lines) else 0)


if __name__ == "__main__":
    run(main)
