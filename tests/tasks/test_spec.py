"""Every task is complete: what its TaskSpec names can be loaded, and what it shows is registered for it."""

import inspect

import pytest

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
