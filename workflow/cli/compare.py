"""Compare two bundles of results: `python -m workflow.cli.compare A B`.

A and B: a folder such as results/laptop or results/precomputed/laptop, or a bundle (.zip). Prints
how their provenance differs and which numbers differ by more than noise. Exits with 3 if any number
does, else with 0: a check for CI.
"""

import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

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
from workflow.tasks.task import Column

MOVED = 3  # exit status if a number moved
SAME = 1e-3  # counts have no noise: differences below a thousandth are rounding
NAMES = ["question", "paper_corpus", "variant", "S", "k"]


class Key(NamedTuple):
    """What identifies a cell; S and k are None where the variant has none."""

    question: str
    paper_corpus: str
    variant: str
    S: int | None
    k: int | None

    def __str__(self) -> str:
        variant = f"{self.question}: {self.variant} on {self.paper_corpus}"
        return ", ".join([variant, *name_places(self.S, self.k)])


@dataclass(frozen=True)
class Test:
    """Whether two sides of a number differ.

    moved: None if the noise is unknown. p: of Welch's t-test, None without noise.
    """

    why: str
    moved: bool | None
    p: float | None = None


@dataclass(frozen=True)
class Difference:
    """A number that both bundles have, as means over seeds or timing rounds."""

    key: Key
    measure: str
    unit: str
    a: float
    b: float
    test: Test

    def __str__(self) -> str:
        here = number(self.a, self.unit)
        there = number(self.b, self.unit)
        change = None
        if self.a:
            change = 100 * (self.b / self.a - 1)
        values = f"{here} in A, {there} in B ({percent(change)})"
        return f"{self.measure}: {values}; {self.test.why}"


@dataclass(frozen=True)
class Comparison:
    """All numbers of the cells that both bundles have, and the cells that only one has."""

    differences: list[Difference]
    only_a: list[Key]
    only_b: list[Key]

    @property
    def moved(self) -> list[Difference]:
        """List the numbers that differ by more than noise."""
        return [each for each in self.differences if each.test.moved]


def compare_origins(
    a: Iterable[Record], b: Iterable[Record]
) -> dict[str, tuple[list[str], list[str]]]:
    """Map each property that differs between the sides to its values in a and in b."""
    here = _origin_values(a)
    there = _origin_values(b)
    differing = {}
    for name in dict.fromkeys([*here, *there]):
        values = sorted(here.get(name, {"none"}))
        others = sorted(there.get(name, {"none"}))
        if values != others:
            differing[name] = (values, others)
    return differing


def _origin_values(records: Iterable[Record]) -> dict[str, set[str]]:
    """Collect all values of the origins' fields except the time, of the scale and the corpora."""
    values: dict[str, set[str]] = {}
    for record in records:
        fields = record.origin.fields()
        fields["scale"] = record.job.scale
        checksum = record.job.checksum[:19]
        fields["corpus"] = f"{record.job.corpus} ({checksum})"
        for name, value in fields.items():
            values.setdefault(name, set()).add(value)
    return values


def compare_cells(a: pd.DataFrame, b: pd.DataFrame) -> Comparison:
    """Compare each quantity of each cell that both sides have.

    A configuration shared by several questions is compared once, under the first. `ConfigError`
    for sides of different scales.
    """
    scales = sorted({*a["scale"], *b["scale"]})
    if len(scales) > 1:
        named = " and ".join(scales)
        raise ConfigError(
            f"bundles of different scales: {named}; valid: two bundles of the same scale"
        )
    left = _by_key(a)
    right = _by_key(b)
    compared = set()
    differences = []
    for key, rows in left.items():
        if key not in right:
            continue
        others = right[key]
        first = rows.iloc[0]
        configurations = (first["configuration"], others.iloc[0]["configuration"])
        if configurations in compared:
            continue
        compared.add(configurations)
        differences += _compare_status(key, rows, others)
        for column in TASKS[first["task"]].columns:
            differences += _compare_quantity(key, column, rows, others)
    return Comparison(
        _correct(differences),
        only_a=[key for key in left if key not in right],
        only_b=[key for key in right if key not in left],
    )


def _by_key(runs: pd.DataFrame) -> dict[Key, pd.DataFrame]:
    """Map each cell to its runs, in the order of the table."""
    places: dict[Key, list[int]] = {}
    names = runs[NAMES].itertuples(index=False)
    for place, row in enumerate(names):
        values = [None if pd.isna(value) else value for value in row]
        places.setdefault(Key(*values), []).append(place)
    return {key: runs.iloc[listed] for key, listed in places.items()}


