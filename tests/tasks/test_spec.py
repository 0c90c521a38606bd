"""Every task is complete: what its TaskSpec names can be loaded and is registered; and no task imports another."""

import ast
import inspect
import subprocess
import sys

import pytest

from tests.tasks._texts import ROOT
from workflow.results.record import Point
from workflow.results.registry import REGISTRY
from workflow.tasks.spec import TASKS, load

each_task = pytest.mark.parametrize("spec", TASKS.values(), ids=TASKS)
METHODS = ("read", "losses", "after_step", "validate", "evaluate", "in_unit", "state_dict", "load_state_dict")


@each_task
def test_what_a_task_names_can_be_loaded_and_called(spec):
    runner, costs = load(spec.runner), load(spec.costs)
    assert all(callable(getattr(runner, method)) for method in METHODS)
    assert runner.__module__ == f"workflow.tasks.{spec.name}.runner"
    work = (costs.training_step, costs.prediction, costs.evaluation, costs.count)
    assert all(list(inspect.signature(function).parameters)[:3] == ["job", "net", "device"] for function in work)
    assert callable(load(spec.write_corpus))


@each_task
def test_what_is_shown_of_a_task_is_registered_for_it(spec):
    for name, _, _ in (*spec.columns, *spec.score_columns):
        assert spec.name in REGISTRY[name].tasks, name
    assert REGISTRY[spec.headline[0]].source == "metric"
    assert len(spec.examples) in (0, 3)


@each_task
def test_points_of_the_curve_have_the_unit_of_the_task(spec):
    unit = spec.curve[0]
    assert load(spec.runner).unit == unit
    assert {f"train_{unit}", f"dev_{unit}"} <= set(Point.model_fields) & set(REGISTRY)


HEAVY = {"torch", "numpy", "sympy", "pooch", "babel", "num2words", "sentencepiece", "nltk", "PIL"}


@pytest.mark.parametrize(
    "task, name",
    [("char_lm", "sources"), ("translation", "multi30k-ende"), ("captioning", "scenes"), ("parsing", "statements")],
)
def test_a_catalogue_imports_nothing_heavy(task, name):
    command = f"from workflow.plan.scales import load_corpora as l; l('{task}').checksum('{name}')"
    code = f"import sys; {command}; print(*sys.modules)"
    process = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not HEAVY & set(process.stdout.split())


def test_no_task_imports_another():
    """What two of them need stands beside their folders."""
    for task in TASKS:
        for path in (ROOT / "workflow" / "tasks" / task).glob("*.py"):
            nodes = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
            imported = {node.module.split(".")[2] for node in nodes if node.module.startswith("workflow.tasks.")}
            assert not imported & ({*TASKS} - {task}), path
