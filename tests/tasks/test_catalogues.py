"""What the catalogues of all kinds share: a dry run reads them, so they import little; and who imports whom."""

import ast
import subprocess
import sys

import pytest

from tests.tasks._texts import ROOT

HEAVY = {"torch", "numpy", "sympy", "pooch", "babel", "num2words", "sentencepiece", "nltk", "PIL"}
DATA = ROOT / "workflow" / "data"
PACKAGES = {
    "npz": set(),
    "sources": set(),
    "text": {"npz", "sources"},
    "pairs": {"npz", "sources"},
    "captions": {"npz", "sources", "pairs"},
    "trees": {"npz", "sources", "pairs", "text"},
}


@pytest.mark.parametrize(
    "task, name",
    [("char_lm", "sources"), ("translation", "multi30k-ende"), ("captioning", "scenes"), ("parsing", "statements")],
)
def test_a_catalogue_imports_nothing_heavy(task, name):
    command = f"from workflow.plan.scales import load_corpora as l; l('{task}').checksum('{name}')"
    code = f"import sys; {command}; print(*sys.modules)"
    process = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not HEAVY & set(process.stdout.split())


@pytest.mark.parametrize("path", sorted(DATA.rglob("*.py")), ids=lambda path: path.relative_to(DATA).as_posix())
def test_the_kinds_of_data_import_each_other_in_one_direction(path):
    package = path.relative_to(DATA).parts[0].removesuffix(".py")
    modules = {node.module for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)}
    packages = {module.split(".")[2] for module in modules if module.startswith("workflow.data.")}
    assert packages <= PACKAGES.get(package, set()) | {package}
    assert all(module.startswith(("workflow.data.", "workflow.config.")) for module in modules if "workflow" in module)
