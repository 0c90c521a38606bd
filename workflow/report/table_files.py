"""Write the files of a table: JSON for pages, CSV for people, LaTeX for papers."""

import json
from pathlib import Path

import pandas as pd
from pandas.io.formats.style import Styler

from workflow.report.builders import builder_inputs, describe_origin, load_builder
from workflow.report.comparison import join
from workflow.report.layout import IN_TABLES, Column, list_columns, list_rows, text_of
from workflow.results import provenance
from workflow.results.datasets import badges_of_columns, name_directions, texts_of_cells
from workflow.results.numbers import percent
from workflow.results.record import write_text
from workflow.results.runs_table import Frames, csv_text

# the column of a cell -> its name in the CSV, in the order of the CSV
CSV_COLUMNS = {
    "row": "row",
    "column": "column",
    "value": "measured",
    "low": "low",
    "high": "high",
    "points": "points",
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
    "texts": "text",
    "digests": "digests",
}
LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
LATEX |= {sign: rf"\{sign}" for sign in "&%$#_{}"}


def as_lines(cells: pd.DataFrame, origin: str) -> pd.DataFrame:
    """Return one line per cell, for people. Lines with a run or a measurement behind them name its
    `origin`.
    """
    order = {row: number for number, (row, _) in enumerate(list_rows(cells.to_dict("records")))}
    cells = cells.sort_values("row", key=lambda rows: rows.map(order), kind="stable")
    lines = cells[list(CSV_COLUMNS)].rename(columns=CSV_COLUMNS)
    lines["digests"] = [" ".join(digests) for digests in cells["digests"]]
    lines["text"] = ["; ".join(texts) for texts in cells["texts"]]
    lines["points"] = [" ".join(map(repr, points or ())) for points in cells["points"]]
    measured = (cells["kind"] == "measured") & cells["value"].notna() | cells["digests"].map(bool)
    return lines.assign(**{"measured at": measured.map({True: origin, False: ""})})


def as_texts(cells: pd.DataFrame) -> pd.DataFrame:
    """Arrange the cells as text, rows by columns, for LaTeX, laid out as on a page: see
    `workflow.report.layout`.
    """
    lines = json.loads(cells.to_json(orient="records"))  # what is missing is None, as on a page
    at = {(cell["row"], cell["column"]): cell for cell in lines}
    texts = {}
    for column in list_columns(lines):
        found = [at.get((row, column.title)) for row, _ in list_rows(lines)]
        texts[column.title] = [_text(cell, column) if cell else "" for cell in found]
        if column.apart:
            texts[f"{column.title}, published"] = [
                _published(cell) if cell else "" for cell in found
            ]
    return pd.DataFrame(texts, index=[row for row, _ in list_rows(lines)])


def _text(cell: dict, column: Column) -> str:
    """Write our number and, in parentheses unless it has its own column, what the paper prints,
    with the difference.
    """
    ours = (
        text_of(cell, column.form)
        if cell["status"] == "ok" and cell["kind"] != "cited"
        else cell["status"]
    )
    if cell["kind"] == "cited":
        ours = "" if column.apart else "cited"
    theirs = (
        ""
        if column.apart
        else ", ".join(filter(None, (_published(cell), percent(cell["difference_pct"]))))
    )
    return f"{ours} ({theirs})" if theirs else ours


def _published(cell: dict) -> str:
    text = cell["published_text"]
    return (
        f"{cell['published_source']} {text}"
        if text and cell["published_source"] != "published"
        else text
    )


def as_latex(cells: pd.DataFrame, title: str, origin: str) -> str:
    """Write a booktabs table, all text escaped."""
    caption = "".join(LATEX.get(sign, sign) for sign in f"{title}. {origin}. {IN_TABLES}")
    styled = Styler(as_texts(cells)).format(escape="latex").format_index(escape="latex", axis=0)
    return styled.format_index(escape="latex", axis=1).to_latex(hrules=True, caption=caption)


def pick_used(cells: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Pick the runs behind the cells."""
    return runs[runs["digest"].isin({digest for digests in cells["digests"] for digest in digests})]


def write_table(out: Path, name: str, frames: Frames) -> None:
    """Build a table and write it as JSON to `out`, as CSV and LaTeX beside it.

    A builder whose columns name directions of translation says by `DIRECTIONS` which dataset of the
    paper each is of; one whose rows have the paper's names for its models says by `name_rows` what
    ours are called.
    """
    builder = load_builder("tables", name)
    cells = join(builder.build(*builder_inputs("tables", name, frames)))
    used = None if frames.runs is None else pick_used(cells, frames.runs)
    named = name_directions(cells["column"], getattr(builder, "DIRECTIONS", {}), used)
    rows = (
        builder.name_rows(used)
        if hasattr(builder, "name_rows") and used is not None and len(used)
        else {}
    )
    cells = cells.assign(
        texts=texts_of_cells(cells, used), column=named, row=cells["row"].replace(rows)
    )
    origin, commits = describe_origin(builder, frames, used)
    about = {
        "title": builder.TITLE,
        "caption": builder.CAPTION,
        "provenance": origin,
        "commits": commits,
    }
    about["texts"] = badges_of_columns(cells, used)
    about["signed"] = provenance.signatures(
        used, [] if used is None else sorted(used["digest"].unique())
    )
    write_text(out.with_suffix(".csv"), csv_text(as_lines(cells, origin)))
    write_text(out.with_suffix(".tex"), as_latex(cells, builder.TITLE, origin))
    content = {**about, "cells": json.loads(cells.to_json(orient="records"))}
    write_text(out.with_suffix(".json"), json.dumps(content, indent=1))
