"""Which functions do something else on a GPU, as their source says."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
ROOMS = ("models", "workflow", "benchmarks")
DEVICES = ("cuda", "cpu", "nccl", "nvidia-smi")
GPU_ONLY = ("triton", "models.kernels.banded", "models.kernels.tuning")


def branches() -> list[str]:
    """`path::function`, or `path` for what stands outside functions."""
    return [name for room in ROOMS for path in sorted((ROOT / room).rglob("*.py")) for name in _of_file(path)]


def _of_file(path: Path) -> Iterator[str]:
    place, body = path.relative_to(ROOT).as_posix(), ast.parse(path.read_text()).body
    methods = [each for node in body if isinstance(node, ast.ClassDef) for each in node.body]
    for node in (node for node in (*body, *methods) if isinstance(node, ast.FunctionDef)):
        if knows_gpu(node):
            yield f"{place}::{node.name}"
    if any(knows_gpu(node) for node in body if isinstance(node, ast.Import | ast.ImportFrom)):
        yield place


def knows_gpu(tree: ast.AST) -> bool:
    """Whether it calls CUDA, asks for the kind of a device, or imports what only a GPU runs."""
    return any(_says_gpu(node) for node in ast.walk(tree))


def _says_gpu(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in ("cuda", "CUDA", "is_cuda")
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        return any(isinstance(side, ast.Constant) and side.value in DEVICES for side in sides)
    if isinstance(node, ast.Constant):
        return node.value in ("cuda", "nvidia-smi")
    if isinstance(node, ast.Import | ast.ImportFrom):
        module = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names = [*module, *(f"{module[0]}.{each.name}" if module else each.name for each in node.names)]
        return any(name == kind or name.startswith(f"{kind}.") for name in names for kind in GPU_ONLY)
    return False
