"""The clock, the memory counter, the limit and the random numbers of a GPU, with stand-ins for what
torch.cuda says.
"""

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
MEASURE = {
    "passes": 1,
    "seconds": 0.01,
    "memory_mb": 64,
    "longest_S": 24,
    "layer_width": 4,
    "layer_lengths": [4, 5],
}


@pytest.fixture
def cuda(monkeypatch):
    """Keep the calls of torch.cuda in their order; its counters say what is told here."""
    calls, told = [], {"max_memory_allocated": 7, "max_memory_reserved": 9}

    def stand_in(name):
        return lambda *given: calls.append(name) or told.get(name)

    for name in (
        *told,
        "reset_peak_memory_stats",
        "synchronize",
        "set_per_process_memory_fraction",
    ):
        monkeypatch.setattr(torch.cuda, name, stand_in(name))
    monkeypatch.setattr(
        torch.cuda, "get_device_properties", lambda device: SimpleNamespace(total_memory=1000)
    )
    return calls


def test_memory_is_what_cudas_allocator_counts_and_a_cpu_asks_no_gpu(cuda):
    assert (hardware.peak_bytes(CUDA), hardware.reserved_bytes(CUDA)) == (7, 9)
    hardware.reset_peak(CUDA)
    asked = ["max_memory_allocated", "max_memory_reserved", "reset_peak_memory_stats"]
    assert cuda == asked
    assert hardware.peak_bytes(CPU) > 1 << 20
    assert hardware.reserved_bytes(CPU) is None
    assert cuda == asked


def test_the_memory_of_a_step_is_limited_and_counted_once_the_net_is_there(cuda):
    make = lambda: (cuda.append("the net is loaded"), (lambda: cuda.append("step"), 1))[1]  # noqa: E731
    assert fresh_process.peak_memory(make, CUDA, 1, budget=500) == {"bytes": 0, "reserved": 9}
    before = ["reset_peak_memory_stats", "max_memory_allocated", "set_per_process_memory_fraction"]
    after = ["the net is loaded", "reset_peak_memory_stats", "step", "step", "max_memory_allocated"]
    assert cuda == [*before, *after, "max_memory_reserved"]


@pytest.mark.parametrize("budget, share", [(250, 0.25), (5000, 1.0)])
def test_a_budget_is_a_share_of_the_gpu(budget, share, cuda, monkeypatch):
    monkeypatch.setattr(torch.cuda, "set_per_process_memory_fraction", limit := Mock())
    hardware.limit_more_memory(budget, CUDA)
    limit.assert_called_once_with(share)


def test_a_timing_begins_and_ends_when_the_gpu_has_done_what_it_was_given(cuda):
    timing.seconds_of(lambda: cuda.append("work"), CPU)
    timing.seconds_of(lambda: cuda.append("work"), CUDA)
    assert cuda == ["work", "synchronize", "work", "synchronize"]


def test_the_gpus_random_numbers_go_on_after_an_interruption(monkeypatch):
    its_own = torch.Generator().manual_seed(1)  # of a CPU, in place of the GPU's
    monkeypatch.setattr(torch.cuda, "default_generators", (its_own,))
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)

    def draw() -> tuple[torch.Tensor, torch.Tensor]:
        return torch.rand(3), torch.rand(3, generator=its_own)

    saved = checkpoint.random_states(ALONE, CUDA)
    assert set(saved) == {"cpu", "cuda"}
    assert set(checkpoint.random_states(ALONE, CPU)) == {"cpu"}
    on_cpu, on_gpu = draw()
    checkpoint.restore_random_states(saved, ALONE, CUDA, 1)
    assert all(map(torch.equal, (on_cpu, on_gpu), draw()))
    checkpoint.restore_random_states({"cpu": saved["cpu"]}, ALONE, CUDA, 1)  # begun on a CPU
    again_on_cpu, again_on_gpu = draw()
    assert torch.equal(again_on_cpu, on_cpu)
    assert not torch.equal(again_on_gpu, on_gpu)


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
    weights = str(write_weights(job(**VARIANTS["fixed"]), tmp_path / "run", state))
    out = str(tmp_path / "out.json")
    measure = ["--measure", json.dumps(MEASURE)]
    words = {
        costs: [weights, "--flops", out, "--memory", out],
        layers: [out, *measure],
        longest_span: [weights, out, *measure],
    }
    with suppress(ZeroDivisionError):
        script.main(words[script])
    assert forked and not any(forked)
    # the others compute nothing on a GPU in their own process
    assert asked.called or script is not layers
