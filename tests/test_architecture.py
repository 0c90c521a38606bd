"""Who may import whom."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests._copied import ROOT

# Each room may import those before it; nobody imports scripts and commands.
ROOMS = ["config", "training", "tasks", "results"]
ROOMS += ["settings", "claims", "plan", "costs", "report"]
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
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            here = path.relative_to(ROOT).parts[: -node.level] if node.level else ()
            module = ".".join([*here, node.module or ""]).strip(".")
            found |= {f"{module}.{alias.name}" for alias in node.names}
    return found


def under(*folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def foreign(path: Path, allowed: tuple[str, ...]) -> set[str]:
    """Return what a module imports of ours that does not start with one of these."""
    return {
        each for each in imports(path) if each.startswith(OURS) and not each.startswith(allowed)
    }


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
    assert {path: foreign(path, allowed) for path in paths if foreign(path, allowed)} == {}


def test_models_need_no_package_but_torch():
    """And triton in kernels, and safetensors to share weights."""
    allowed = {*sys.stdlib_module_names, "models", "torch", "triton", "safetensors"}
    for path in under("models"):
        assert {name.partition(".")[0] for name in imports(path)} <= allowed, path


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_import_the_rooms_before_them(room):
    """So there is no circle; and plan, records, claims and pages know no torch and no models."""
    before = ROOMS[: ROOMS.index(room) + 1]
    allowed = tuple(f"workflow.{each}." for each in before)
    if room in WITH_TORCH:
        allowed += ("models.",)
    for path in under(f"workflow/{room}"):
        assert not foreign(path, allowed), path
        packages = {name.partition(".")[0] for name in imports(path)}
        assert room in WITH_TORCH or "torch" not in packages, path


def test_a_dry_run_imports_neither_torch_nor_pandas_nor_matplotlib():
    heavy = "{'pandas', 'matplotlib', 'torch'} & {*sys.modules}"
    code = f"import sys, workflow.plan.targets; sys.exit(bool({heavy}))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


def test_the_pages_do_not_import_torch():
    modules = []
    for room in set(ROOMS) - WITH_TORCH:
        for path in under(f"workflow/{room}"):
            modules.append(".".join(path.relative_to(ROOT).with_suffix("").parts))
    code = f"import sys, importlib; [importlib.import_module(m) for m in {modules!r}]; "
    code += "sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


def test_rules_import_the_plan_alone():
    for path in [ROOT / "workflow" / "Snakefile", *ROOT.glob("workflow/rules/*.smk")]:
        for line in path.read_text().splitlines():
            if line.startswith(("import workflow", "from workflow")):
                assert line.split()[1].startswith(("workflow.config", "workflow.plan")), path
