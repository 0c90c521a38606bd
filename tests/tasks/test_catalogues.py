"""What the tasks share: a dry run reads their catalogues, so they import little; and none imports another."""

import ast
import subprocess
import sys

import pytest

from tests.tasks._texts import ROOT
from workflow.tasks.spec import TASKS

HEAVY = {"torch", "numpy", "sympy", "pooch", "babel", "num2words", "sentencepiece", "nltk", "PIL"}


@pytest.mark.parametrize(
    "task, name",
    [("char_lm", "sources"), ("translation", "multi30k-ende"), ("captioning", "scenes"), ("parsing", "statements")],
)
def test_a_catalogue_imports_nothing_heavy(task, name):
    command = f"from workflow.plan.scales import load_corpora as l; l('{task}').checksum('{name}')"
    code = f"import sys; {command}; print(*sys.modules)"
    process = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not HEAVY & set(process.stdout.split())


def test_no_task_imports_another():
    """What two of them need stands beside their folders."""
    for task in TASKS:
        for path in (ROOT / "workflow" / "tasks" / task).glob("*.py"):
            nodes = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
            imported = {node.module.split(".")[2] for node in nodes if node.module.startswith("workflow.tasks.")}
            assert not imported & ({*TASKS} - {task}), path
