"""The pages about the papers: one for each, the coverage of their tables, and their formulas."""

import ast
import inspect
import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from workflow.claims.published import Artefact, formulas, studies
from workflow.report.builders import load_builder
from workflow.report.pages import artefacts
from workflow.report.pages.index import questions_in
from workflow.report.pages.site import Site
from workflow.report.table_files import read_table
from workflow.report.tables import analytic
from workflow.report.tables.analytic import RecomputedRow
from workflow.results.datasets import badges, name_badges
from workflow.results.runs_table import describe_runs
from workflow.settings.questions import Question

NUMBERED = re.compile(r"(?:table|figure)(\d+)")
# as a paper writes them
SIGNS = {" ** 2": "\N{SUPERSCRIPT TWO}", " * ": "\N{MIDDLE DOT}", " // ": "/", " / ": "/"}


# --- the page of a paper ---------------------------------------------------------------------


@dataclass(frozen=True)
class ShownArtefact:
    """A table or figure with the question that it answers, and the page of that question."""

    kind: str
    shown: artefacts.Table | artefacts.Figure
    question: str
    page: str


@dataclass(frozen=True)
class PaperPage:
    """What the page of a paper shows.

    texts: badges of the corpora. questions: each with the address of its page.
    numbered: tables and figures that the paper numbers, in its order. beside: all others.
    """

    title: str
    provenance: str
    texts: list[dict[str, str]]
    questions: list[tuple[str, str]]
    numbered: list[ShownArtefact]
    beside: list[ShownArtefact]


def paper_page(site: Site, name: str, runs: pd.DataFrame) -> PaperPage:
    """Collect what the page of a paper shows. runs: those of its questions."""
    questions = {key: each for key, each in questions_in(runs).items() if each.paper == name}
    pages = {key: f"{artefacts.runs_at(key)}index.html" for key in questions}
    named = []
    for key, question in questions.items():
        named += [(order_in_paper("table", each), "table", each, key) for each in question.tables]
        named += [
            (order_in_paper("figure", each), "figure", each, key) for each in question.figures
        ]
    numbered = []
    others = []
    for order, kind, artefact, key in sorted(named):
        make = artefacts.table if kind == "table" else artefacts.figure
        shown = make(site, artefact, key)
        # a table that was not made is named with the reason; a figure without marks is left out
        if kind == "table" or not shown.missing:
            has_number = order[0] < math.inf
            each = ShownArtefact(kind, shown, questions[key].question, pages[key])
            (numbered if has_number else others).append(each)
    return PaperPage(
        title=studies()[name].heading,
        provenance=describe_runs(runs, name_badges(runs)),
        texts=badges(runs),
        questions=[(each.question, pages[key]) for key, each in questions.items()],
        numbered=numbered,
        beside=others,
    )


def order_in_paper(kind: str, name: str) -> tuple[float, bool, str]:
    """Return a key that sorts artefacts as the paper has them, those without a number last.

    A table comes before a figure of the same number.
    """
    number = NUMBERED.search(name)
    return (float(number[1]) if number else math.inf, kind == "figure", name)


# --- coverage --------------------------------------------------------------------------------


@dataclass(frozen=True)
class CoverageLine:
    """A table or figure of a paper.

    links: address and title of what shows it here. absent: titles of what was not run.
    cells: how many were measured (`ok`), `failed`, and were `not run`.
    drawing: what the figure draws, where nothing of it is computed.
    """

    title: str
    links: list[tuple[str, str]]
    absent: list[str]
    cells: dict[str, int]
    drawing: str | None


@dataclass(frozen=True)
class CoverageSection:
    """The tables and figures of one paper."""

    title: str
    lines: list[CoverageLine]


@dataclass(frozen=True)
class CoveragePage:
    """What the page shows: a section for each paper."""

    title: str
    sections: list[CoverageSection]


def coverage_page(site: Site, questions: Iterable[Question]) -> CoveragePage:
    """Give each table and figure a line: title, links, and its cells measured, failed and not run.

    questions: those that were run; a table or figure of another has no page to lead to.
    """
    available: set[str] = set()
    for question in questions:
        available.update(question.tables, question.figures)
    sections = []
    for name, study in studies().items():
        lines = [
            _coverage_of(site, name, title, artefact, available)
            for title, artefact in study.artefacts.items()
        ]
        if lines:
            sections.append(CoverageSection(study.heading, lines))
    return CoveragePage("Coverage: tables and figures of the papers", sections)


