"""Who may import whom."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests._copied import ROOT

# Each room may import those before it; nobody imports scripts and commands.
ROOMS = ["config", "training", "tasks", "results"]
ROOMS += ["settings", "claims", "plan", "costs", "cards", "report"]
WITH_TORCH = {"training", "tasks", "costs"}
ATTENTION = "models/attention"
BASES = ("spans._span", "positions._position", "score_scales._score_scale")
AXES = ("choice", "variant", *BASES)
DEFINITION = tuple(f"models.attention.{name}" for name in AXES)
OURS = ("models", "workflow", "studies", "tests", "benchmarks")


def imports(path: Path) -> set[str]:
    """Read the names that a module imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            prefix = ""
        elif isinstance(node, ast.ImportFrom):
            prefix = module_of(node, path) + "."
        else:
            continue
        for alias in node.names:
            found.add(prefix + alias.name)
    return found


def module_of(node: ast.ImportFrom, path: Path) -> str:
    """Name the module that `from` names; dots count from the file's folder."""
    parts = []
    if node.level:
        here = path.relative_to(ROOT)
        parts += here.parts[: -node.level]
    if node.module:
        parts.append(node.module)
    return ".".join(parts)


def packages(path: Path) -> set[str]:
    found = set()
    for name in imports(path):
        package, _, _ = name.partition(".")
        found.add(package)
    return found


def under(folder: str) -> list[Path]:
    found = (ROOT / folder).rglob("*.py")
    return sorted(found)


def foreign(path: Path, allowed: tuple[str, ...]) -> set[str]:
    """Return what a module imports of ours that does not start with one of these."""
    found = set()
    for name in imports(path):
        is_ours = name.startswith(OURS)
        if is_ours and not name.startswith(allowed):
            found.add(name)
    return found


@pytest.mark.parametrize(
    "place, allowed",
    [
        ("models", ("models.",)),
        ("models/kernels", ("models.kernels",)),
        (f"{ATTENTION}/engine", ("models.attention", "models.kernels")),
        # the oracle of every test knows nothing that it checks
        (f"{ATTENTION}/formula.py", DEFINITION),
        (f"{ATTENTION}/variant.py", DEFINITION),
        (f"{ATTENTION}/choice.py", DEFINITION),
    ],
)
def test_models_import_models_alone_and_the_definition_only_the_choices(place, allowed):
    paths = [ROOT / place] if place.endswith(".py") else under(place)
    assert paths
    for path in paths:
        assert not foreign(path, allowed), path


def test_models_need_no_package_but_torch():
    """And triton in kernels, and safetensors to share weights."""
    allowed = {*sys.stdlib_module_names, "models", "torch", "triton", "safetensors"}
    for path in under("models"):
        assert packages(path) <= allowed, path


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_import_the_rooms_before_them(room):
    """So there is no circle; and plan, records, claims and pages know no torch and no models."""
    before = ROOMS[: ROOMS.index(room) + 1]
    allowed = tuple(f"workflow.{each}." for each in before)
    if room in WITH_TORCH:
        allowed += ("models.",)
    for path in under(f"workflow/{room}"):
        assert not foreign(path, allowed), path
        if room not in WITH_TORCH:
            assert "torch" not in packages(path), path


def run_python(code: str) -> None:
    command = [sys.executable, "-c", code]
    subprocess.run(command, cwd=ROOT, check=True)


def test_a_dry_run_imports_neither_torch_nor_pandas_nor_matplotlib():
    heavy = "{'pandas', 'matplotlib', 'torch'} & {*sys.modules}"
    code = f"import sys, workflow.plan.targets; sys.exit(bool({heavy}))"
    run_python(code)


def test_the_pages_do_not_import_torch():
    modules = []
    for room in set(ROOMS) - WITH_TORCH:
        for path in under(f"workflow/{room}"):
            name = path.relative_to(ROOT).with_suffix("")
            modules.append(".".join(name.parts))
    code = f"import sys, importlib; [importlib.import_module(m) for m in {modules!r}]; "
    code += "sys.exit('torch' in sys.modules)"
    run_python(code)


def test_rules_import_the_plan_alone():
    allowed = ("workflow.config", "workflow.plan")
    paths = [ROOT / "workflow" / "Snakefile", *ROOT.glob("workflow/rules/*.smk")]
    for path in paths:
        for line in path.read_text().splitlines():
            if line.startswith(("import workflow", "from workflow")):
                _, module, *_ = line.split()
                assert module.startswith(allowed), path
