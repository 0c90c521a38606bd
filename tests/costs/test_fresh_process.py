"""Peak memory in a process of its own: what counts, and what does not."""

import resource
from unittest.mock import Mock

import pytest
import torch

from tests._training import CPU
from workflow.costs.fresh_process import in_fresh_process, peak_memory

MB = 1 << 20


def ones(megabytes: int) -> torch.Tensor:
    return torch.ones(megabytes << 18)


def measure(megabytes: int, loaded: int = 0, budget: int | None = None) -> dict:
    """Measure a step that keeps so many MB each time, of a model of `loaded` MB."""
    kept = []

    def step() -> None:
        kept.append(ones(megabytes))

    def make():
        kept.append(ones(loaded))
        ones(loaded)  # the file's copy, gone when the model is built
        return step, 1

    return peak_memory(make, CPU, 1, budget=budget)


@pytest.fixture(autouse=True)
def freed():
    """Keep what is freed, as a process that has run many tests does.

    A tensor of its child could lie in it.
    """
    above = []
    for _ in range(4):  # each time the allocator asks the system for less and keeps more
        blocks = [ones(1) for _ in range(256)]
        above.append(torch.ones(1 << 14))  # what lies above in the heap holds it up
        del blocks
    yield
    above.clear()


def test_memory_is_what_steps_and_model_hold_above_the_libraries():
    small = in_fresh_process(measure, 64)["bytes"]
    large = in_fresh_process(measure, 128)["bytes"]
    # two steps, each keeps its tensor
    assert large - small == pytest.approx(2 * 64 * MB, rel=0.1)
    # what loading took does not count
    model = in_fresh_process(measure, 0, 64)["bytes"]
    assert model == pytest.approx(64 * MB, rel=0.1)


def test_out_of_memory_is_a_status():
    assert in_fresh_process(measure, 4096, 0, 64 * MB)["status"] == "oom"


def test_a_budget_holds_where_the_system_refuses_a_limit(monkeypatch):
    """So the search for the longest span ends there too."""
    monkeypatch.setattr(resource, "setrlimit", Mock(side_effect=ValueError("exceeds the limit")))
    beyond = in_fresh_process(measure, 64, 0, 32 * MB)
    assert beyond["status"] == "oom"
    assert "33,554,432" in beyond["reason"]
    assert in_fresh_process(measure, 16, 0, 64 * MB)["status"] == "ok"


def test_a_counter_that_cannot_be_set_back_is_a_reason_and_no_wrong_number(monkeypatch):
    """As in a sandbox: what was held before would count in place of what is measured."""
    refused = PermissionError(13, "Permission denied", "clear_refs")
    monkeypatch.setattr("builtins.open", Mock(side_effect=refused))
    told = in_fresh_process(measure, 16)
    assert told["status"] == "error"
    assert "'clear_refs'" in told["reason"]
