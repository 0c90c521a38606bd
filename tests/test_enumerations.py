"""No code lists papers, scales, questions, corpora or tasks: another is found where they are.

A table or figure in a study names the questions and corpora that it is made of.
"""

import ast
from collections.abc import Iterator

import pytest

from tests._copied import ROOT
from workflow.claims.published import studies
from workflow.config.studies import known_studies, study_files
from workflow.settings.config import known_scales
from workflow.settings.questions import known_questions, load_question
from workflow.tasks.spec import TASKS

QUESTIONS = [load_question(name) for name in known_questions()]
NAMES = {
    "papers": known_studies(),
    "scales": known_scales(),
    "questions": known_questions(),
    "corpora": {corpus for question in QUESTIONS for corpus in question.corpora},
    "tasks": TASKS,
}


def listed(tree: ast.AST) -> Iterator[set[str]]:
    """Yield the words of each literal collection, and the names of the fields of each class."""
    for node in ast.walk(tree):
        words = getattr(node, "elts", getattr(node, "keys", ()))
        yield {each.value for each in words if isinstance(each, ast.Constant)}
        if isinstance(node, ast.ClassDef):
            yield {each.target.id for each in node.body if isinstance(each, ast.AnnAssign)}


def test_no_code_lists_what_there_is_a_file_for():
    for path in (ROOT / "workflow").rglob("*.py"):
        for words in listed(ast.parse(path.read_text())):
            for kind, names in NAMES.items():
                assert len(words.intersection(names)) < 2, (path, kind)


def test_no_code_and_no_template_names_a_paper():
    papers = [paper for paper, study in studies().items() if study.authors]
    quoted = [mark + paper for mark in ("'", '"', "papers/") for paper in papers]
    for pattern in ("**/*.py", "rules/*.smk", "report/templates/*.*"):
        for path in (ROOT / "workflow").glob(pattern):
            text = path.read_text()
            assert not [words for words in quoted if words in text], path


@pytest.mark.parametrize("kind", ["tables", "figures"])
def test_every_artefact_is_asked_for_by_a_question_and_none_is_missing(kind):
    asked = {name for question in QUESTIONS for name in getattr(question, kind)}
    assert set(study_files(kind)) == asked
