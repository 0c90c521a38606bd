"""Sets of results of several machines in one frame: a line for each cell, each set and each kind of hardware."""

import pandas as pd

from workflow.compare.result_set import ResultSet
from workflow.report.tables._cells import summarise
from workflow.report.texts import title_of
from workflow.tasks.spec import TASKS

BY = ["scale", "task", "paper", "ablation", "paper_corpus", "corpus", "variant", "label", "S", "k", "device", "set"]
INTERVAL = ["mean", "low", "high"]


def merge_sets(sets: list[ResultSet]) -> pd.DataFrame:
    """Seeds, failed runs, and of each headline quantity its mean and 95 % interval; the device is `hardware`.

    Only cells of which a run ended well. A quantity of another task is missing.
    """
    rows = pd.concat([each.runs.assign(set=each.name) for each in sets], ignore_index=True)
    merged = summarise(rows, BY, "seed").rename(columns={"n": "seeds"}).drop(columns=INTERVAL)
    for quantity in dict.fromkeys(column for task in TASKS.values() for column, _, _ in task.columns):
        merged[[quantity, f"{quantity}_low", f"{quantity}_high"]] = summarise(rows, BY, quantity)[INTERVAL]
    merged = merged[merged["seeds"] > 0].rename(columns={"device": "hardware"})
    return merged.sort_values(["paper", "ablation"], kind="stable", ignore_index=True)


def split_by_ablation(merged: pd.DataFrame) -> list[dict]:
    """By ablation: its columns, and its lines as a page shows them."""
    sections = []
    for (_, name), rows in merged.groupby(["paper", "ablation"], sort=False):
        columns = TASKS[rows["task"].iloc[0]].columns
        lines = [_line(row, columns) for row in rows.to_dict("records")]
        sections.append({"name": name, "columns": columns, "rows": lines})
    return sections


def _line(row: dict, columns: list[tuple[str, str, str]]) -> dict:
    grid = [f"{axis} = {row[axis]:g}" for axis in "Sk" if pd.notna(row[axis])]
    name = ", ".join([f"{row['label']} on {title_of(row['task'], row['corpus'])}", *grid])
    cells = [
        (row[quantity], (row[f"{quantity}_high"] - row[f"{quantity}_low"]) / 2, unit) for quantity, _, unit in columns
    ]
    return {key: row[key] for key in ("scale", "hardware", "set", "seeds", "failed")} | {"name": name, "cells": cells}
