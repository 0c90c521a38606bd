"""Tables and figures as the templates take them."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import pandas as pd

from workflow.config.missing import Missing
from workflow.report.builders import load_builder
from workflow.report.comparison import ComparedCell
from workflow.report.figures.marks import tell
from workflow.report.figures.style import MESSAGE, as_svg
from workflow.report.layout import IN_TABLES, Column, list_columns, list_rows, text_of
from workflow.report.pages.not_run import is_not_run, why_not_run
from workflow.report.pages.site import Site, embed_svg, read_svg
from workflow.report.table_files import read_table
from workflow.report.tables.cells import NOT_TRAINED
from workflow.results import provenance
from workflow.results.datasets import BadgeOfColumns
from workflow.results.numbers import Form
from workflow.results.trained_enough import FLAT, converged

NOT_MADE = "not made yet"
NOT_RUN = "no run here has what it shows"
OF_MACHINES = ("speed", "memory")  # kinds of published values that belong to the paper's machine


def runs_at(question: str) -> str:
    """Return the folder of the pages of a question's runs, relative to the scale's reports."""
    return f"questions/{question}/"


@dataclass(frozen=True)
class Head:
    """The head of a column. badges: of its corpora, where others are read elsewhere in the table.

    mark: whether the paper's values can be compared with ours, in a few words; empty where it
    prints none.
    """

    title: str
    unit: str
    badges: list[str]
    mark: str


@dataclass(frozen=True, kw_only=True)
class ShownCell(ComparedCell):
    """A cell as a page shows it.

    text, printed   our value with its interval, and the paper's, in the digits of the column
    shown_note      what its tooltip says
    reason          the number of the footnote that says why it holds nothing
    not_run         whether the footnote on what was not run says that
    sort            what its column is sorted by
    """

    text: str
    printed: str
    shown_note: str
    reason: int | None
    not_run: bool
    not_converged: bool
    sort: float | str


def table(site: Site, name: str, question: str) -> dict:
    """Lay out a table, each cell with our value, its interval and the paper's.

    question: whose runs it is made from.
    """
    path = site.results / "tables" / f"{name}.json"
    if not path.exists():
        return {"name": name, "title": name, "missing": NOT_MADE}
    content = read_table(path)
    cells = list(content.cells)
    columns = list_columns(cells)
    forms = {column.title: column.form for column in columns}
    reasons = _number_reasons(cells)
    grid = {(cell.row, cell.column): _as_shown(cell, forms[cell.column], reasons) for cell in cells}
    rows = [
        (row, cited, [grid.get((row, column.title)) for column in columns])
        for row, cited in list_rows(cells)
    ]
    return {
        "title": content.title,
        "caption": content.caption,
        "provenance": content.provenance,
        "name": name,
        "runs_at": runs_at(question),
        "columns": [_head(column, cells, content.texts) for column in columns],
        "rows": rows,
        "has_published": any(cell.published_value is not None for cell in cells),
        "texts": content.texts,
        "how": IN_TABLES,
        "not_converged": any(cell.not_converged for cell in grid.values()),
        "flat": FLAT,
        "reasons": reasons,
        "not_run": why_not_run(site, question, cells),
        "files": [site.offer(path.with_suffix(ending)) for ending in (".csv", ".tex", ".json")],
    }


def _number_reasons(cells: list[ComparedCell]) -> dict[str, int]:
    """Number the reasons why cells hold nothing, each once, in the order of the cells.

    Cells that were not run have a footnote of their own.
    """
    reasons: dict[str, int] = {}
    for cell in cells:
        if _has_reason(cell):
            reasons.setdefault(cell.explanation, len(reasons) + 1)
    return reasons


def _has_reason(cell: ComparedCell) -> bool:
    """Say whether a footnote tells why a cell holds nothing."""
    holds_nothing = cell.kind != "cited" and cell.status != "ok" and bool(cell.explanation)
    return holds_nothing and not is_not_run(cell)


def _head(column: Column, cells: list[ComparedCell], texts: Sequence[BadgeOfColumns]) -> Head:
    badges = [text.badge for text in texts if column.title in text.columns]
    return Head(
        title=column.title,
        unit=column.unit,
        badges=badges if len(badges) < len(texts) else [],
        mark=_mark([cell for cell in cells if cell.column == column.title]),
    )


def _mark(cells: list[ComparedCell]) -> str:
    """Say in a few words whether the paper's values in a column can be compared with ours."""
    published = [
        cell for cell in cells if cell.published_value is not None and cell.kind != "setting"
    ]
    if not published:
        return ""
    if any(cell.comparable for cell in published):
        return "comparable"
    if all(cell.published_source == "inferred" for cell in published):
        return "not printed: inferred"
    if all(cell.published_kind in OF_MACHINES for cell in published):
        return "not the same machine"
    return "not the same data"


def _as_shown(cell: ComparedCell, form: Form, reasons: dict[str, int]) -> ShownCell:
    """Write the numbers of a cell as text, in the digits of its column."""
    compared = {field.name: getattr(cell, field.name) for field in fields(ComparedCell)}
    is_missing = isinstance(cell.value, Missing)
    to_sort = cell.published_value if is_missing else cell.value
    explanation = cell.explanation
    return ShownCell(
        **compared,
        text=text_of(cell, form),
        printed=cell.published_text,
        shown_note="" if explanation == NOT_TRAINED else explanation,
        reason=reasons[explanation] if _has_reason(cell) else None,
        not_run=is_not_run(cell),
        not_converged=not converged(cell.late_gain),
        sort=to_sort if isinstance(to_sort, int | float) else "",
    )


def figure(site: Site, name: str, question: str) -> dict:
    """Return a figure as inline SVG, with the title and caption of its builder."""
    path = site.results / "figures" / f"{name}.svg"
    builder = load_builder("figures", name)
    about = {
        "name": name,
        "runs_at": runs_at(question),
        "title": builder.TITLE,
        "caption": builder.CAPTION,
    }
    about["notes"] = getattr(builder, "NOTES", "")
    if not path.exists():
        return {**about, "missing": NOT_MADE}
    files = [site.offer(path.with_suffix(ending)) for ending in (".svg", ".pdf", ".png", ".csv")]
    trace, svg = provenance.read(path), read_svg(path, name)
    if f'id="{name}-{MESSAGE}"' in svg:
        return {**about, "missing": NOT_RUN}
    told = tell(pd.read_csv(path.with_suffix(".csv")), svg)
    about["slider"] = getattr(builder, "SLIDER", None)
    return {
        **about,
        "svg": svg,
        "told": told,
        "files": files,
        "runs": trace.runs,
        "texts": trace.texts,
    }


def figures(site: Site, names: tuple[str, ...], question: str) -> list[dict]:
    """Return the figures that show something; what was not run, the page on coverage lists."""
    made = [figure(site, name, question) for name in names]
    return [each for each in made if "missing" not in each]


def drawn_here(
    name: str,
    title: str,
    caption: str,
    figure,
    numbers: pd.DataFrame,
    runs_at: str,
    notes: str = "",
) -> dict:
    """Return a figure that is made for one page, and has no file of its own, as its template takes
    it.
    """
    svg = embed_svg(as_svg(figure), name)
    about = {
        "name": name,
        "title": title,
        "caption": caption,
        "notes": notes,
        "svg": svg,
        "told": tell(numbers, svg),
    }
    return about | {"texts": [], "runs": [], "runs_at": runs_at, "files": []}
