"""Attention Is All You Need, Table 1: four kinds of layer by the length n of a sequence, by formula and measured."""

import pandas as pd

from workflow.report.tables import layer_costs
from workflow.report.tables.cells import analytic, make_cell, make_table
from workflow.results.precomputed import NOT_MEASURED, NOT_RUN
from workflow.results.statistics import POSITIVE, over_seeds

READS = ("layers",)
TITLE = "Cost of a layer by the length of its sequence (Attention Is All You Need, Table 1)"
CAPTION = (
    "The first five columns are formulas: n places, width d, kernel k, neighbourhood r. Measured: one layer of width "
    "d, forward and back, alone on the device. Comparable: how time grows with n, fitted as a slope of logarithms, "
    "beside the formula's exponent. The paper counts the products with keys and values alone. Our layers also "
    "project, which grows with n, so that self-attention comes near n^2 only where n is much larger than d; the "
    "exponent with projections allows for that. Short sequences cost mostly what every call costs, which lowers the "
    "exponent. Memory is known to about a quarter of a MiB. Not comparable: times of different kinds of layers, "
    "because some libraries are better tuned than others (an LSTM, a convolution of kernel 3, attention with one "
    "head, restricted attention to 32 past keys). The ledger compares attention with the LSTM where n is below d."
)
# complexity per layer, sequential operations, maximum path length, exponent of n in the first
FORMULAS = {
    "self": ("O(n^2*d)", "O(1)", "O(1)", 2),
    "rnn": ("O(n*d^2)", "O(n)", "O(n)", 1),
    "conv": ("O(k*n*d^2)", "O(1)", "O(log_k(n))", 1),
    "local": ("O(r*n*d)", "O(1)", "O(n/r)", 1),
}
MEASURED = (("time", "ms", "ms"), ("memory", "bytes", "bytes"))
origin, commits = layer_costs.origin, layer_costs.commits


def build(layers: pd.DataFrame) -> pd.DataFrame:
    cells: list[dict] = []
    for name, label in layer_costs.LABELS.items():
        rows = layers[layers["layer"] == name].sort_values("n")
        cells += _formulas(name, label)
        if len(rows):
            counted = layer_costs.exponent(rows["n"], _products(name, rows))
            cells.append(analytic(label, "exponent of n, with projections", counted, ""))
        cells += [_exponent(label, rows, *cost) for cost in MEASURED]
        cells += [_at_length(label, row, *cost) for cost in MEASURED for row in rows.to_dict("records")]
    return make_table(cells)


def _formulas(name: str, label: str) -> list[dict]:
    complexity, sequential, path, power = FORMULAS[name]
    return [
        analytic(label, "complexity per layer", complexity, "", f"ai.t1.{name}.complexity"),
        analytic(label, "sequential operations", sequential, "", f"ai.t1.{name}.sequential"),
        analytic(label, "maximum path length", path, "", f"ai.t1.{name}.maximum"),
        analytic(label, "exponent of n, formula", power, ""),
    ]


def _products(name: str, rows: pd.DataFrame) -> pd.Series:
    """Count the multiply-adds of a layer as computed, up to a factor: all kinds but self-attention are linear in n."""
    n, d = rows["n"], rows["d"]
    return 4 * n * d**2 + 2 * n**2 * d if name == "self" else n


def _exponent(label: str, rows: pd.DataFrame, column: str, quantity: str, unit: str) -> dict:
    """Fit the exponent of n over all lengths at which the layer could be measured; for times, one fit per turn."""
    ok = rows[rows["status"] == "ok"]
    failed = rows[(rows["status"] != "ok") & (rows["reason"] != NOT_MEASURED)]
    sets = zip(*(layer_costs.values_of(row, quantity) for row in ok.to_dict("records")), strict=False)
    slopes = [slope for values in sets if (slope := layer_costs.exponent(ok["n"], values)) is not None]
    alike = failed.groupby(["status", "reason"], sort=False)["n"]
    left_out = "; ".join(f"n = {', '.join(map(str, n))} left out: {status}: {why}" for (status, why), n in alike)
    status = "ok" if slopes else "failed" if len(failed) else NOT_RUN
    unmeasured = NOT_MEASURED if len(rows) > len(ok) else "layers were not measured"
    note = left_out or ("" if slopes else unmeasured)
    cell = make_cell(label, f"exponent of n, {column}", None, "", "measured", n=len(slopes), status=status, note=note)
    return cell | over_seeds(slopes)


def _at_length(label: str, row: dict, column: str, quantity: str, unit: str) -> dict:
    place = (label, f"{column}, n = {row['n']}")
    if row["reason"] == NOT_MEASURED:
        return make_cell(*place, None, unit, "measured", status=NOT_RUN, note=NOT_MEASURED)
    if row["status"] != "ok":
        note = f"{row['status']}: {row['reason']}"
        return make_cell(*place, None, unit, "measured", status="failed", note=note)
    values = layer_costs.values_of(row, quantity)
    return make_cell(*place, None, unit, "measured", n=len(values)) | over_seeds(values, bounds=POSITIVE)
