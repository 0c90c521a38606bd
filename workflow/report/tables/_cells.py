"""The form all tables share: one row per cell, so that a number never loses its unit, its runs or its failure.

row, column    where the cell stands
value          a number or a text; low, high: 95 % interval over n seeds (Student's t), None below two seeds
unit, kind     measured | analytic | setting | cited
published      id of what the paper prints for this cell, or None
digests        the runs behind the number
status, note   ok | failed | not run, and why
"""

import pandas as pd

from workflow.results.registry import COSTS, REGISTRY
from workflow.results.statistics import mean_interval

COLUMNS = ["row", "column", "value", "low", "high", "n", "unit", "kind", "published", "digests", "status", "note"]
MEASURED_BY = {name: quantity.source for name, quantity in REGISTRY.items() if quantity.source in COSTS}


def pick(runs: pd.DataFrame, **wanted) -> pd.DataFrame:
    """The runs whose columns have the wanted values."""
    for column, value in wanted.items():
        runs = runs[runs[column] == value]
    return runs


def measured(row: str, column: str, runs: pd.DataFrame, what: str, unit: str, published: str | None = None) -> dict:
    """The cell of a measured quantity `what` over the seeds in `runs`. One broken run of many is told in the note.

    A measurement that broke, or a count that its own check refuses, is a failed cell with the reason.
    """
    ok = runs[runs["status"] == "ok"] if len(runs) else runs
    values = [float(value) for value in ok[what].dropna()] if len(ok) else []
    other = runs.loc[runs["status"] != "ok", ["seed", "status", "reason"]]
    broken = [f"seed {run.seed}: {run.status}: {run.reason}" for run in other.itertuples()]
    error = _refused(ok, what, bool(values))
    broken += error
    mean, low, high = mean_interval(values) if values else (None, None, None)
    status = "failed" if error else "ok" if values else "failed" if broken else "not run"
    note = "; ".join(broken) or ("" if values else "no run of this variant" if not len(runs) else "not measured")
    return cell(
        row,
        column,
        mean,
        unit,
        "measured",
        published,
        low=low,
        high=high,
        n=len(values),
        runs=runs,
        status=status,
        note=note,
    )


def _refused(runs: pd.DataFrame, what: str, found: bool) -> list[str]:
    """Why the measurement of `what` does not count: it left no number, or its reason names `what` itself."""
    kind = MEASURED_BY.get(what)
    if kind is None or not len(runs):
        return []
    bad = runs[runs[f"{kind}_status"].notna() & (runs[f"{kind}_status"] != "ok")]
    reasons = list(dict.fromkeys(bad[f"{kind}_reason"].fillna(bad[f"{kind}_status"])))
    return [reason for reason in reasons if not found or what in reason]


def once(runs: pd.DataFrame) -> pd.DataFrame:
    """The row to read a cost from that is measured once per cell: a seed that ended well where there is one."""
    ok = runs[runs["status"] == "ok"]
    return (ok if len(ok) else runs).head(1)


def behind(runs: pd.DataFrame, what: str) -> pd.DataFrame:
    """The rows that a mean of `what` stands on: every seed, or one where it is measured once per cell."""
    return once(runs) if what in MEASURED_BY else runs


def summary(runs: pd.DataFrame, by: list[str], what: str) -> pd.DataFrame:
    """Mean and 95 % interval of `what` over the seeds of each group; failed runs left out, their number kept.

    What is measured once per cell, and stands on the row of each seed, is one value without an interval.
    """
    rows = []
    for key, group in runs.groupby(by, dropna=False, sort=True):
        group = behind(group, what)
        ok = group[group["status"] == "ok"][what].dropna().astype(float).tolist()
        mean, low, high = mean_interval(ok) if ok else (None, None, None)
        row = dict(zip(by, key, strict=True))
        rows.append({**row, "mean": mean, "low": low, "high": high, "n": len(ok), "failed": len(group) - len(ok)})
    made = pd.DataFrame(rows, columns=[*by, "mean", "low", "high", "n", "failed"])
    return made.astype(dict.fromkeys(("mean", "low", "high"), float))


def ratio(row: str, column: str, what: str, runs: pd.DataFrame, base: pd.DataFrame, name: str) -> dict:
    """A cost over that of the base, `name`: means over seeds of what each run counts, or two values measured once."""
    ours, theirs = (measured(row, column, behind(one, what), what, "x") for one in (runs, base))
    for one, whose in ((ours, ""), (theirs, f"{name}: ")):
        if one["status"] != "ok":
            return cell(row, column, None, "x", "measured", runs=runs, status=one["status"], note=whose + one["note"])
    return ours | {"value": ours["value"] / theirs["value"], "low": None, "high": None}


def setting(row: str, column: str, runs: pd.DataFrame, what: str, unit: str, published: str | None = None) -> dict:
    """A number that the job itself fixes: the same for every seed, so it has no interval."""
    made = measured(row, column, runs, what, unit, published)
    return made | {"kind": "setting", "low": None, "high": None}


def cell(
    row, column, value, unit, kind, published=None, *, low=None, high=None, n=None, runs=None, status="ok", note=""
):
    """One cell."""
    digests = list(runs["digest"].unique()) if runs is not None and len(runs) else []
    stands = (row, column, value, low, high, n, unit, kind, published, digests, status, note)
    return dict(zip(COLUMNS, stands, strict=True))


def analytic(row: str, column: str, value: float, unit: str, published: str | None = None, note: str = "") -> dict:
    """A number from a formula, at the paper's size."""
    return cell(row, column, value, unit, "analytic", published, note=note)


def cited(row: str, column: str, published: str, unit: str, note: str = "not trained here") -> dict:
    """A cell that only the paper fills."""
    return cell(row, column, None, unit, "cited", published, note=note)


def table(cells: list[dict]) -> pd.DataFrame:
    return pd.DataFrame(cells, columns=COLUMNS)
