"""Which files a number depends on: read from imports, alternatives only where a job names them."""

import ast

import pytest

from tests._copied import ROOT
from tests._jobs import VARIANTS, captioning, job, parsing, translation
from tests.refused._kind import forget
from workflow.config.choices import AXES
from workflow.plan import sources
from workflow.plan.targets import Code
from workflow.tasks.spec import TASKS

JOBS = {name: job(**changes) for name, changes in VARIANTS.items()}
JOBS |= {"translation": translation(), "captioning": captioning(), "parsing": parsing()}
SHARED = {
    "models/attention/formula.py",
    "models/attention/engine/engine.py",
    "workflow/training/loop.py",
    "workflow/training/optimisers.py",
    "workflow/scripts/train.py",
}
SCHEMAS = ("Model", "Job", "Net", "Training", "Evaluation")


def choices_in(files) -> set[str]:
    folders = tuple(f"models/attention/{folder}/" for folder in AXES.values())
    return {file for file in files if file.startswith(folders) and "/_" not in file}


@pytest.mark.parametrize("name", JOBS)
def test_a_run_depends_on_its_choices_its_task_the_engine_and_the_loop_and_on_no_page(name):
    asked = JOBS[name]
    files = sources.of_run(asked)
    own = set()
    for axis, folder in AXES.items():
        choice = getattr(asked.attention, axis)["name"]
        own.add(f"models/attention/{folder}/{choice}.py")
    assert choices_in(files) == own
    assert SHARED | {f"models/nets/{asked.net.name}.py"} <= files
    assert f"workflow/tasks/{asked.task}/runner.py" in files
    apart = [f"workflow/{room}" for room in ("report", "plan", "results")]
    apart += [f"workflow/tasks/{task}/" for task in TASKS if task != asked.task]
    assert not [file for file in files if file.startswith(tuple(apart))]


def is_schema(node: ast.stmt) -> bool:
    """The model of a section of a job, or what refuses one."""
    if isinstance(node, ast.ClassDef):
        return all(ast.unparse(base).endswith(SCHEMAS) for base in node.bases)
    return isinstance(node, ast.FunctionDef) and node.name.startswith("refuse_")


def test_packages_name_things_and_compute_nothing():
    """They are not counted among the sources, so no number may depend on them."""
    allowed = ast.Import | ast.ImportFrom | ast.Assign | ast.AugAssign | ast.Expr
    for folder in ("models", "workflow/tasks"):
        for path in (ROOT / folder).rglob("__init__.py"):
            nodes = ast.parse(path.read_text()).body
            assert all(isinstance(node, allowed) or is_schema(node) for node in nodes), path


def test_a_question_depends_on_its_own_builders_alone():
    files = sources.of_report("question", "studies/adaptive_span/tables/adaptive_span_table1.py")
    ours = {file.rpartition("/")[2] for file in files if file.startswith("studies/")}
    assert ours == {"adaptive_span_table1.py", "_models.py"}
    assert "workflow/report/tables/cells.py" in files


@pytest.mark.parametrize(
    "place, changed",
    [
        ("config/tasks/char_lm.yaml", {"adaptive_vs_xl", "top_k", "evidence"}),
        ("studies/explicit_sparse/claims/top_k_helps_xl.yaml", {"top_k", "evidence"}),
    ],
)
def test_claims_are_judged_again_where_a_claim_or_the_title_of_a_corpus_has_changed(
    place, changed, tmp_path, monkeypatch
):
    def digests() -> dict[str, str]:
        code = Code(runs=None, shared=None)
        found = {name: code.of_question(name) for name in ("adaptive_vs_xl", "top_k")}
        return found | {"evidence": code.of_evidence()}

    monkeypatch.chdir(tmp_path)
    before = digests()
    (tmp_path / place).parent.mkdir(parents=True)
    (tmp_path / place).write_text((ROOT / place).read_text() + "# another\n")
    forget()
    after = digests()
    assert {name for name in before if before[name] != after[name]} == changed