def _coverage_of(
    site: Site, paper: str, title: str, artefact: Artefact, available: set[str]
) -> CoverageLine:
    """Describe what shows one artefact of a paper."""
    links = []
    absent = []
    tables = []
    for kind, names, ending in (
        ("table", artefact.tables, "json"),
        ("figure", artefact.figures, "svg"),
    ):
        for name in names:
            path = site.results / f"{kind}s" / f"{name}.{ending}"
            words = load_builder(f"{kind}s", name).TITLE
            if name not in available or not path.exists():
                absent.append(words)
                continue
            links.append((f"papers/{paper}.html#{kind}-{name}", words))
            if kind == "table":
                tables.append(path)
    return CoverageLine(title, links, absent, _count_cells(tables), artefact.drawing)


def _count_cells(paths: list[Path]) -> dict[str, int]:
    """Count the measured cells by status."""
    counts: Counter[str] = Counter()
    for path in paths:
        counts.update(cell.status for cell in read_table(path).cells if cell.kind == "measured")
    return {status: counts[status] for status in ("ok", "failed", "not run")}


# --- formulas --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Explanation:
    """A formula in words. about: what it computes. text: how, from its source.

    usual: its default inputs; empty where there are none.
    """

    about: str
    text: str
    usual: str


@dataclass(frozen=True)
class FormulaSection:
    """A formula, and the numbers that it gives."""

    name: str
    about: str
    text: str
    usual: str
    rows: list[RecomputedRow]


@dataclass(frozen=True)
class Counts:
    """Numbers by formula: all = printed + inferred, and printed = as_printed + otherwise + open.

    inferred: not printed, the formula alone gives them. as_printed: recomputed to the printed
    digits. otherwise: recomputed to other digits. open: no formula can give them.
    """

    all: int
    printed: int
    inferred: int
    as_printed: int
    otherwise: int
    open: int


@dataclass(frozen=True)
class FormulasPage:
    """What the page shows. open: the numbers without a formula."""

    title: str
    formulas: list[FormulaSection]
    open: list[RecomputedRow]
    counts: Counts


def formulas_page() -> FormulasPage:
    """List the formulas with their numbers, and the numbers that none gives."""
    built = analytic.build()
    records = built.astype(object).where(built.notna(), None).to_dict("records")
    rows = [RecomputedRow(**record) for record in records]
    by_formula: dict[str, list[RecomputedRow]] = {}
    without = []
    for row in rows:
        if row.formula:
            of_formula = by_formula.setdefault(row.formula, [])
            of_formula.append(row)
        else:
            without.append(row)
    sections = []
    for name, mine in by_formula.items():
        told = explain(name)
        sections.append(FormulaSection(name, told.about, told.text, told.usual, mine))
    return FormulasPage(title=analytic.TITLE, formulas=sections, open=without, counts=count(rows))


def count(rows: list[RecomputedRow]) -> Counts:
    """Count numbers by how they compare with what is printed."""
    printed = [row for row in rows if row.source == "published"]
    return Counts(
        all=len(rows),
        printed=len(printed),
        inferred=len(rows) - len(printed),
        as_printed=sum(row.rounds_to_paper is True for row in printed),
        otherwise=sum(row.rounds_to_paper is False for row in printed),
        open=sum(row.formula is None for row in printed),
    )


def explain(name: str) -> Explanation:
    """Describe a formula from its docstring, its source and its defaults."""
    formula = formulas()[name]
    definition = ast.parse(inspect.getsource(formula)).body[0]
    statements = [node for node in definition.body if not _is_docstring(node)]
    *parts, result = statements
    parameters = inspect.signature(formula).parameters
    text = f"{name}({', '.join(parameters)}) = {_written(result.value)}"
    if parts:
        text += f", where {', '.join(map(_written, parts))}"
    usual = [
        f"{key} = {each.default:g}"
        for key, each in parameters.items()
        if type(each.default) in (int, float)
    ]
    about = ast.get_docstring(definition).replace("`", "")
    return Explanation(about=about, text=text, usual=", ".join(usual))


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(getattr(node, "value", None), ast.Constant)


def _written(node: ast.AST) -> str:
    """Write code with the signs that papers use."""
    text = ast.unparse(node)
    for code, sign in SIGNS.items():
        text = text.replace(code, sign)
    return text
