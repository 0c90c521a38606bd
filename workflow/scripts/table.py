"""Build one table: `python -m workflow.scripts.table NAME RUNS OUT` writes OUT.csv, OUT.tex and OUT.json."""

import argparse
import json
from importlib import import_module
from pathlib import Path

import pandas as pd

from workflow.choices import refuse_unknown
from workflow.frame import load, provenance
from workflow.published import join
from workflow.records import write_text
from workflow.scripts._main import run

HERE = Path(__file__).parent.parent / "tables"


def names() -> list[str]:
    return sorted(path.stem for path in HERE.glob("*.py") if not path.stem.startswith("_") and path.stem != "analytic")


def wide(cells: pd.DataFrame) -> pd.DataFrame:
    """Rows by columns, "measured | published" as text, for LaTeX."""
    text = cells.assign(text=[_text(one) for one in cells.to_dict("records")])
    made = text.pivot_table(index="row", columns="column", values="text", aggfunc="first", sort=False)
    return made.fillna("")


def _text(cell: dict) -> str:
    ours = "" if cell["value"] is None or pd.isna(cell["value"]) else f"{cell['value']:.4g}"
    if cell["status"] == "failed":
        ours = "failed"
    half = f" ± {cell['high'] - cell['value']:.2g}" if ours and pd.notna(cell["high"]) else ""
    theirs = cell["published_value"]
    return f"{ours}{half} | {theirs:g}" if isinstance(theirs, int | float) and pd.notna(theirs) else f"{ours}{half}"


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="table", description="Build one table.")
    parser.add_argument("name")
    parser.add_argument("runs", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args(argv)
    refuse_unknown("table", options.name, names())
    builder, runs = import_module(f"workflow.tables.{options.name}"), load(options.runs)
    cells = join(builder.build(runs))
    used = runs[runs["digest"].isin({digest for digests in cells["digests"] for digest in digests})]
    about = {"title": builder.TITLE, "caption": builder.CAPTION, "provenance": provenance(used)}
    tidy = cells.assign(digests=[" ".join(digests) for digests in cells["digests"]])
    write_text(f"{options.out}.csv", tidy.to_csv(index=False))
    styled = wide(cells).style.format(escape="latex").format_index(escape="latex", axis=0)
    styled = styled.format_index(escape="latex", axis=1)
    write_text(f"{options.out}.tex", styled.to_latex(hrules=True, caption=f"{builder.TITLE}. {about['provenance']}"))
    content = {**about, "cells": json.loads(cells.to_json(orient="records"))}
    write_text(f"{options.out}.json", json.dumps(content, indent=1))


if __name__ == "__main__":
    run(main)
