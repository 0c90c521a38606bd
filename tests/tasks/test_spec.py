"""Every task is complete: what its TaskSpec names can be loaded and is registered; and no task
imports another.
"""

import ast
import inspect
import subprocess
import sys
from dataclasses import replace

import pytest

from tests.tasks._texts import ROOT
from workflow.config.errors import ConfigError
from workflow.plan.config import load_config
from workflow.plan.plan import plan
from workflow.results.record import Point
from workflow.results.registry import REGISTRY
from workflow.tasks.spec import TASKS, load
from workflow.training.run import ASKED

each_task = pytest.mark.parametrize("spec", TASKS.values(), ids=TASKS)


@each_task
def test_what_a_task_names_can_be_loaded_and_called(spec):
    runner, costs = load(spec.runner), load(spec.costs)
    assert all(callable(getattr(runner, method)) for method in ASKED)
    assert runner.__module__ == f"workflow.tasks.{spec.name}.runner"
    work = (costs.training_step, costs.prediction, costs.evaluation, costs.count)
    assert all(
        list(inspect.signature(function).parameters)[:3] == ["job", "net", "device"]
        for function in work
    )
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


@pytest.mark.parametrize(
    "changes, line",
    [
        (
            {"headline": ("test_f2",)},
            "unknown name in headline .* 'test_f2': did you mean 'test_f1'",
        ),
        (
            {"headline": ("mean_span",)},
            "headline: 'mean_span' is a fact; the first is the task's score",
        ),
        ({"scores": ("dev_f1", "dev_nats")}, "unknown name in scores .* 'dev_nats'"),
        ({"curve": ("nats", "nats per piece", "linear")}, "unknown name in curve .* 'train_nats'"),
        (
            {"curve": ("ppl", "perplexity", "logarithmic")},
            "unknown scale of the axis in curve 'logarithmic'",
        ),
        ({"examples": ("sentence",)}, "examples: expected three titles of columns, got 1"),
    ],
)
def test_a_name_that_a_specification_does_not_explain_is_refused_where_it_stands(changes, line):
    with pytest.raises(ConfigError, match=line):
        replace(TASKS["parsing"], **changes)


@pytest.mark.parametrize(
    "changes, line",
    [
        (
            {"runner": "workflow.tasks.parsing.runner:ParsingTsak"},
            "lacks 'ParsingTsak': did you mean 'ParsingTask'",
        ),
        (
            {"write_corpus": "workflow.tasks.parsing.dta:write"},
            "there is no workflow/tasks/parsing/dta.py",
        ),
        ({"costs": "workflow.costs.timing"}, "workflow.costs.timing lacks 'training_step'"),
    ],
)
def test_code_that_a_task_names_is_there_when_the_plan_is_made(changes, line, monkeypatch):
    monkeypatch.setitem(TASKS, "parsing", replace(TASKS["parsing"], **changes))
    with pytest.raises(
        ConfigError, match=f"^.*workflow/tasks/parsing/__init__.py: {[*changes][0]} = .*{line}"
    ):
        plan(load_config({"scale": "smoke", "tasks": ["parsing"]}))


HEAVY = {"torch", "numpy", "sympy", "pooch", "babel", "num2words", "sentencepiece", "nltk", "PIL"}


@pytest.mark.parametrize(
    "task, name",
    [
        ("char_lm", "sources"),
        ("translation", "multi30k-ende"),
        ("captioning", "scenes"),
        ("parsing", "statements"),
    ],
)
def test_a_catalogue_imports_nothing_heavy(task, name):
    command = f"from workflow.plan.scales import load_corpora as l; l('{task}').checksum('{name}')"
    code = f"import sys; {command}; print(*sys.modules)"
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert not HEAVY & set(process.stdout.split())


def test_no_task_imports_another():
    """What two of them need stands beside their folders."""
    for task in TASKS:
        for path in (ROOT / "workflow" / "tasks" / task).glob("*.py"):
            nodes = [
                node
                for node in ast.walk(ast.parse(path.read_text()))
                if isinstance(node, ast.ImportFrom)
            ]
            imported = {
                node.module.split(".")[2]
                for node in nodes
                if node.module.startswith("workflow.tasks.")
            }
            assert not imported & ({*TASKS} - {task}), path
