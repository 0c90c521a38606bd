"""Who may import whom, and that functions fit a screen."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from workflow.cli import schemas

ROOT = Path(__file__).parent.parent
FOLDERS = ("studies", "models", "workflow", "tests", "benchmarks")
CODE = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
RULES = [
    ROOT / "Snakefile",
    ROOT / "workflow" / "Snakefile",
    *sorted((ROOT / "workflow" / "rules").glob("*.smk")),
]
KERNELS = "models/kernels"
# Each room may import those before it. What starts things, scripts and commands, is imported by
# nobody.
ROOMS = [
    "config",
    "training",
    "tasks",
    "results",
    "settings",
    "claims",
    "plan",
    "costs",
    "report",
]
TORCHLESS = ("config", "results", "settings", "claims", "plan", "report")


def imports(path: Path) -> set[str]:
    modules = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            here = path.relative_to(ROOT).parts[: -node.level] if node.level else ()
            module = ".".join([*here, *([node.module] if node.module else [])])
            modules |= {module, *(f"{module}.{alias.name}" for alias in node.names)}
    return modules


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def under(*folders: str) -> list[Path]:
    return [
        path for path in CODE if name(path).startswith(tuple(f"{folder}/" for folder in folders))
    ]


def rooms_of(modules: set[str]) -> set[str]:
    """The rooms of the workflow that they belong to."""
    return {module.split(".")[1] for module in modules if module.startswith("workflow.")}


@pytest.mark.parametrize("path", under("models"), ids=name)
def test_models_import_torch_and_models_alone(path):
    pure = {
        "collections",
        "contextlib",
        "dataclasses",
        "functools",
        "importlib",
        "itertools",
        "math",
        "pkgutil",
    }
    builds = {"ctypes", "hashlib", "os", "pathlib", "platform", "shlex", "shutil", "subprocess"}
    builds |= {"tempfile", "threading"}
    # what may be left out of a package of its own
    files = {"models/weights.py": {"json", "pathlib", "safetensors"}}
    allowed = {"torch", "models", "typing", *pure} | (
        {"triton", *builds} if path in under(KERNELS) else set()
    )
    allowed |= files.get(name(path), set())
    assert {module.split(".")[0] for module in imports(path)} <= allowed


@pytest.mark.parametrize("path", under(KERNELS), ids=name)
def test_kernels_know_no_other_models(path):
    own = KERNELS.replace("/", ".")
    assert all(module.startswith(own) for module in imports(path) if module.startswith("models"))


@pytest.mark.parametrize("path", under("models/attention/engine"), ids=name)
def test_the_engine_knows_the_axes_and_no_net(path):
    assert not [module for module in imports(path) if module.startswith("models.nets")]


@pytest.mark.parametrize("module", ["formula", "variant", "choice"])
def test_the_definition_knows_the_axes_and_nothing_that_it_checks(module):
    """The oracle of every test imports neither the engine, nor a kernel, nor a layer."""
    axes = ("choice", "variant", "spans._span", "positions._position")
    modules = tuple(f"models.attention.{each}" for each in axes)
    known = imports(ROOT / "models" / "attention" / f"{module}.py")
    assert all(each.startswith(modules) for each in known if each.startswith("models."))


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_import_the_rooms_before_them(room):
    """So there is no circle."""
    before = {*ROOMS[: ROOMS.index(room) + 1], "workflow"}
    for path in under(f"workflow/{room}"):
        assert rooms_of(imports(path)) <= before, name(path)


def test_what_a_task_says_of_itself_stands_on_config_alone():
    tasks = ROOT / "workflow" / "tasks"
    for path in [
        tasks / "spec.py",
        tasks / "task.py",
        *tasks.glob("*/__init__.py"),
        *tasks.glob("*/catalogue.py"),
    ]:
        assert rooms_of(imports(path)) <= {"config", "tasks"}, name(path)


@pytest.mark.parametrize("room", TORCHLESS)
def test_plan_records_and_pages_know_no_torch_and_no_models(room):
    for path in under(f"workflow/{room}"):
        assert not {"torch", "models"} & {module.split(".")[0] for module in imports(path)}, name(
            path
        )


def test_what_a_dry_run_and_the_pages_import_does_not_import_torch():
    files = [path for room in TORCHLESS for path in under(f"workflow/{room}")]
    modules = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in files
    ]
    code = f"import sys, importlib; [importlib.import_module(m) for m in {modules!r}]; "
    code += "sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


def test_a_dry_run_imports_neither_pandas_nor_matplotlib():
    code = "import sys, workflow.plan.targets; "
    code += "sys.exit(bool({'pandas', 'matplotlib', 'torch'} & {*sys.modules}))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


@pytest.mark.parametrize("path", RULES, ids=name)
def test_rules_import_the_plan(path):
    lines = [
        line.strip()
        for line in path.read_text().splitlines()
        if line.strip().startswith(("import ", "from "))
    ]
    allowed = (
        "os",
        "sys",
        "functools",
        "pathlib",
        "snakemake.utils",
        "workflow.config",
        "workflow.plan",
    )
    assert all(line.split()[1].startswith(allowed) for line in lines)


@pytest.mark.parametrize("kind", ["tables", "figures"])
def test_every_artefact_is_asked_for_by_a_question_and_none_is_missing(kind):
    from workflow.config.studies import study_files
    from workflow.settings.questions import known_questions, load_question

    assert set(study_files(kind)) == {
        each for key in known_questions() for each in getattr(load_question(key), kind)
    }


@pytest.mark.parametrize("name", schemas.MODELS)
def test_schemas_are_closed(name, capsys):
    schemas.main([name])
    schema = json.loads(capsys.readouterr().out)
    objects = [each for each in (schema, *schema.get("$defs", {}).values()) if "properties" in each]
    assert objects and all(each["additionalProperties"] is False for each in objects)


def test_every_key_of_the_config_is_explained_and_has_a_schema():
    from workflow.settings.config import Config

    text = (ROOT / "config" / "README.md").read_text()
    section = text[text.index("## config.yaml") : text.index("## studies/")]
    assert set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) == set(Config.model_fields)


def test_the_layout_is_what_the_workflow_catalogue_expects():
    for place in (
        "workflow/Snakefile",
        "config/config.yaml",
        "config/README.md",
        ".snakemake-workflow-catalog.yml",
    ):
        assert (ROOT / place).is_file(), place
    assert (ROOT / "README.md").is_file() and (ROOT / "LICENSE").is_file()


def test_the_glossary_has_every_word_once():
    words = re.findall(
        r"^\| ([^|]+) \|", (ROOT / "docs" / "glossary.md").read_text(), re.MULTILINE
    )[2:]
    assert words == sorted(words, key=str.lower) and len(words) == len(set(words)) > 40


@pytest.mark.parametrize("path", under("workflow/scripts", "workflow/cli"), ids=name)
def test_a_script_runs_once_all_of_it_is_defined(path):
    """What stands below `run(main)` is not there yet when it is run as `python -m`."""
    body = ast.parse(path.read_text()).body
    assert not [
        node
        for node in body[:-1]
        if isinstance(node, ast.If) and "__main__" in ast.unparse(node.test)
    ]
