"""Every published number of kind `analytic`, computed again from its formula."""

import pandas as pd

from workflow.claims.published import load

TITLE = "Published numbers recomputed by formula"
ASYMPTOTIC = "asymptotic"


def build() -> pd.DataFrame:
    """Build a row for each number, with its formula, inputs, result, error in per cent and whether
    it rounds to print.

    formula: by name, None where the value cannot be computed; note then says why. A value that no
    paper prints (source: inferred) has no error, and nothing to round to.
    """
    rows = []
    for key, value in load().items():
        if value.kind != "analytic" or value.unit == ASYMPTOTIC:
            continue
        recomputed = value.recomputed
        row = {"id": key, "where": value.where, "row": value.row, "column": value.column}
        row |= {
            "published": value.value,
            "printed": value.text,
            "source": value.source,
            "unit": value.unit,
        }
        row |= {"error_pct": None, "rounds_to_paper": None}
        if recomputed is None:
            row |= {"formula": None, "inputs": None, "result": None, "note": value.not_recomputed}
        else:
            inputs = ", ".join(f"{name} = {number:g}" for name, number in recomputed.inputs.items())
            times = f"; times {recomputed.times:g}" if recomputed.times != 1 else ""
            row |= {"formula": recomputed.formula, "inputs": inputs + times}
            row |= {"result": recomputed.result, "note": recomputed.note or ""}
            if value.source == "published":
                row["error_pct"] = (
                    100 * (recomputed.result / value.value - 1) if value.value else None
                )
                row["rounds_to_paper"] = value.is_rounded(recomputed.result)
        rows.append(row)
    return pd.DataFrame(rows)
