"""Clock, memory and random numbers of a GPU, with stand-ins for what torch.cuda says."""

import json
from contextlib import suppress
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
import torch

from tests._jobs import VARIANTS, job
from tests._training import CPU, write_weights
from workflow.costs import fresh_process, timing
from workflow.costs.trained_net import build_model
from workflow.scripts import costs, layers, longest_span
from workflow.training import checkpoint, hardware
from workflow.training.processes import ALONE

CUDA = torch.device("cuda")
COUNTERS = {"max_memory_allocated": 7, "max_memory_reserved": 9}
CALLS = (*COUNTERS, "reset_peak_memory_stats", "synchronize", "set_per_process_memory_fraction")


@pytest.fixture
def cuda(monkeypatch):
    """Keep the calls of torch.cuda in their order."""
    calls = []

    def stand_in(name):
        return lambda *given: calls.append(name) or COUNTERS.get(name)

    for name in CALLS:
        monkeypatch.setattr(torch.cuda, name, stand_in(name))
    properties = SimpleNamespace(total_memory=1000)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: properties)
    return calls


def test_memory_is_what_cudas_allocator_counts_and_a_cpu_asks_no_gpu(cuda):
    assert hardware.peak_bytes(CPU) > 1 << 20
    assert hardware.reserved_bytes(CPU) is None
    assert cuda == []
    assert hardware.peak_bytes(CUDA) == 7
    assert hardware.reserved_bytes(CUDA) == 9


@pytest.mark.parametrize("budget, share", [(250, 0.25), (5000, 1.0)])
def test_a_budget_is_a_share_of_the_gpu(budget, share, cuda, monkeypatch):
    limit = Mock()
    monkeypatch.setattr(torch.cuda, "set_per_process_memory_fraction", limit)
    hardware.limit_more_memory(budget, CUDA)
    limit.assert_called_once_with(share)


def test_the_gpus_random_numbers_go_on_after_an_interruption(monkeypatch):
    on_gpu = torch.Generator().manual_seed(1)  # of a CPU, in place of the GPU's
    monkeypatch.setattr(torch.cuda, "default_generators", (on_gpu,))
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)

    def draw() -> list[float]:
        ours = torch.rand(1)
        theirs = torch.rand(1, generator=on_gpu)
        return [ours.item(), theirs.item()]

    saved = checkpoint.random_states(ALONE, CUDA)
    first = draw()
    checkpoint.restore_random_states(saved, ALONE, CUDA, 1)
    assert draw() == first
    begun_on_a_cpu = {"cpu": saved["cpu"]}
    checkpoint.restore_random_states(begun_on_a_cpu, ALONE, CUDA, 1)
    again = draw()
    assert again[0] == first[0]
    assert again[1] != first[1]


SMALL = {"passes": 1, "seconds": 0.01, "memory_mb": 64}
SMALL |= {"longest_S": 24, "layer_width": 4, "layer_lengths": [4, 5]}
MEASURE = ["--measure", json.dumps(SMALL)]


@pytest.mark.parametrize("script", [costs, layers, longest_span], ids=lambda each: each.__name__)
def test_what_forks_has_not_asked_for_a_gpu_before(script, tmp_path, monkeypatch):
    """A process that has asked CUDA for anything cannot use it in a fork."""
    asked = Mock(side_effect=ZeroDivisionError)
    forked = []

    def fork(work, *given, **settings) -> dict:
        forked.append(asked.called)
        return {"status": "ok", "reason": None, "bytes": 1}

    monkeypatch.setattr(torch.cuda, "is_available", asked)
    monkeypatch.setattr(script, "in_fresh_process", fork)
    state = build_model(job(), CPU, 7).state_dict()
    small = job(**VARIANTS["fixed"])
    weights = str(write_weights(small, tmp_path / "run", state))
    out = str(tmp_path / "out.json")
    words = {
        costs: [weights, "--flops", out, "--memory", out],
        layers: [out, *MEASURE],
        longest_span: [weights, out, *MEASURE],
    }
    with suppress(ZeroDivisionError):
        script.main(words[script])
    assert forked
    assert not any(forked)


def test_the_memory_of_a_step_is_limited_and_counted_once_the_model_is_loaded(cuda):
    def make():
        cuda.append("load")
        return lambda: cuda.append("step"), 1

    found = fresh_process.peak_memory(make, CUDA, 1, budget=500)
    assert found == {"bytes": 0, "reserved": 9}
    before = ["reset_peak_memory_stats", "max_memory_allocated", "set_per_process_memory_fraction"]
    step = ["load", "reset_peak_memory_stats", "step", "step"]
    assert cuda == [*before, *step, "max_memory_allocated", "max_memory_reserved"]


def test_a_timing_begins_and_ends_when_the_gpu_has_done_what_it_was_given(cuda):
    timing.seconds_of(lambda: cuda.append("work"), CPU)
    timing.seconds_of(lambda: cuda.append("work"), CUDA)
    assert cuda == ["work", "synchronize", "work", "synchronize"]
