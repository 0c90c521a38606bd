"""Build one table: `python -m workflow.scripts.table NAME RUNS OUT` writes OUT.csv, OUT.tex and OUT.json."""

import argparse
import json
from importlib import import_module
from pathlib import Path

import pandas as pd

from workflow.cli._main import run
from workflow.config.errors import check_known
from workflow.papers.published import join
from workflow.report.pages.numbers import missing, number, percent
from workflow.results import provenance as traces
from workflow.results.record import write_text
from workflow.results.runs_table import load, provenance

HERE = Path(__file__).parent.parent / "report" / "tables"
# the column of a cell -> its name in the CSV, in the order of the CSV
TIDY = {
    "row": "row",
    "column": "column",
    "value": "measured",
    "low": "low",
    "high": "high",
    "n": "n",
    "unit": "unit",
    "kind": "kind",
    "published_value": "published",
    "published_source": "published as",
    "published_unit": "published unit",
    "difference_pct": "difference %",
    "status": "status",
    "note": "note",
    "published_where": "published in",
    "published_note": "published note",
    "conflict": "sources disagree",
    "published": "published id",
    "digests": "digests",
}
LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
LATEX |= {sign: rf"\{sign}" for sign in "&%$#_{}"}


def names() -> list[str]:
    return sorted(path.stem for path in HERE.glob("*.py") if not path.stem.startswith("_") and path.stem != "analytic")


def tidy(cells: pd.DataFrame, origin: str) -> pd.DataFrame:
    """A line per cell for people; `origin` stands on each line that a run or a measurement is behind."""
    place = {row: number for number, row in enumerate(cells["row"].unique())}
    cells = cells.sort_values("row", key=lambda rows: rows.map(place), kind="stable")
    made = cells[list(TIDY)].rename(columns=TIDY)
    made["digests"] = [" ".join(digests) for digests in cells["digests"]]
    ours = (cells["kind"] == "measured") & cells["value"].notna() | cells["digests"].map(bool)
    return made.assign(**{"measured at": ours.map({True: origin, False: ""})})


def wide(cells: pd.DataFrame) -> pd.DataFrame:
    """Rows by columns, "measured ± half interval (published, difference)" as text, for LaTeX."""
    text = cells.assign(text=[_text(one) for one in cells.to_dict("records")])
    made = text.pivot_table(index="row", columns="column", values="text", aggfunc="first", sort=False)
    return made.fillna("").rename_axis(index=None, columns=None)


def _text(cell: dict) -> str:
    theirs = number(cell["published_value"], cell["unit"])
    if theirs and cell["published_source"] != "published":
        theirs = f"{cell['published_source']} {theirs}"
    if cell["kind"] == "cited":
        return f"cited {theirs}"
    if cell["status"] != "ok":
        return f"{cell['status']} ({theirs})" if theirs else cell["status"]
    ours = number(cell["value"], cell["unit"])
    if not missing(cell["high"]):
        ours += f" ± {number(cell['high'] - cell['value'], cell['unit'])}"
    beside = ", ".join(filter(None, (theirs, percent(cell["difference_pct"]))))
    return f"{ours} ({beside})" if beside else ours


def latex(cells: pd.DataFrame, title: str, origin: str) -> str:
    """A booktabs table, all text escaped."""
    caption = "".join(LATEX.get(sign, sign) for sign in f"{title}. {origin}. In parentheses: published, difference.")
    styled = wide(cells).style.format(escape="latex").format_index(escape="latex", axis=0)
    return styled.format_index(escape="latex", axis=1).to_latex(hrules=True, caption=caption)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="table", description="Build one table.")
    parser.add_argument("name")
    parser.add_argument("runs", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args(argv)
    check_known("table", options.name, names())
    builder, runs = import_module(f"workflow.report.tables.{options.name}"), load(options.runs)
    cells = join(builder.build(runs))
    used = runs[runs["digest"].isin({digest for digests in cells["digests"] for digest in digests})]
    origin = getattr(builder, "origin", lambda runs: provenance(used))(runs)
    about = {"title": builder.TITLE, "caption": builder.CAPTION, "provenance": origin}
    write_text(f"{options.out}.csv", tidy(cells, about["provenance"]).to_csv(index=False))
    write_text(f"{options.out}.tex", latex(cells, builder.TITLE, about["provenance"]))
    about["commits"] = traces.commits(builder, runs, used)
    content = {**about, "cells": json.loads(cells.to_json(orient="records"))}
    write_text(f"{options.out}.json", json.dumps(content, indent=1))


if __name__ == "__main__":
    run(main)
