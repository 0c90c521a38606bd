"""docs/gpu.md names every function that does something else on a GPU, each with a test that is
there.
"""

import ast
import re

from tests._copied import ROOT

ROOMS = ("models", "workflow")
DEVICES = ("cuda", "cpu", "nccl", "nvidia-smi")
MOST = 20
ROW = re.compile(r"^\| `([\w/.]+::\w+)` \|[^|]*\| (.*) \|$", re.MULTILINE)
TEST = re.compile(r"`(tests/[\w/.]+)::(\w+)`")


def branches() -> list[str]:
    """List `path::function` of all that ask for the kind of a device or call CUDA."""
    found = []
    for path in (path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))):
        body = ast.parse(path.read_text()).body
        methods = [each for node in body if isinstance(node, ast.ClassDef) for each in node.body]
        functions = [node for node in (*body, *methods) if isinstance(node, ast.FunctionDef)]
        named = [each.name for each in functions if any(map(says_gpu, ast.walk(each)))]
        found += [f"{path.relative_to(ROOT).as_posix()}::{name}" for name in named]
    return found


def says_gpu(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in ("cuda", "CUDA", "is_cuda")
    if isinstance(node, ast.Compare):
        return any(
            isinstance(side, ast.Constant) and side.value in DEVICES
            for side in (node.left, *node.comparators)
        )
    return isinstance(node, ast.Constant) and node.value in ("cuda", "nvidia-smi")


def test_the_page_lists_all_and_each_has_a_test_that_is_there():
    listed = dict(ROW.findall((ROOT / "docs" / "gpu.md").read_text()))
    assert sorted(listed) == sorted(branches()) and len(listed) <= MOST
    for name, cell in listed.items():
        tests = TEST.findall(cell)
        assert tests, name
        for place, function in tests:
            assert f"def {function}(" in (ROOT / place).read_text(), f"{name}: {place}::{function}"
