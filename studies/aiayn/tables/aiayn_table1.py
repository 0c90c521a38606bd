"""Attention Is All You Need, Table 1: four layer types by length n, by formula and measured."""

import pandas as pd

from workflow.config.missing import Missing
from workflow.report.tables.cells import Cell, analytic, make_cell, make_table, with_mean
from workflow.results import layers as layer_costs
from workflow.results.precomputed import NOT_MEASURED, NOT_RUN
from workflow.results.statistics import POSITIVE, over_seeds

READS = ("layers",)
TITLE = "Cost of a layer by sequence length (Attention Is All You Need, Table 1)"
CAPTION = (
    "The first five columns are formulas: sequence length n, width d, kernel size k, neighbourhood "
    "r. Measured: forward and backward pass of one layer of width d, alone on the device. "
    "Comparable: the exponent of n, fitted in log-log space, with that of the formula. The paper "
    "counts the products with keys and values only. Our layers also have projections, which are "
    "linear in n, so self-attention approaches n^2 only for n much larger than d; the exponent "
    "with projections accounts for this. Call overhead lowers the exponent at short lengths. "
    "Memory is accurate to about 0.25 MiB. Not comparable: times of different layer types (LSTM, "
    "convolution with kernel 3, single-head attention, attention restricted to 32 past keys), "
    "because some libraries are better tuned than others. The ledger compares attention with the "
    "LSTM for n below d."
)
# complexity per layer, sequential operations, maximum path length, exponent of n in the first
FORMULAS = {
    "self": ("O(n^2*d)", "O(1)", "O(1)", 2),
    "rnn": ("O(n*d^2)", "O(n)", "O(n)", 1),
    "conv": ("O(k*n*d^2)", "O(1)", "O(log_k(n))", 1),
    "local": ("O(r*n*d)", "O(1)", "O(n/r)", 1),
}
MEASURED = (("time", "ms", "ms"), ("memory", "bytes", "bytes"))
origin = layer_costs.origin
commits = layer_costs.commits


def build(layers: pd.DataFrame) -> pd.DataFrame:
    cells: list[Cell] = []
    for name, label in layer_costs.LABELS.items():
        rows = layers[layers["layer"] == name].sort_values("n")
        cells += _formulas(name, label)
        if len(rows):
            counted = layer_costs.exponent(rows["n"], _products(name, rows))
            value = Missing("fewer than two lengths") if counted is None else counted
            cells.append(analytic(label, "exponent of n, with projections", value, ""))
        cells += [_exponent(label, rows, *cost) for cost in MEASURED]
        for cost in MEASURED:
            cells += [_at_length(label, row, *cost) for row in rows.to_dict("records")]
    return make_table(cells)


def _formulas(name: str, label: str) -> list[Cell]:
    complexity, sequential, path, power = FORMULAS[name]
    return [
        analytic(label, "complexity per layer", complexity, "", f"ai.t1.{name}.complexity"),
        analytic(label, "sequential operations", sequential, "", f"ai.t1.{name}.sequential"),
        analytic(label, "maximum path length", path, "", f"ai.t1.{name}.maximum"),
        analytic(label, "exponent of n, formula", power, ""),
    ]


def _products(name: str, rows: pd.DataFrame) -> pd.Series:
    """Count the MACs of a layer as computed, up to a factor."""
    n = rows["n"]
    if name != "self":  # linear in n
        return n
    d = rows["d"]
    return 4 * n * d**2 + 2 * n**2 * d


def _exponent(label: str, rows: pd.DataFrame, column: str, quantity: str, unit: str) -> Cell:
    """Fit the exponent of n over all measured lengths; for times, one fit per round."""
    ok = rows[rows["status"] == "ok"]
    failed = rows[(rows["status"] != "ok") & (rows["reason"] != NOT_MEASURED)]
    slopes = _slopes(ok, quantity)
    status = "failed" if len(failed) else NOT_RUN
    if slopes:
        status = "ok"
    note = _describe_failures(failed)
    if not note and not slopes:
        note = NOT_MEASURED if len(rows) > len(ok) else "layers were not measured"
    cell = make_cell(
        label,
        f"exponent of n, {column}",
        Missing(note),
        "",
        "measured",
        n=len(slopes),
        status=status,
        note=note if slopes else "",
    )
    return with_mean(cell, over_seeds(slopes))


def _slopes(layers: pd.DataFrame, quantity: str) -> list[float]:
    """Fit one exponent of n per round, as many as the length with the fewest rounds has."""
    by_length = [layer_costs.values_of(layer, quantity) for layer in layers.to_dict("records")]
    rounds = zip(*by_length, strict=False)
    slopes = [layer_costs.exponent(layers["n"], values) for values in rounds]
    return [slope for slope in slopes if slope is not None]


def _describe_failures(failed: pd.DataFrame) -> str:
    """List the lengths that a fit leaves out, those with the same reason together."""
    notes = []
    for (status, reason), lengths in failed.groupby(["status", "reason"], sort=False)["n"]:
        names = ", ".join(map(str, lengths))
        notes.append(f"n = {names} excluded: {status}: {reason}")
    return "; ".join(notes)


def _at_length(label: str, row: dict, column: str, quantity: str, unit: str) -> Cell:
    title = f"{column}, n = {row['n']}"
    if row["reason"] == NOT_MEASURED:
        missing = Missing(NOT_MEASURED)
        return make_cell(label, title, missing, unit, "measured", status=NOT_RUN)
    if row["status"] != "ok":
        missing = Missing(f"{row['status']}: {row['reason']}")
        return make_cell(label, title, missing, unit, "measured", status="failed")
    values = layer_costs.values_of(row, quantity)
    cell = make_cell(label, title, Missing(""), unit, "measured", n=len(values))
    return with_mean(cell, over_seeds(values, bounds=POSITIVE))
