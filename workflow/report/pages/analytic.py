"""The page of formulas: every published number that one gives, with its inputs, what comes out and what is printed."""

import ast
import inspect

from workflow.papers.formulas import FORMULAS
from workflow.report.tables import analytic

SIGNS = {" ** 2": "\N{SUPERSCRIPT TWO}", " * ": "\N{MIDDLE DOT}", " // ": "/", " / ": "/"}  # as a paper writes them


def analytic_page() -> dict:
    """formulas: each with what it computes, its text and its numbers. open: numbers without one. counts add up."""
    built = analytic.build()
    rows = built.astype(object).where(built.notna(), None).to_dict("records")
    used = dict.fromkeys(row["formula"] for row in rows if row["formula"])
    return {
        "title": analytic.TITLE,
        "formulas": [
            {"name": name, **describe(name), "rows": [row for row in rows if row["formula"] == name]} for name in used
        ],
        "open": [row for row in rows if not row["formula"]],
        "counts": count(rows),
    }


def count(rows: list[dict]) -> dict[str, int]:
    """all = printed + inferred; printed = as_printed + otherwise + open."""
    printed = [row for row in rows if row["source"] == "published"]
    return {
        "all": len(rows),
        "printed": len(printed),
        "inferred": len(rows) - len(printed),
        "as_printed": sum(row["rounds_to_paper"] is True for row in printed),
        "otherwise": sum(row["rounds_to_paper"] is False for row in printed),
        "open": sum(row["formula"] is None for row in printed),
    }


def describe(name: str) -> dict[str, str]:
    """about: what a formula computes; text: how, from workflow/papers/formulas.py; usual: its own inputs."""
    function = ast.parse(inspect.getsource(FORMULAS[name])).body[0]
    *parts, result = [node for node in function.body if not isinstance(getattr(node, "value", None), ast.Constant)]
    defaults = {each.name: each.default for each in inspect.signature(FORMULAS[name]).parameters.values()}
    text = f"{name}({', '.join(defaults)}) = {_written(result.value)}"
    text += (", where " if parts else "") + ", ".join(map(_written, parts))
    usual = ", ".join(f"{key} = {value:g}" for key, value in defaults.items() if type(value) in (int, float))
    return {"about": ast.get_docstring(function).replace("`", ""), "text": text, "usual": usual}


def _written(node: ast.AST) -> str:
    text = ast.unparse(node)
    for code, sign in SIGNS.items():
        text = text.replace(code, sign)
    return text
