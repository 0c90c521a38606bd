"""ResultSet of several machines in one frame: a line for each cell, each set and each kind of hardware."""

import pandas as pd

from workflow.compare.result_set import ResultSet
from workflow.report.tables._cells import summarise as summary
from workflow.tasks.spec import TASKS

BY = ["scale", "task", "paper", "ablation", "paper_corpus", "corpus", "variant", "S", "k", "device", "set"]
SCALE = ["mean", "low", "high"]


def merged(sets: list[ResultSet]) -> pd.DataFrame:
    """Seeds, failed runs, and of each headline measure its mean and 95 % interval; the device is `hardware`.

    Only cells of which a run ended well. A measure of another task is missing.
    """
    rows = pd.concat([one.runs.assign(set=one.name) for one in sets], ignore_index=True)
    told = summary(rows, BY, "seed").rename(columns={"n": "seeds"}).drop(columns=SCALE)
    for what in dict.fromkeys(column for task in TASKS.values() for column, _, _ in task.columns):
        told[[what, f"{what}_low", f"{what}_high"]] = summary(rows, BY, what)[SCALE]
    told = told[told["seeds"] > 0].rename(columns={"device": "hardware"})
    return told.sort_values(["paper", "ablation"], kind="stable", ignore_index=True)


def sections(found: pd.DataFrame) -> list[dict]:
    """By ablation: its columns, and its lines as a page tells them."""
    made = []
    for (_, name), mine in found.groupby(["paper", "ablation"], sort=False):
        columns = TASKS[mine["task"].iloc[0]].columns
        rows = [_line(row, columns) for row in mine.to_dict("records")]
        made.append({"name": name, "columns": columns, "rows": rows})
    return made


def _line(row: dict, columns: tuple) -> dict:
    place = [f"{axis} = {row[axis]:g}" for axis in "Sk" if pd.notna(row[axis])]
    name = ", ".join([f"{row['variant']} on {name_text(row['paper_corpus'], row['corpus'])}", *place])
    cells = [(row[what], (row[f"{what}_high"] - row[f"{what}_low"]) / 2, unit) for what, _, unit in columns]
    return {key: row[key] for key in ("scale", "hardware", "set", "seeds", "failed")} | {"name": name, "cells": cells}
