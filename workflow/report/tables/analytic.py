"""Every published number of kind `analytic`, computed again from its formula."""

import math

import pandas as pd

from workflow.papers.published import analytic, load

TITLE = "Numbers that need no training"
ASYMPTOTIC = "asymptotic"


def build() -> pd.DataFrame:
    """id, where, row, column, formula, inputs, result, published, source, unit, error_pct, rounds_to_paper, note.

    A value that no paper prints (source: inferred) has no error, and nothing to round to.
    """
    rows = []
    for key, value in load().items():
        if value.kind != "analytic" or value.unit == ASYMPTOTIC:
            continue
        one = analytic().recomputed.get(key)
        row = {"id": key, "where": value.where, "row": value.row, "column": value.column}
        row |= {"published": value.value, "source": value.source, "unit": value.unit}
        row |= {"error_pct": None, "rounds_to_paper": None}
        if one is None:
            row |= {"formula": None, "inputs": None, "result": None, "note": analytic().open[key]}
        else:
            times = f"{one.times:g} x " if one.times != 1 else ""
            row |= {"formula": times + one.formula, "inputs": ", ".join(f"{k} = {v:g}" for k, v in one.inputs.items())}
            row |= {"result": one.result, "note": one.note or ""}
            if value.source == "published":
                row["error_pct"] = 100 * (one.result / value.value - 1)
                row["rounds_to_paper"] = rounds(one.result, value.value)
        rows.append(row)
    return pd.DataFrame(rows)


def rounds(result: float, printed: float) -> bool:
    """Whether `result`, rounded to the last digit that `printed` shows, is `printed`."""
    unit = step(printed)
    return math.isclose(round(result / unit) * unit, printed, rel_tol=1e-9)


def step(printed: float) -> float:
    """The place of the last digit that is not zero: 42,000,000 -> 1,000,000; 3.3e18 -> 1e17; 62 -> 1.

    Millions of parameters are printed to the million even where they end in zero (90M, 120G).
    """
    if printed >= 1e9 and printed < 1e18:
        return 1e9
    if printed >= 1e6 and printed < 1e9 and printed % 1e6 == 0:
        return 1e6
    if printed >= 1e18:
        return 10.0 ** (math.floor(math.log10(printed)) - 1)
    return 1.0
