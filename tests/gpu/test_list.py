"""docs/gpu.md names every function that does something else on a GPU, each with a test that is there."""

import ast
import re

from tests._gpu_branches import ROOT, branches, knows_gpu

ROW = re.compile(r"^\| `([\w/.:]+)` \|[^|]*\| (.*) \|$", re.MULTILINE)
TEST = re.compile(r"`(tests/[\w/.]+)(?:::(\w+))?`")


def listed() -> dict[str, str]:
    """Function -> the cell with its tests."""
    return dict(ROW.findall((ROOT / "docs" / "gpu.md").read_text()))


def test_the_page_lists_all_and_nothing_that_is_gone():
    assert sorted(listed()) == sorted(branches())


def test_every_function_on_the_page_has_a_test_that_is_there():
    for name, cell in listed().items():
        tests = TEST.findall(cell)
        assert tests, name
        for place, function in tests:
            tree = ast.parse((ROOT / place).read_text())
            named = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
            assert not function or function in named, f"{name}: {place}::{function}"


def test_a_branch_is_seen():
    for source in ("if device.type == 'cuda': pass", "torch.cuda.synchronize()", "import triton.language", "f('cuda')"):
        assert knows_gpu(ast.parse(source)), source
    for source in ("if name == 'cudas': pass", "import torch", "device.type"):
        assert not knows_gpu(ast.parse(source)), source
