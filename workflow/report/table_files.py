"""Write the files of a table: JSON for pages, CSV for people, LaTeX for papers."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import pandas as pd
from pandas.io.formats.style import Styler

from workflow.config.errors import ConfigError
from workflow.config.strict import read_json
from workflow.report.builders import builder_inputs, describe_origin, load_builder
from workflow.report.comparison import ComparedCell, join
from workflow.report.layout import IN_TABLES, Column, list_columns, list_rows, text_of
from workflow.results import provenance
from workflow.results.datasets import (
    BadgeOfColumns,
    badges_of_columns,
    name_directions,
    texts_of_cells,
)
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
    "bound": "bound",
    "unit": "unit",
    "kind": "kind",
    "published_value": "published",
    "published_source": "published as",
    "published_origin": "seen in",
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


@dataclass(frozen=True)
class Table:
    """A table as its JSON file holds it.

    provenance: in one line, where the numbers come from. commits: of the code behind them. texts:
    the badges of the datasets. signed: the digest of each run's record, by the digest of its job.
    """

    title: str
    caption: str
    provenance: str
    commits: tuple[str, ...]
    texts: tuple[BadgeOfColumns, ...]
    signed: dict[str, str]
    cells: tuple[ComparedCell, ...]

    def as_json(self) -> str:
        about = {
            "title": self.title,
            "caption": self.caption,
            "provenance": self.provenance,
            "commits": self.commits,
            "texts": [asdict(text) for text in self.texts],
            "signed": self.signed,
            "cells": [cell.as_record() for cell in self.cells],
        }
        return json.dumps(about, indent=1)


def read_table(path: Path) -> Table:
    """Read a table that `write_table` wrote; `ConfigError` where the file is no such table."""
    content = read_json(path)
    for key in ("cells", "texts", "title"):
        if not isinstance(content, dict) or key not in content:
            raise ConfigError(f"{path}: expected a table as the workflow writes it: no '{key}'")
    return Table(
        title=content["title"],
        caption=content["caption"],
        provenance=content["provenance"],
        commits=tuple(content["commits"]),
        texts=tuple(BadgeOfColumns.from_record(text) for text in content["texts"]),
        signed=content["signed"],
        cells=tuple(ComparedCell.from_record(cell) for cell in content["cells"]),
    )


def compared_cells(cells: pd.DataFrame) -> list[ComparedCell]:
    """Make the cells of a table's rows, with numbers to ten decimals, as in its JSON file."""
    records = json.loads(cells.to_json(orient="records"))
    return [ComparedCell.from_record(record) for record in records]


def as_lines(cells: pd.DataFrame, origin: str) -> pd.DataFrame:
    """Return one line per cell, for people.

    Lines with a run or a measurement behind them name its `origin`.
    """
    order = {row: place for place, (row, _) in enumerate(list_rows(compared_cells(cells)))}
    cells = cells.sort_values("row", key=lambda rows: rows.map(order), kind="stable")
    lines = cells[list(CSV_COLUMNS)].rename(columns=CSV_COLUMNS)
    lines["digests"] = [" ".join(digests) for digests in cells["digests"]]
    lines["text"] = ["; ".join(texts) for texts in cells["texts"]]
    lines["points"] = [" ".join(map(repr, points or ())) for points in cells["points"]]
    has_number = (cells["kind"] == "measured") & cells["value"].notna()
    has_runs = cells["digests"].map(bool)
    return lines.assign(**{"measured at": (has_number | has_runs).map({True: origin, False: ""})})


def as_texts(cells: pd.DataFrame) -> pd.DataFrame:
    """Arrange the cells as text, rows by columns, for LaTeX, laid out as on a page."""
    compared = compared_cells(cells)
    at = {(cell.row, cell.column): cell for cell in compared}
    rows = [row for row, _ in list_rows(compared)]
    texts: dict[str, list[str]] = {}
    for column in list_columns(compared):
        in_column = [at.get((row, column.title)) for row in rows]
        texts[column.title] = [_text(cell, column) if cell else "" for cell in in_column]
        if column.apart:
            published = [_published(cell) if cell else "" for cell in in_column]
            texts[f"{column.title}, published"] = published
    return pd.DataFrame(texts, index=rows)


def _text(cell: ComparedCell, column: Column) -> str:
    """Write our number and, in parentheses unless it has its own column, the paper's.

    The paper's has the difference from it, where comparable.
    """
    if cell.kind == "cited":
        ours = "" if column.apart else "cited"
    elif cell.status == "ok":
        ours = text_of(cell, column.form)
    else:
        ours = cell.status
    if column.apart:
        return ours
    theirs = ", ".join(part for part in (_published(cell), percent(cell.difference_pct)) if part)
    return f"{ours} ({theirs})" if theirs else ours


def _published(cell: ComparedCell) -> str:
    """Write the paper's value, with where it comes from unless it is printed."""
    if not cell.published_text or cell.published_as == "paper":
        return cell.published_text
    return f"{cell.published_as} {cell.published_text}"


def as_latex(cells: pd.DataFrame, title: str, origin: str) -> str:
    """Write a booktabs table, all text escaped."""
    caption = "".join(LATEX.get(sign, sign) for sign in f"{title}. {origin}. {IN_TABLES}")
    styled = Styler(as_texts(cells)).format(escape="latex")
    styled = styled.format_index(escape="latex", axis=0).format_index(escape="latex", axis=1)
    return styled.to_latex(hrules=True, caption=caption)


def pick_used(cells: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Pick the runs behind the cells."""
    used = {digest for digests in cells["digests"] for digest in digests}
    return runs[runs["digest"].isin(used)]


def write_table(out: Path, name: str, frames: Frames) -> None:
    """Build a table and write it as JSON to `out`, and next to it as CSV and LaTeX.

    A builder whose columns name directions of translation says by `DIRECTIONS` which dataset of the
    paper each is of; one whose rows have the paper's names for its models says by `name_rows` what
    ours are called.
    """
    builder = load_builder("tables", name)
    cells = join(builder.build(*builder_inputs("tables", name, frames)))
    used = None if frames.runs is None else pick_used(cells, frames.runs)
    has_runs = used is not None and len(used) > 0
    directions = getattr(builder, "DIRECTIONS", {})
    names_of_rows = builder.name_rows(used) if has_runs and hasattr(builder, "name_rows") else {}
    cells = cells.assign(
        texts=texts_of_cells(cells, used),
        column=name_directions(cells["column"], directions, used),
        row=cells["row"].replace(names_of_rows),
    )
    origin, commits = describe_origin(builder, frames, used)
    digests = [] if used is None else sorted(used["digest"].unique())
    table = Table(
        title=builder.TITLE,
        caption=builder.CAPTION,
        provenance=origin,
        commits=tuple(commits),
        texts=tuple(badges_of_columns(cells, used)),
        signed=provenance.signatures(used, digests),
        cells=tuple(compared_cells(cells)),
    )
    write_text(out.with_suffix(".csv"), csv_text(as_lines(cells, origin)))
    write_text(out.with_suffix(".tex"), as_latex(cells, builder.TITLE, origin))
    write_text(out.with_suffix(".json"), table.as_json())