def _correct(differences: list[Difference]) -> list[Difference]:
    """Judge all tested differences together, after Holm's correction."""
    tested = [each.test.p for each in differences if each.test.p is not None]
    corrected = iter(holm(tested))
    judged = []
    for each in differences:
        if each.test.p is not None:
            is_significant = next(corrected) <= LEVEL
            test = replace(each.test, moved=is_significant)
            each = replace(each, test=test)
        judged.append(each)
    return judged


def _compare_status(key: Key, left: pd.DataFrame, right: pd.DataFrame) -> list[Difference]:
    """Compare the shares of successful runs: any difference counts as a number that moved."""
    a = (left["status"] == "ok").mean()
    b = (right["status"] == "ok").mean()
    if a == b:
        return []
    test = Test("a run failed", moved=True)
    return [Difference(key, "share of successful runs", "", a, b, test)]


def _compare_quantity(
    key: Key, column: Column, left: pd.DataFrame, right: pd.DataFrame
) -> list[Difference]:
    a = _values(left, column.quantity)
    b = _values(right, column.quantity)
    if not a or not b:
        return []
    return [
        Difference(
            key,
            measure=column.title,
            unit=column.unit,
            a=sum(a) / len(a),
            b=sum(b) / len(b),
            test=_test_difference(column.quantity, a, b),
        )
    ]


def _values(rows: pd.DataFrame, quantity: str) -> list[float]:
    """List one value per successful seed, or per round of a timing."""
    is_ok = rows["status"] == "ok"
    finished = rows[is_ok & rows[quantity].notna()]
    if quantity in SPEEDS:
        return split_turns(finished, quantity)["value"].tolist()
    return finished[quantity].tolist()


def _test_difference(quantity: str, a: list[float], b: list[float]) -> Test:
    """Test whether two sides differ by more than their noise."""
    mean = np.mean(a)
    difference = abs(np.mean(b) - mean)
    is_small = difference <= SAME * abs(mean)
    varies = bool(np.std(a) + np.std(b))
    if is_small and (a == b or not varies):
        return Test("the same", moved=False)
    several = min(len(a), len(b)) > 1
    is_exact = several or quantity.startswith("macs")
    if is_exact and not varies:
        return Test("no variance on either side", moved=True)
    if not several:
        return Test("one value on a side, so its noise is unknown", moved=None)
    p = float(ttest_ind(a, b, equal_var=False).pvalue)
    return Test("Welch's t-test over seeds or timing rounds", moved=False, p=p)


def report_lines(a: Bundle, b: Bundle, found: Comparison) -> list[str]:
    """List how provenance differs, which cells only one bundle has, and which numbers moved."""
    said = [f"A: {a.name}", f"B: {b.name}"]
    origins = compare_origins(a.records.values(), b.records.values())
    said.append("the provenance differs:" if origins else "the provenance is the same")
    for name, (here, there) in origins.items():
        in_a = ", ".join(here)
        in_b = ", ".join(there)
        said.append(f"  {name}: {in_a} in A, {in_b} in B")
    for key in found.only_a:
        said.append(f"only in {a.name}: {key}")
    for key in found.only_b:
        said.append(f"only in {b.name}: {key}")
    for each in found.moved:
        said.append(f"differs: {each.key}, {each}")
    count = f"{len(found.moved)} of {len(found.differences)} numbers"
    last = f"{count} differ by more than noise"
    unknown = sum(each.test.moved is None for each in found.differences)
    if unknown:
        last += f"; the noise of {unknown} is unknown"
    return [*said, last]


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="compare", description=__doc__)
    parser.add_argument("a", type=Path, metavar="A")
    parser.add_argument("b", type=Path, metavar="B")
    options = parser.parse_args(argv)
    a = read_bundle(options.a)
    b = read_bundle(options.b)
    found = compare_cells(a.runs, b.runs)
    if not found.differences:
        raise ConfigError(
            f"{options.a} and {options.b} have no results in common; nothing was compared"
        )
    print_lines(report_lines(a, b, found))
    sys.exit(MOVED if found.moved else 0)


if __name__ == "__main__":
    run(main)
