"""Which files a number depends on: read from imports, alternatives only where a job names them."""

import ast
from pathlib import Path

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


def choices_in(files) -> set[str]:
    folders = {f"models/attention/{folder}/" for folder in AXES.values()}
    return {
        file
        for file in files
        if any(file.startswith(folder) for folder in folders) and "/_" not in file
    }


@pytest.mark.parametrize("name", JOBS)
def test_a_run_depends_on_its_own_choices_its_task_the_engine_and_the_loop(name):
    attention = JOBS[name].attention
    own = {
        f"models/attention/{folder}/{getattr(attention, axis)['name']}.py"
        for axis, folder in AXES.items()
    }
    files = sources.of_run(JOBS[name])
    assert choices_in(files) == own
    shared = {
        "models/attention/formula.py",
        "models/attention/engine/engine.py",
        "workflow/training/loop.py",
    }
    shared |= {
        "workflow/training/optimisers.py",
        "workflow/scripts/train.py",
        f"models/nets/{JOBS[name].net.name}.py",
    }
    assert shared | {f"workflow/tasks/{JOBS[name].task}/runner.py"} <= files


def test_helpers_of_a_choice_come_with_it():
    assert "models/attention/spans/_ramp.py" in sources.of_run(JOBS["adaptive"])
    assert "models/attention/spans/_ramp.py" not in sources.of_run(JOBS["fixed"])
    assert "models/attention/normalisers/_sparse.py" in sources.of_run(JOBS["sparsemax"])


def test_no_run_depends_on_pages_tables_or_other_tasks():
    for name, each in JOBS.items():
        files = sources.of_run(each)
        assert not [
            file
            for file in files
            if file.startswith(("workflow/report", "workflow/plan", "workflow/results"))
        ]
        others = tuple(f"workflow/tasks/{other}/" for other in TASKS if other != each.task)
        assert not [file for file in files if file.startswith(others)], name


def test_registries_name_things_and_compute_nothing():
    """They are not counted among the sources, so nothing that a number depends on may stand in
    them.
    """
    for path in [
        *(ROOT / "models").rglob("__init__.py"),
        *(ROOT / "workflow" / "tasks").rglob("__init__.py"),
    ]:
        nodes = ast.parse(path.read_text()).body
        allowed = ast.Import | ast.ImportFrom | ast.Assign | ast.AugAssign | ast.Expr
        assert all(isinstance(node, allowed) or _is_schema(node) for node in nodes), path


def _is_schema(node: ast.stmt) -> bool:
    """The model of a section of a job, or what refuses one."""
    models = ("Model", "Job", "Net", "Training", "Evaluation")
    if isinstance(node, ast.ClassDef):
        return all(ast.unparse(base).endswith(models) for base in node.bases)
    return isinstance(node, ast.FunctionDef) and node.name.startswith("refuse_")


def test_a_question_depends_on_its_own_builders_alone():
    files = sources.of_report("question", "studies/adaptive_span/tables/adaptive_span_table1.py")
    ours = {Path(file).name for file in files if file.startswith("studies/")}
    assert (
        ours == {"adaptive_span_table1.py", "_models.py"}
        and "workflow/report/tables/cells.py" in files
    )


def test_claims_are_judged_again_where_a_claim_or_the_title_of_a_text_has_changed(
    tmp_path, monkeypatch
):
    """The own claims, and by other results; a claim about one question leaves those about others
    alone.
    """

    def digests() -> dict[str, str]:
        code = Code(runs=None)
        return {name: code.of_question(name) for name in ("adaptive_vs_xl", "top_k")} | {
            "evidence": code.of_evidence()
        }

    def change(place: str) -> set[str]:
        """What is made again once a line is added to a file."""
        before, file = digests(), tmp_path / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text((ROOT / place).read_text() + "# another\n")
        forget()
        after = digests()
        return {name for name in before if before[name] != after[name]}

    monkeypatch.chdir(tmp_path)
    assert change("config/tasks/char_lm.yaml") == {"adaptive_vs_xl", "top_k", "evidence"}
    assert change("studies/explicit_sparse/claims/top_k_helps_xl.yaml") == {"top_k", "evidence"}
