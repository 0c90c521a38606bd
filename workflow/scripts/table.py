"""Build one table: `python -m workflow.scripts.table NAME OUT.json INPUTS...` writes OUT.csv, OUT.tex and OUT.json."""

import argparse
import json
from pathlib import Path

import pandas as pd

from workflow.config.command_line import run
from workflow.papers.published import join
from workflow.report.builders import builder_inputs, describe_origin, load_builder
from workflow.report.pages.numbers import missing, number, percent
from workflow.results.record import write_text
from workflow.results.runs_table import read_frames
from workflow.results.statistics import half_width

# the column of a cell -> its name in the CSV, in the order of the CSV
CSV_COLUMNS = {
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


def as_lines(cells: pd.DataFrame, origin: str) -> pd.DataFrame:
    """One line per cell, for people. Lines with a run or a measurement behind them name its `origin`."""
    order = {row: number for number, row in enumerate(cells["row"].unique())}
    cells = cells.sort_values("row", key=lambda rows: rows.map(order), kind="stable")
    lines = cells[list(CSV_COLUMNS)].rename(columns=CSV_COLUMNS)
    lines["digests"] = [" ".join(digests) for digests in cells["digests"]]
    measured = (cells["kind"] == "measured") & cells["value"].notna() | cells["digests"].map(bool)
    return lines.assign(**{"measured at": measured.map({True: origin, False: ""})})


def as_texts(cells: pd.DataFrame) -> pd.DataFrame:
    """Rows by columns, "measured ± half interval (published, difference)" as text, for LaTeX."""
    cells = cells.assign(text=[_text(cell) for cell in cells.to_dict("records")])
    texts = cells.pivot_table(index="row", columns="column", values="text", aggfunc="first", sort=False)
    return texts.fillna("").rename_axis(index=None, columns=None)


def _text(cell: dict) -> str:
    published = number(cell["published_value"], cell["unit"])
    if published and cell["published_source"] != "published":
        published = f"{cell['published_source']} {published}"
    if cell["kind"] == "cited":
        return f"cited {published}"
    if cell["status"] != "ok":
        return f"{cell['status']} ({published})" if published else cell["status"]
    measured = number(cell["value"], cell["unit"])
    if not missing(cell["high"]):
        measured += f" ± {number(half_width(cell['low'], cell['high']), cell['unit'])}"
    in_parentheses = ", ".join(filter(None, (published, percent(cell["difference_pct"]))))
    return f"{measured} ({in_parentheses})" if in_parentheses else measured


def as_latex(cells: pd.DataFrame, title: str, origin: str) -> str:
    """A booktabs table, all text escaped."""
    caption = "".join(LATEX.get(sign, sign) for sign in f"{title}. {origin}. In parentheses: published, difference.")
    styled = as_texts(cells).style.format(escape="latex").format_index(escape="latex", axis=0)
    return styled.format_index(escape="latex", axis=1).to_latex(hrules=True, caption=caption)


def pick_used(cells: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """The runs behind the cells."""
    return runs[runs["digest"].isin({digest for digests in cells["digests"] for digest in digests})]


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="table", description="Build one table.")
    parser.add_argument("name")
    parser.add_argument("out", type=Path, help="OUT.json; the CSV and the LaTeX are written next to it")
    parser.add_argument("inputs", type=Path, nargs="*", help="what the table's READS names")
    options = parser.parse_args(argv)
    builder = load_builder("tables", options.name)
    frames = read_frames(options.inputs)
    cells = join(builder.build(*builder_inputs("tables", options.name, frames)))
    used = None if frames.runs is None else pick_used(cells, frames.runs)
    origin, commits = describe_origin(builder, frames, used)
    about = {"title": builder.TITLE, "caption": builder.CAPTION, "provenance": origin, "commits": commits}
    write_text(options.out.with_suffix(".csv"), as_lines(cells, origin).to_csv(index=False))
    write_text(options.out.with_suffix(".tex"), as_latex(cells, builder.TITLE, origin))
    content = {**about, "cells": json.loads(cells.to_json(orient="records"))}
    write_text(options.out.with_suffix(".json"), json.dumps(content, indent=1))


if __name__ == "__main__":
    run(main)
