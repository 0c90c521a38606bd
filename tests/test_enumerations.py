"""No code lists papers, scales, questions, texts or tasks: a further one is found where the others
lie.

A table or figure in a study names the questions and texts that it is made of.
"""

import ast
from collections.abc import Iterator
from functools import cache

import pytest

from tests.test_architecture import ROOT, name, under
from workflow.claims.published import studies
from workflow.config.studies import known_studies
from workflow.settings.config import known_scales
from workflow.settings.questions import known_questions, load_question
from workflow.tasks.spec import TASKS

NAMES = {
    "papers": known_studies,
    "scales": known_scales,
    "questions": known_questions,
    "texts": lambda: {
        corpus for each in known_questions() for corpus in load_question(each).corpora
    },
    "tasks": lambda: TASKS,
}


def listed(tree: ast.AST) -> Iterator[set[str]]:
    """The words of each literal collection, and the names of the fields of each class."""
    for node in ast.walk(tree):
        words = getattr(node, "elts", getattr(node, "keys", ()))
        yield {each.value for each in words if isinstance(each, ast.Constant)}
        if isinstance(node, ast.ClassDef):
            yield {each.target.id for each in node.body if isinstance(each, ast.AnnAssign)}


@cache
def lists() -> dict[str, list[set[str]]]:
    return {name(path): [*listed(ast.parse(path.read_text()))] for path in under("workflow")}


@pytest.mark.parametrize("kind", NAMES)
def test_no_code_lists_what_there_is_a_file_for(kind):
    names = {*NAMES[kind]()}
    for place, each in lists().items():
        assert not [words & names for words in each if len(words & names) > 1], place


def test_no_code_and_no_template_names_a_paper():
    files = [
        *under("workflow"),
        *ROOT.glob("workflow/rules/*.smk"),
        *ROOT.glob("workflow/report/templates/*"),
    ]
    texts = {name(path): path.read_text() for path in files}
    quoted = {
        mark + paper
        for paper, study in studies().items()
        if study.authors
        for mark in ("'", '"', "papers/")
    }
    assert not {place for place, text in texts.items() if any(word in text for word in quoted)}
