"""Two sets of results: what differs in their origin, and which cells moved beyond noise. Pure functions of frames."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
from scipy.stats import ttest_ind

from workflow.config.errors import ConfigError
from workflow.report.claims.measures import TURNS, by_turns
from workflow.results.record import Record
from workflow.results.statistics import LEVEL, holm
from workflow.tasks.spec import TASKS

SAME = 1e-3  # what is counted has no noise: a thousandth is rounding
NAMES = ["ablation", "paper_corpus", "variant", "S", "k"]


def origins(a: Iterable[Record], b: Iterable[Record]) -> dict[str, tuple[list[str], list[str]]]:
    """What is not the same on both sides, by name: its values here and there."""
    sides = [_told(records) for records in (a, b)]
    names = dict.fromkeys([*sides[0], *sides[1]])
    both = {name: tuple(sorted(side.get(name, {"none"})) for side in sides) for name in names}
    return {name: (here, there) for name, (here, there) in both.items() if here != there}


def _told(records: Iterable[Record]) -> dict[str, set[str]]:
    """Every value of every field of the origins, the moment left out, of the scale and of the texts."""
    found: dict[str, set[str]] = {}
    for record in records:
        told = record.origin.model_dump(exclude={"started", "versions"})
        told |= {"scale": record.job.scale, "text": f"{record.job.corpus} ({record.job.checksum[:19]})"}
        told |= {f"version of {name}": version for name, version in record.origin.versions.items()}
        for name, value in told.items():
            found.setdefault(name, set()).add(str(value))
    return found


def other_scales(a: pd.DataFrame, b: pd.DataFrame) -> bool:
    """Whether S and k mean other numbers here and there: then the largest stands beside the largest."""
    return set(a["scale"]) != set(b["scale"])


def keyed(runs: pd.DataFrame, by_rank: bool) -> pd.DataFrame:
    """With a column `key`: ablation, text of the paper, variant, S and k; by_rank: their ranks in place of S and k."""
    made = runs.copy()
    for column in ("S", "k") if by_rank else ():
        groups = made.groupby(["ablation", "paper_corpus", "variant"])[column]
        made[column] = groups.rank(method="dense", ascending=False)
    made["key"] = [tuple(None if pd.isna(one) else one for one in row) for row in made[NAMES].itertuples(index=False)]
    return made


def cells(a: pd.DataFrame, b: pd.DataFrame) -> tuple[list[dict], list[tuple], list[tuple]]:
    """A line for each measure of each cell that both have, by its first question; and the cells of one side alone."""
    for side in (a, b):
        if len(scales := sorted(set(side["scale"]))) > 1:
            raise ConfigError(f"a set of several scales, {' and '.join(scales)}: compare one at a time")
    by_rank = other_scales(a, b)
    left, right = ({key: rows for key, rows in keyed(one, by_rank).groupby("key", sort=False)} for one in (a, b))
    lines, seen = [], set()
    for key in (key for key in left if key in right):
        cell = (left[key]["configuration"].iloc[0], right[key]["configuration"].iloc[0])
        if cell in seen:  # it answers several questions, and is one number
            continue
        seen.add(cell)
        lines += _ended(key, left[key], right[key])
        for measure, title, unit in TASKS[left[key]["task"].iloc[0]].columns:
            lines += _line(key, measure, title, unit, left[key], right[key])
    tested = [one for one in lines if one["p"] is not None]
    for one, p in zip(tested, holm([one["p"] for one in tested]), strict=True):
        one |= {"holm": p, "moved": p <= LEVEL}
    return lines, [key for key in left if key not in right], [key for key in right if key not in left]


def _ended(key: tuple, left: pd.DataFrame, right: pd.DataFrame) -> list[dict]:
    """How many runs ended well, where that is not the same share: a failure is a number that moved."""
    here, there = ((side["status"] == "ok").mean() for side in (left, right))
    if here == there:
        return []
    told = {"key": key, "measure": "runs that ended well", "unit": "", "a": here, "b": there}
    told |= {"n": [len(left), len(right)], "change": 100 * (there / here - 1) if here else None}
    return [told | {"holm": None, "p": None, "moved": True, "why": "a run failed"}]


def _line(key: tuple, measure: str, title: str, unit: str, left: pd.DataFrame, right: pd.DataFrame) -> list[dict]:
    sides = [_values(rows, measure) for rows in (left, right)]
    if not all(sides):
        return []
    here, there = (sum(side) / len(side) for side in sides)
    made = {"key": key, "measure": title, "unit": unit, "a": here, "b": there, "n": [len(side) for side in sides]}
    return [made | {"change": 100 * (there / here - 1) if here else None, "holm": None} | _weighed(measure, *sides)]


def _values(rows: pd.DataFrame, measure: str) -> list[float]:
    """One for each seed that ended well; for each turn of what was timed."""
    good = rows[rows["status"] == "ok"]
    if measure in TURNS:
        good = by_turns(good[good[measure].notna()], measure)
        return good["value"].tolist()
    return good[measure].dropna().tolist()


def _weighed(measure: str, here: list[float], there: list[float]) -> dict:
    """moved: None where one value on a side leaves the noise unknown; p of Welch's t test where there is noise."""
    apart = abs(np.mean(there) - np.mean(here))
    if apart <= SAME * abs(np.mean(here)) and (here == there or not np.std(here) + np.std(there)):
        return {"p": None, "moved": False, "why": "the same"}
    constant = measure.startswith("macs") or min(len(here), len(there)) > 1
    if constant and not np.std(here) + np.std(there):
        return {"p": None, "moved": True, "why": "it does not vary on either side"}
    if min(len(here), len(there)) < 2:
        return {"p": None, "moved": None, "why": "one value on a side: its noise is not known"}
    p = float(ttest_ind(here, there, equal_var=False).pvalue)
    return {"p": p, "moved": False, "why": "Welch's t test over seeds or turns"}
