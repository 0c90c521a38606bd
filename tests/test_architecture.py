"""Who may import whom, and how long things may get."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from workflow.cli import schemas

ROOT = Path(__file__).parent.parent
CODE = [
    path for folder in ("models", "workflow", "tests", "benchmarks") for path in sorted((ROOT / folder).rglob("*.py"))
]
RULES = [ROOT / "Snakefile", *sorted((ROOT / "workflow" / "rules").glob("*.smk"))]
KERNELS = "models/kernels"
TORCHLESS = tuple(f"workflow/{name}" for name in ("tables", "figures", "pages", "claims", "sets", "outlook"))
TORCHLESS_FILES = (
    "choices",
    "closed",
    "place",
    "traces",
    "settings",
    "jobs",
    "plan",
    "dag",
    "records",
    "frame",
    "published",
    "measure/formulas",
    "measure/__init__",
)


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def under(path: Path, folder: str) -> bool:
    return path.relative_to(ROOT).as_posix().startswith(folder + "/")


@pytest.mark.parametrize("path", [path for path in CODE if under(path, "models")], ids=str)
def test_models_import_torch_and_models_alone(path):
    pure = {"bisect", "collections", "contextlib", "dataclasses", "functools", "math", "threading", "typing"}
    pure |= {"sys"} if path.name == "engine.py" else set()  # the largest whole number
    allowed = {"torch", "models", *pure} | ({"triton"} if under(path, KERNELS) else set())
    assert {name.split(".")[0] for name in imports(path)} <= allowed


@pytest.mark.parametrize("path", [path for path in CODE if under(path, KERNELS)], ids=str)
def test_kernels_know_no_other_models(path):
    assert all(name.startswith(KERNELS.replace("/", ".")) for name in imports(path) if name.startswith("models"))


@pytest.mark.parametrize("path", [path for path in CODE if any(under(path, folder) for folder in TORCHLESS)], ids=str)
def test_tables_figures_and_pages_know_no_torch_and_no_models(path):
    assert not {"torch", "models"} & {name.split(".")[0] for name in imports(path)}


def test_what_a_dry_run_and_the_pages_import_does_not_import_torch():
    modules = [f"workflow.{name.replace('/', '.').removesuffix('.__init__')}" for name in TORCHLESS_FILES]
    modules += [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for folder in TORCHLESS
        for path in (ROOT / folder).glob("*.py")
    ]
    code = f"import sys, importlib; [importlib.import_module(m) for m in {modules!r}]; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.name)
def test_rules_import_the_map_of_the_config_alone(path):
    lines = [line.strip() for line in path.read_text().splitlines() if line.strip().startswith(("import ", "from "))]
    allowed = (
        "snakemake.logging",
        "workflow.config.choices",
        "workflow.plan.targets",
        "workflow.config.environment",
        "os",
        "workflow.config.files",
        "workflow.monitor.progress",
        "pathlib",
    )
    assert all(line.split()[1] in allowed for line in lines)


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.name)
def test_rules_are_short_and_only_declare(path):
    rules = re.findall(r"^rule .*?(?=^\S|\Z)", path.read_text(), re.MULTILINE | re.DOTALL)
    assert rules and all(len([line for line in rule.splitlines() if line.strip()]) <= 18 for rule in rules)
    assert "    run:" not in path.read_text()


@pytest.mark.parametrize("path", CODE, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_files_and_functions_are_short(path):
    lines = path.read_text().splitlines()
    assert len(lines) <= (300 if under(path, "tests") else 200)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            assert node.end_lineno - node.lineno < 40, node.name


@pytest.mark.parametrize("folder", ["tables", "figures"])
def test_every_artefact_is_asked_for_by_an_ablation_and_none_is_missing(folder):
    from workflow.plan.ablations import known_ablations, load_ablation

    made = {path.stem for path in (ROOT / "workflow" / folder).glob("*.py") if not path.stem.startswith("_")} - {
        "analytic"
    }
    assert made == {name for key in known_ablations() for name in getattr(load_ablation(key), folder)}


@pytest.mark.parametrize("name", schemas.MODELS)
def test_schemas_are_what_the_models_say_and_closed(name):
    written = (schemas.HERE / f"{name}.json").read_text()
    assert written == schemas.text(name), "run python -m workflow.cli.schemas"
    made = json.loads(written)
    objects = [one for one in (made, *made.get("$defs", {}).values()) if "properties" in one]
    assert objects and all(one["additionalProperties"] is False for one in objects)
