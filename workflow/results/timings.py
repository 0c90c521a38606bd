"""Timings: the time, or speed, of every turn that a configuration had among the others, and what
turns say of two.

Times are given as on the machine when it was quiet (`workflow.scripts.throughput`), so that those
of all groups of a report can be compared. Those of two machines cannot: their `reference_ms`
differ. It is missing where a timing came without a reference step; such timings are compared among
themselves.
"""

import math
from collections.abc import Iterable, Mapping
from statistics import fmean

import pandas as pd

from workflow.results.registry import KINDS, SPEEDS
from workflow.results.statistics import POSITIVE, Summary, over_seeds

TIMED = SPEEDS | {f"{kind}_ms": kind for kind in KINDS}  # quantity -> what was timed
WHOSE = ["configuration", "digest", "paper_corpus", "corpus", "S", "reference_ms"]
WITHOUT = "none"  # of a timing without a reference step
AGAIN = "--forcerun throughput"  # option of snakemake


def turn_values(row: Mapping, quantity: str) -> list[float]:
    """Compute a time or speed turn by turn, whose mean is the row's.

    The value alone where no turns were kept.
    """
    value = row[quantity]
    # a speed of 0 is none
    if not value or math.isnan(value):
        return []
    turns = row.get(f"{TIMED[quantity]}_turns")
    if not isinstance(turns, list) or not turns or 0 in turns:
        return [float(value)]
    if quantity not in SPEEDS:
        return list(turns)
    mean_rate = fmean(1 / turn for turn in turns)
    speeds = []
    for turn in turns:
        speeds.append(value / turn / mean_rate)
    return speeds


def _each(rows: pd.DataFrame, quantity: str) -> list[tuple[dict, list[float]]]:
    """List whose each timing is, and its turns, configuration by configuration."""
    turns = f"{TIMED[quantity]}_turns"
    names = dict.fromkeys((*WHOSE, quantity, turns))
    unknown = [math.nan] * len(rows)
    columns = [rows[name].tolist() if name in rows else unknown for name in names]
    found = {}
    for values in zip(*columns, strict=True):
        row = dict(zip(names, values, strict=True))
        if row["configuration"] not in found:
            whose = {key: row[key] for key in WHOSE}
            found[row["configuration"]] = (whose, turn_values(row, quantity))
    return [*found.values()]


def all_turns(rows: pd.DataFrame, quantity: str) -> list[float]:
    """List the times or speeds of every turn of every configuration."""
    every = []
    for _, values in _each(rows, quantity):
        every += values
    return every


def split_turns(rows: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Make a row of each `turn` of each configuration: its `value`, and which runs it is of."""
    turns = []
    for run, values in _each(rows, quantity):
        for number, value in enumerate(values):
            turn = run | {"turn": number, "value": value}
            turns.append(turn)
    columns = [*WHOSE, "turn", "value"]
    frame = pd.DataFrame(turns, columns=columns)
    return frame.astype({"value": float})


def over_turns(rows: pd.DataFrame, quantity: str) -> Summary:
    """Summarise a time or speed over the turns of one configuration, as for seeds."""
    turns = all_turns(rows, quantity)
    return over_seeds(turns, bounds=POSITIVE)


def ratio_over_turns(
    rows: pd.DataFrame, base: pd.DataFrame, quantity: str, of_base: str = ""
) -> Summary:
    """Summarise a ratio, turn by turn on every corpus; its value is None where nothing compares.

    The mean is that of logarithms, as in claims. of_base: where the quantity of the base has
    another name.
    """
    ours = by_turn(rows, quantity)
    theirs = by_turn(base, of_base or quantity)
    return ratio_of_turns(ours, theirs)


def ratio_of_turns(ours: Mapping[tuple, float], theirs: Mapping[tuple, float]) -> Summary:
    """Summarise the ratio of values that `by_turn` gave."""
    logarithms = []
    texts = []
    for key, value in ours.items():
        if key in theirs:
            logarithms.append(math.log(value / theirs[key]))
            texts.append(key[0])
    of_logarithms = over_seeds(logarithms, texts)
    points = of_logarithms.points
    if points is not None:
        points = [math.exp(each) for each in points]
    return Summary(
        value=_exp(of_logarithms.value),
        low=_exp(of_logarithms.low),
        high=_exp(of_logarithms.high),
        points=points,
    )


def _exp(value: float | None) -> float | None:
    if value is None:
        return None
    return math.exp(value)


def by_turn(rows: pd.DataFrame, quantity: str) -> dict[tuple, float]:
    """Average values over configurations: (corpus, clock, turn) -> value."""
    groups: dict[tuple, list[float]] = {}
    for timing, values in _each(rows, quantity):
        corpus = timing["corpus"]
        clock = _clock(timing["reference_ms"])
        for turn, value in enumerate(values):
            group = groups.setdefault((corpus, clock, turn), [])
            group.append(value)
    means = {}
    for key, values in groups.items():
        means[key] = fmean(values)
    return means


def clocks(rows: pd.DataFrame) -> list[str]:
    """Name the reference step of each timing: times of two rows compare where it is the same."""
    if "reference_ms" not in rows:
        return [WITHOUT] * len(rows)
    names = []
    for reference in rows["reference_ms"]:
        names.append(_clock(reference))
    return names


def _clock(reference: float | None) -> str:
    if pd.isna(reference):
        return WITHOUT
    return f"{reference:.9g} ms"


def told_apart(shown: Summary) -> bool:
    """Say whether a ratio differs from 1: its interval does not contain 1."""
    if shown.low is None:
        return False
    return not shown.low <= 1 <= shown.high


def describe_timings(rows: Iterable[Mapping]) -> list[str]:
    """List caveats about the timings of these runs, one phrase each."""
    once = {row["configuration"]: row for row in rows}
    timed = [row for row in once.values() if _is_timed(row)]
    references = [_clock(row.get("reference_ms")) for row in timed]
    without = references.count(WITHOUT)
    restless = sum(row.get("quiet") is False for row in timed)
    said = []
    if without:
        which = _how_many(without, timed)
        said.append(f"{which} timed without correction for other load on the machine")
    if len(set(references)) > 1:
        said.append("timed on several machines, so not all speeds are compared")
    if restless:
        which = _how_many(restless, timed)
        said.append(
            f"other processes were running while {which} were timed; "
            f"`snakemake {AGAIN}` times them again"
        )
    return said


def _is_timed(row: Mapping) -> bool:
    speeds = [row.get(name) for name in SPEEDS]
    return any(pd.notna(speed) for speed in speeds)


def _how_many(some: int, timed: list) -> str:
    if some == len(timed):
        return "speeds"
    return f"{some} of {len(timed)} configurations"
