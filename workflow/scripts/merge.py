"""Set results of several machines side by side: `python -m workflow.scripts.merge OUT.csv SET SET ...`.

A SET is a bundle, a results folder or a set under results/published. A line for each cell and each hardware.
"""

import argparse
from pathlib import Path

import pandas as pd

from workflow.choices import Refused
from workflow.pages.columns import HEADLINE
from workflow.records import write_text
from workflow.scripts._main import run
from workflow.sets.reading import Results, read

BY = ["rung", "task", "paper", "ablation", "corpus", "text", "variant", "S", "k", "device"]


def merged(sets: list[Results]) -> pd.DataFrame:
    """Means over seeds of the headline measures, and how many seeds; `hardware` is the device that the runs tell."""
    rows = pd.concat([one.runs.assign(set=one.name) for one in sets], ignore_index=True)
    measures = dict.fromkeys(column for columns in HEADLINE.values() for column, _, _ in columns)
    good = rows[rows["status"] == "ok"]
    told = good.groupby([*BY, "set"], dropna=False, sort=False)[[*measures]].mean()
    told.insert(0, "seeds", good.groupby([*BY, "set"], dropna=False, sort=False)["seed"].nunique())
    return told.reset_index().rename(columns={"device": "hardware"}).sort_values(["paper", "ablation"], kind="stable")


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="merge", description="Set results of several machines side by side.")
    parser.add_argument("out", type=Path)
    parser.add_argument("sets", type=Path, nargs="+")
    options = parser.parse_args(argv)
    if options.out.suffix != ".csv":
        raise Refused(f"{options.out}: expected OUT.csv before the sets; what is there is not written over")
    found = merged([read(path) for path in options.sets])
    if not len(found):
        raise Refused("no run in these sets ended well: there is nothing to merge")
    write_text(options.out, found.to_csv(index=False))
    print(f"{options.out}: {len(found)} lines, {found['hardware'].nunique()} kinds of hardware")


if __name__ == "__main__":
    run(main)
