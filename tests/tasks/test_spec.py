"""Every task is complete: what its TaskSpec names can be loaded; a plan imports nothing heavy."""

import inspect
import subprocess
import sys
from dataclasses import replace

import pytest

from tests._copied import ROOT
from workflow.config.errors import ConfigError
from workflow.plan.plan import plan
from workflow.results.record import Point
from workflow.results.registry import REGISTRY
from workflow.settings.config import load_setup
from workflow.tasks.quantities import Metric
from workflow.tasks.spec import TASKS, load
from workflow.tasks.task import COST_FUNCTIONS, CostModule, Curve
from workflow.training.run import ASKED


def arguments(function) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name != "self"]


@pytest.mark.parametrize("spec", TASKS.values(), ids=TASKS)
def test_what_a_task_names_can_be_loaded_and_is_registered(spec):
    runner = load(spec.runner)
    costs = load(spec.costs)
    assert callable(load(spec.write_corpus))
    assert all(callable(getattr(runner, method)) for method in ASKED)
    for name in COST_FUNCTIONS:
        declared = getattr(CostModule, name)
        assert arguments(getattr(costs, name)) == arguments(declared), name
    for column in (*spec.columns, *spec.score_columns):
        assert spec.name in REGISTRY[column.quantity].tasks
    assert {*spec.curve.losses} <= Point.model_fields.keys()
    assert {*spec.curve.columns} <= Point.model_fields.keys()


NATS = Metric("nats", "nats", better="lower", splits=("train",))


@pytest.mark.parametrize(
    "changes, name",
    [
        ({"headline": ("test_f2",)}, "test_f1"),
        ({"headline": ("mean_span",)}, "mean_span"),
        ({"scores": ("dev_f1", "dev_nats")}, "dev_nats"),
        ({"curve": Curve(NATS, "nats per piece")}, "dev_nats"),
    ],
)
def test_a_name_that_a_task_does_not_declare_is_refused(changes, name):
    (field,) = changes
    with pytest.raises(ConfigError, match=f"{field}.*'{name}'"):
        replace(TASKS["parsing"], **changes)


@pytest.mark.parametrize(
    "field, dotted, name",
    [
        ("runner", "workflow.tasks.parsing.runner:ParsingTsak", "ParsingTask"),
        ("write_corpus", "workflow.tasks.parsing.dta:write", "workflow/tasks/parsing/dta.py"),
        ("costs", "workflow.costs.timing", "training_step"),
    ],
)
def test_code_that_a_task_names_exists_when_the_plan_is_made(field, dotted, name, monkeypatch):
    spec = replace(TASKS["parsing"], **{field: dotted})
    monkeypatch.setitem(TASKS, "parsing", spec)
    with pytest.raises(ConfigError, match=f"{field} = '{dotted}'.*{name}"):
        plan(load_setup({"scale": "smoke", "tasks": ["parsing"]}))


HEAVY = {"torch", "pandas", "sympy", "pooch", "babel", "num2words", "sentencepiece", "nltk", "PIL"}
CHECKSUMS = """
import sys
from workflow.tasks.spec import load_corpora
for task in sys.argv[1:]:
    catalogue = load_corpora(task)
    catalogue.checksum(next(iter(catalogue.entries)))
print(*sys.modules)
"""


def test_catalogues_import_nothing_heavy():
    """A plan asks each for a checksum."""
    command = [sys.executable, "-c", CHECKSUMS, *TASKS]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert not HEAVY & set(process.stdout.split())
