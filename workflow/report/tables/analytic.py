"""Every published number of kind `analytic`, computed again from its formula."""

import math

import pandas as pd

from workflow.report.published import load

TITLE = "Numbers that need no training"
ASYMPTOTIC = "asymptotic"


def build() -> pd.DataFrame:
    """Build a row for each number, with its formula, inputs, result, error in per cent and whether it rounds to print.

    formula: by name, None where the value cannot be computed; note then says why. A value that no paper prints
    (source: inferred) has no error, and nothing to round to.
    """
    rows = []
    for key, value in load().items():
        if value.kind != "analytic" or value.unit == ASYMPTOTIC:
            continue
        recomputed = value.recomputed
        row = {"id": key, "where": value.where, "row": value.row, "column": value.column}
        row |= {"published": value.value, "source": value.source, "unit": value.unit}
        row |= {"error_pct": None, "rounds_to_paper": None}
        if recomputed is None:
            row |= {"formula": None, "inputs": None, "result": None, "note": value.not_recomputed}
        else:
            inputs = ", ".join(f"{name} = {number:g}" for name, number in recomputed.inputs.items())
            times = f"; times {recomputed.times:g}" if recomputed.times != 1 else ""
            row |= {"formula": recomputed.formula, "inputs": inputs + times}
            row |= {"result": recomputed.result, "note": recomputed.note or ""}
            if value.source == "published":
                row["error_pct"] = 100 * (recomputed.result / value.value - 1) if value.value else None
                row["rounds_to_paper"] = rounds_to(recomputed.result, value.value)
        rows.append(row)
    return pd.DataFrame(rows)


def rounds_to(result: float, printed: float) -> bool:
    """Whether `result`, rounded to the last digit that `printed` shows, is `printed`."""
    unit = last_place(printed)
    return math.isclose(round(result / unit) * unit, printed, rel_tol=1e-9)


def last_place(printed: float) -> float:
    """Find the place of the last digit that a paper shows: 42,000,000 -> 1,000,000; 3.3e18 -> 1e17; 62 -> 1.

    Whole millions are printed to the million, and from 1e9 on to 1e9, even where that digit is zero (90M, 120G).
    """
    if printed >= 1e9 and printed < 1e18:
        return 1e9
    if printed >= 1e6 and printed < 1e9 and printed % 1e6 == 0:
        return 1e6
    if printed >= 1e18:
        return 10.0 ** (math.floor(math.log10(printed)) - 1)
    return 1.0
