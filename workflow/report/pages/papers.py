"""The pages about the papers: one for each, the coverage of all their tables and figures, and their
formulas.
"""

import ast
import inspect
import math
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from workflow.claims.published import Artefact, formulas, studies
from workflow.plan.questions import Question
from workflow.report.builders import load_builder
from workflow.report.pages import artefacts
from workflow.report.pages.index import questions_in
from workflow.report.pages.site import Site
from workflow.report.table_files import read_table
from workflow.report.tables import analytic
from workflow.results.datasets import badges, name_badges
from workflow.results.runs_table import describe_runs

NUMBERED = re.compile(r"(?:table|figure)(\d+)")
# as a paper writes them
SIGNS = {" ** 2": "\N{SUPERSCRIPT TWO}", " * ": "\N{MIDDLE DOT}", " // ": "/", " / ": "/"}


def paper_page(site: Site, name: str, runs: pd.DataFrame) -> dict:
    """Collect what the page of a paper shows. runs: those of its questions."""
    questions = {
        key: question for key, question in questions_in(runs).items() if question.paper == name
    }
    makers = {"table": artefacts.table, "figure": artefacts.figure}
    named = [
        (order_in_paper(kind, each), kind, each, key)
        for key, question in questions.items()
        for kind, names in (("table", question.tables), ("figure", question.figures))
        for each in names
    ]
    made = [
        {"order": order, "kind": kind, "shown": makers[kind](site, each, key)}
        | {"question": questions[key].question, "page": f"{artefacts.runs_at(key)}index.html"}
        for order, kind, each, key in sorted(named)
    ]
    made = [each for each in made if each["kind"] == "table" or "missing" not in each["shown"]]
    return {
        "title": studies()[name].heading,
        "provenance": describe_runs(runs, name_badges(runs)),
        "texts": badges(runs),
        "questions": [
            (each.question, f"{artefacts.runs_at(key)}index.html")
            for key, each in questions.items()
        ],
        "numbered": [each for each in made if each["order"][0] < math.inf],
        "beside": [each for each in made if each["order"][0] == math.inf],
    }


def order_in_paper(kind: str, name: str) -> tuple:
    """Return a key that sorts artefacts as the paper has them: by number, a table before a figure;
    then the others.
    """
    number = NUMBERED.search(name)
    return (float(number[1]) if number else math.inf, kind == "figure", name)


def coverage_page(site: Site, questions: Iterable[Question]) -> dict:
    """Give each table and figure a line: title, links, and its cells measured, failed and not run.

    questions: those that were run; a table or figure of another has no page to lead to.
    """
    available = {name for question in questions for name in (*question.tables, *question.figures)}
    sections = [
        {
            "title": study.heading,
            "lines": [_line(site, name, *item, available) for item in study.artefacts.items()],
        }
        for name, study in studies().items()
        if study.artefacts
    ]
    return {"title": "Coverage: tables and figures of the papers", "sections": sections}


def _line(site: Site, paper: str, title: str, artefact: Artefact, available: set[str]) -> dict:
    paths = {("table", name): site.results / "tables" / f"{name}.json" for name in artefact.tables}
    paths |= {
        ("figure", name): site.results / "figures" / f"{name}.svg" for name in artefact.figures
    }
    present = {key: path for key, path in paths.items() if key[1] in available and path.exists()}
    return {
        "title": title,
        "links": [
            (f"papers/{paper}.html#{kind}-{name}", _title(kind, name)) for kind, name in present
        ],
        "absent": [_title(kind, name) for kind, name in paths if (kind, name) not in present],
        "cells": _count_cells([path for (kind, _), path in present.items() if kind == "table"]),
        "drawing": artefact.drawing,
    }


def _title(kind: str, name: str) -> str:
    return load_builder(f"{kind}s", name).TITLE


def _count_cells(paths: list[Path]) -> dict[str, int]:
    """Count the measured cells by status."""
    counts: Counter[str] = Counter()
    for path in paths:
        counts.update(cell.status for cell in read_table(path).cells if cell.kind == "measured")
    return {status: counts[status] for status in ("ok", "failed", "not run")}


def formulas_page() -> dict:
    """List the formulas, each with what it computes, its text and its numbers, and the numbers
    without one (`open`).
    """
    built = analytic.build()
    rows = built.astype(object).where(built.notna(), None).to_dict("records")
    used = dict.fromkeys(row["formula"] for row in rows if row["formula"])
    return {
        "title": analytic.TITLE,
        "formulas": [
            {"name": name, **explain(name), "rows": [row for row in rows if row["formula"] == name]}
            for name in used
        ],
        "open": [row for row in rows if not row["formula"]],
        "counts": count(rows),
    }


def count(rows: list[dict]) -> dict[str, int]:
    """Count numbers so that all = printed + inferred, and printed = as_printed + otherwise +
    open.
    """
    printed = [row for row in rows if row["source"] == "published"]
    return {
        "all": len(rows),
        "printed": len(printed),
        "inferred": len(rows) - len(printed),
        "as_printed": sum(row["rounds_to_paper"] is True for row in printed),
        "otherwise": sum(row["rounds_to_paper"] is False for row in printed),
        "open": sum(row["formula"] is None for row in printed),
    }


def explain(name: str) -> dict[str, str]:
    """Describe a formula. about: what it computes; text: how, from its source; usual: its default
    inputs.
    """
    function = ast.parse(inspect.getsource(formulas()[name])).body[0]
    *parts, result = [
        node for node in function.body if not isinstance(getattr(node, "value", None), ast.Constant)
    ]
    defaults = {
        each.name: each.default for each in inspect.signature(formulas()[name]).parameters.values()
    }
    text = f"{name}({', '.join(defaults)}) = {_written(result.value)}"
    text += (", where " if parts else "") + ", ".join(map(_written, parts))
    usual = ", ".join(
        f"{key} = {value:g}" for key, value in defaults.items() if type(value) in (int, float)
    )
    return {"about": ast.get_docstring(function).replace("`", ""), "text": text, "usual": usual}


def _written(node: ast.AST) -> str:
    text = ast.unparse(node)
    for code, sign in SIGNS.items():
        text = text.replace(code, sign)
    return text
