"""Build one table: `python -m workflow.scripts.table NAME OUT.json INPUTS...` writes OUT.csv, OUT.tex and OUT.json."""

import argparse
import json
from pathlib import Path

import pandas as pd

from workflow.config.command_line import run
from workflow.papers.published import join
from workflow.report.builders import behind, builder_inputs, load_builder
from workflow.report.pages.numbers import missing, number, percent
from workflow.results.record import write_text
from workflow.results.runs_table import read_frames

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
    parser.add_argument("out", type=Path, help="OUT.json; the CSV and the LaTeX are written beside it")
    parser.add_argument("inputs", type=Path, nargs="*", help="what the table's READS names")
    options = parser.parse_args(argv)
    builder = load_builder("tables", options.name)
    frames = read_frames(options.inputs)
    cells = join(builder.build(*builder_inputs("tables", options.name, frames)))
    origin, commits = behind(builder, frames, runs_behind(cells, frames.runs))
    about = {"title": builder.TITLE, "caption": builder.CAPTION, "provenance": origin, "commits": commits}
    write_text(options.out.with_suffix(".csv"), tidy(cells, origin).to_csv(index=False))
    write_text(options.out.with_suffix(".tex"), latex(cells, builder.TITLE, origin))
    content = {**about, "cells": json.loads(cells.to_json(orient="records"))}
    write_text(options.out.with_suffix(".json"), json.dumps(content, indent=1))


def runs_behind(cells: pd.DataFrame, runs: pd.DataFrame | None) -> pd.DataFrame | None:
    """The runs that the cells stand on."""
    return (
        None if runs is None else runs[runs["digest"].isin({each for digests in cells["digests"] for each in digests})]
    )


if __name__ == "__main__":
    run(main)
