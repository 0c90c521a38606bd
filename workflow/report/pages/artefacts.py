"""Tables and figures as the templates take them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace

import matplotlib.figure
import pandas as pd
from markupsafe import Markup

from workflow.config.missing import Missing
from workflow.report.builders import load_builder
from workflow.report.comparison import ComparedCell
from workflow.report.figures.marks import tell
from workflow.report.figures.style import MESSAGE, as_svg
from workflow.report.layout import IN_TABLES, Column, list_columns, list_rows, text_of
from workflow.report.pages.not_run import NotRun, is_not_run, why_not_run
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


@dataclass(frozen=True)
class Table:
    """A table as its template takes it; of one that was not made, `missing` says why.

    rows: label, whether it is only cited, and a cell for each column, None where there is none.
    has_published: whether the paper prints any of it. texts: the corpora that were read.
    how: how its numbers read. flat: the gain from which on a run counts as not converged.
    reasons: why cells hold nothing -> number of the footnote. not_run: why cells were not run.
    files: addresses of the table as CSV, LaTeX and JSON. runs_at: folder of the pages of its runs.
    """

    name: str
    title: str
    missing: str = ""
    caption: str = ""
    provenance: str = ""
    runs_at: str = ""
    columns: list[Head] = field(default_factory=list)
    rows: list[tuple[str, bool, list[ShownCell | None]]] = field(default_factory=list)
    has_published: bool = False
    texts: Sequence[BadgeOfColumns] = ()
    how: str = IN_TABLES
    not_converged: bool = False
    flat: float = FLAT
    reasons: dict[str, int] = field(default_factory=dict)
    not_run: list[NotRun] = field(default_factory=list)
    files: list[str] = field(default_factory=list)


def table(site: Site, name: str, question: str) -> Table:
    """Lay out a table, each cell with our value, its interval and the paper's.

    question: whose runs it is made from.
    """
    path = site.results / "tables" / f"{name}.json"
    if not path.exists():
        return Table(name=name, title=name, missing=NOT_MADE)
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
    return Table(
        name=name,
        title=content.title,
        caption=content.caption,
        provenance=content.provenance,
        runs_at=runs_at(question),
        columns=[_head(column, cells, content.texts) for column in columns],
        rows=rows,
        has_published=any(cell.published_value is not None for cell in cells),
        texts=content.texts,
        not_converged=any(cell.not_converged for cell in grid.values()),
        reasons=reasons,
        not_run=why_not_run(site, question, cells),
        files=[site.offer(path.with_suffix(ending)) for ending in (".csv", ".tex", ".json")],
    )


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
    compared = {each.name: getattr(cell, each.name) for each in fields(ComparedCell)}
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


@dataclass(frozen=True)
class Figure:
    """A figure as its template takes it; of one that shows nothing, `missing` says why.

    notes: details of the caption, behind a click. svg: ready for the page.
    told: what a mark says when it is pointed at, from `workflow.report.figures.marks`.
    slider: what its slider shows, None without one. leads: whether it is right below the answer.
    runs: digests. texts: the corpora that were
    read. files: addresses of the figure in other formats, and of its numbers.
    """

    name: str
    title: str
    caption: str
    runs_at: str
    notes: str = ""
    missing: str = ""
    svg: Markup = Markup("")
    told: dict = field(default_factory=dict)
    slider: Sequence[str] | None = None
    leads: bool = False
    runs: Sequence[str] = ()
    texts: Sequence[dict[str, str]] = ()
    files: Sequence[str] = ()


def figure(site: Site, name: str, question: str) -> Figure:
    """Read a figure as inline SVG, with the title and caption of its builder."""
    builder = load_builder("figures", name)
    described = Figure(
        name=name,
        title=builder.TITLE,
        caption=builder.CAPTION,
        runs_at=runs_at(question),
        notes=getattr(builder, "NOTES", ""),
    )
    path = site.results / "figures" / f"{name}.svg"
    if not path.exists():
        return replace(described, missing=NOT_MADE)
    files = [site.offer(path.with_suffix(ending)) for ending in (".svg", ".pdf", ".png", ".csv")]
    svg = read_svg(path, name)
    if f'id="{name}-{MESSAGE}"' in svg:
        return replace(described, missing=NOT_RUN)
    trace = provenance.read(path)
    return replace(
        described,
        svg=svg,
        told=tell(pd.read_csv(path.with_suffix(".csv")), svg).as_json(),
        slider=getattr(builder, "SLIDER", None),
        leads=getattr(builder, "LEADS", False),
        runs=trace.runs,
        texts=trace.texts,
        files=files,
    )


def figures(site: Site, names: tuple[str, ...], question: str) -> list[Figure]:
    """Read the figures that show something; the page on coverage lists what was not run."""
    made = [figure(site, name, question) for name in names]
    return [each for each in made if not each.missing]


def embed_drawing(
    *,
    name: str,
    title: str,
    caption: str,
    drawing: matplotlib.figure.Figure,
    numbers: pd.DataFrame,
    runs_at: str,
    notes: str = "",
) -> Figure:
    """Embed a figure that is made for one page, and has no file of its own."""
    svg = embed_svg(as_svg(drawing), name)
    return Figure(
        name=name,
        title=title,
        caption=caption,
        runs_at=runs_at,
        notes=notes,
        svg=svg,
        told=tell(numbers, svg).as_json(),
    )
