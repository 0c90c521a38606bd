"""Write all runs as one file, with a data dictionary: the meaning, unit and source of each column.

The file has scalars and the identity of each run. Curves, spans of single heads and other lists
stay in the records.
"""

from dataclasses import asdict
from pathlib import Path

import pandas as pd

from workflow.config.files import atomic_write
from workflow.results.record import write_text
from workflow.results.registry import COSTS, REGISTRY, Quantity, Source
from workflow.results.run import Column, declared_columns
from workflow.results.runs_table import csv_text

# of pandas; each can hold a missing value
TYPES = {"text": "str", "integer": "Int64", "number": "float64", "truth": "boolean"}
FROM: dict[Source, str] = {
    "metric": "metrics of record.json",
    "fact": "facts of record.json",
    "curve": "the learning curve, curve.csv",
    "run": "cost of record.json",
} | {kind: f"results/SCALE/{kind}/" for kind in COSTS}


def _of_quantities() -> list[Column]:
    """List columns for the numbers of the registry; a cost also has a status and a reason."""
    columns = []
    sources = set()
    for quantity in REGISTRY.values():
        if not quantity.number:
            continue
        kind = quantity.source
        place = FROM[kind]
        if kind in COSTS and kind not in sources:
            measured = f"whether {kind} was measured"
            why = f"why {kind} is missing"
            columns.append(Column(f"{kind}_status", "text", "", measured, place))
            columns.append(Column(f"{kind}_reason", "text", "", why, place))
        sources.add(kind)
        meaning = quantity.meaning or quantity.title
        columns.append(Column(quantity.name, "number", _unit(quantity), meaning, place))
    return columns


def _unit(quantity: Quantity) -> str:
    """Return the unit of a quantity, also where its title already names it."""
    if quantity.name.startswith("macs_"):
        return "MACs"
    return "ms" if quantity.name.endswith("_ms") else quantity.unit


COLUMNS = [*declared_columns(), *_of_quantities()]


def flat_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """Select these columns, in this order; a cost that was not measured is missing.

    runs: from `workflow.results.runs_table`, with costs.
    """
    applied = []
    for names in runs["apply_to"]:
        applied.append(" ".join(names or ()))
    types = {each.column: TYPES[each.type] for each in COLUMNS}
    wanted = runs.assign(apply_to=applied).reindex(columns=list(types))
    return wanted.astype(types)


def write_run_files(folder: Path, runs: pd.DataFrame) -> None:
    """Write runs with their costs as CSV and Parquet, and the data dictionary."""
    flat = flat_runs(runs)
    write_text(folder / "runs.csv", csv_text(flat))
    with atomic_write(folder / "runs.parquet") as file:
        flat.to_parquet(file, engine="pyarrow", index=False)
    write_text(folder / "runs_columns.csv", dictionary().to_csv(index=False))


def dictionary() -> pd.DataFrame:
    """Return the data dictionary: a row per column with name, type, unit, meaning and source."""
    return pd.DataFrame([asdict(each) for each in COLUMNS])
