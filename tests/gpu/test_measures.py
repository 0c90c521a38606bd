"""What is measured on a GPU, with stand-ins for its counters, clock and limits."""

import json
from contextlib import suppress
from types import SimpleNamespace

import pytest
import torch

from tests._jobs import VARIANTS, job
from tests._training import CPU, write_job, write_weights
from workflow.cli import profile
from workflow.costs import configuration, engine_facts, fresh_process, layer_kinds, memory
from workflow.costs.synchronise import synchronise
from workflow.costs.trained_net import build_net
from workflow.plan.scales import Engine
from workflow.scripts import costs, engine, layers, longest_span

CUDA = torch.device("cuda")
SIZES = Engine(layers=1, d_model=8, heads=2, d_ff=8, block=4, batch=1, lengths=[8, 9], far=8, threads=1, rounds=1)
MEASURE = {"passes": 1, "seconds": 0.01, "memory_mb": 64, "longest_S": 24, "predict_batch": 1, "layer_width": 4}


@pytest.fixture
def cuda(monkeypatch):
    """Calls of torch.cuda, kept in order; the counters tell what is said here."""
    calls, told = [], {"max_memory_allocated": 7, "max_memory_reserved": 9}

    def stand_in(name):
        return lambda *given: calls.append((name, *given)) or told.get(name)

    for name in (*told, "reset_peak_memory_stats", "synchronize", "set_per_process_memory_fraction"):
        monkeypatch.setattr(torch.cuda, name, stand_in(name))
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: SimpleNamespace(total_memory=1000))
    return calls


def test_memory_is_what_cudas_allocator_counts(cuda):
    assert (memory.peak_bytes(CUDA), memory.reserved_bytes(CUDA), memory.reserved_bytes(CPU)) == (7, 9, None)
    memory.reset_peak(CUDA)
    assert cuda[-1] == ("reset_peak_memory_stats", CUDA)
    assert memory.peak_bytes(CPU) > 1 << 20 and len(cuda) == 3  # a CPU's asks no GPU


def test_the_memory_of_a_step_is_counted_from_nothing_and_after_the_net_is_there(cuda):
    """Unlike a CPU's resident set, the allocator's count holds no libraries."""

    def make():
        cuda.append("the net is loaded")
        return lambda: cuda.append("step"), 1

    assert fresh_process.peak_memory(make, CUDA, 1, budget=500) == {"bytes": 7, "reserved": 9}
    names = [each if isinstance(each, str) else each[0] for each in cuda]
    at = names.index("the net is loaded")
    assert names[at - 1 : at + 5] == [
        "set_per_process_memory_fraction",
        "the net is loaded",
        "reset_peak_memory_stats",
        "step",
        "step",
        "max_memory_allocated",
    ]


@pytest.mark.parametrize("budget, share", [(250, 0.25), (5000, 1.0)])
def test_a_budget_is_a_share_of_the_gpu(budget, share, cuda):
    fresh_process._limit_memory_above(budget, CUDA)
    assert cuda == [("set_per_process_memory_fraction", share)]


def test_a_timing_ends_when_the_gpu_has_ended(cuda):
    synchronise(CPU)
    assert not cuda
    synchronise(CUDA)
    rounds = layer_kinds.turn(lambda: cuda.append("work"), 0.0, CUDA)
    assert cuda[1:] == [each for _ in range(2 + len(rounds)) for each in ("work", ("synchronize", CUDA))]


def test_the_kernel_is_checked_before_anything_is_timed_on_a_gpu(monkeypatch):
    checked = []
    monkeypatch.setattr(engine_facts, "CHECKED", [])
    monkeypatch.setattr(engine_facts, "net_of", lambda *given: "a net")
    monkeypatch.setattr(engine_facts, "prepare", lambda *given: checked.append(given))
    assert engine_facts.gate(CUDA)["status"] == "ok"
    assert checked == [("a net", "triton", CUDA, torch.bfloat16)]
    assert engine_facts.profiles(SIZES, CUDA) == engine_facts.parallel(CUDA) == []  # of a CPU alone


class _Touched(Exception):
    """A script asks for its device."""


def _words(script, folder) -> list[str]:
    """Of a small measurement on whatever device there is."""
    if script is engine:
        return [str(folder / "engine.json"), "--sizes", SIZES.model_dump_json()]
    if script is layers:
        return [str(folder / "layers.json"), "--measure", json.dumps(MEASURE | {"layer_lengths": [4, 5]})]
    small = job(**VARIANTS["fixed"])
    weights = str(write_weights(small, folder / "run", build_net(small, CPU, 7).state_dict()))
    if script is costs:
        return [weights, "--flops", str(folder / "flops.json"), "--memory", str(folder / "memory.json")]
    return [weights, str(folder / "longest_span.json"), "--measure", json.dumps(MEASURE)]


@pytest.mark.parametrize("script", [costs, engine, layers, longest_span], ids=lambda each: each.__name__)
def test_what_forks_has_not_asked_for_a_gpu_before(script, tmp_path, monkeypatch):
    """A process that has asked CUDA for anything cannot use it in a fork."""
    asked, forked = [], []

    def available() -> bool:
        asked.append(True)
        raise _Touched

    def fork(work, *given, **settings) -> dict:
        forked.append(bool(asked))
        return {"status": "ok", "reason": None, "bytes": 1}

    monkeypatch.setattr(torch.cuda, "is_available", available)
    for module in (script, configuration):
        monkeypatch.setattr(module, "in_fresh_process", fork, raising=False)
    with suppress(_Touched):
        script.main(_words(script, tmp_path))
    assert forked and not any(forked)
    assert asked or script in (costs, longest_span)  # whose own process computes nothing on a GPU


def test_a_trace_shows_the_gpus_own_work(monkeypatch):
    seen = {}

    class Profiler:
        def __init__(self, **settings):
            seen.update(settings)

        __enter__ = lambda self: self  # noqa: E731
        __exit__ = lambda self, *error: None  # noqa: E731

    def train(check):
        raise profile._Enough

    monkeypatch.setattr(profile, "profile", Profiler)
    for device, kinds in ((CPU, ["CPU"]), (CUDA, ["CPU", "CUDA"])):
        profile.trace_steps(SimpleNamespace(device=device, train=train, step=0), 1)
        assert [kind.name for kind in seen["activities"]] == kinds


@pytest.mark.parametrize("device, order", [(CPU, "self_cpu_time_total"), (CUDA, "self_device_time_total")])
def test_operators_are_sorted_by_their_time_on_the_gpu(device, order, monkeypatch, tmp_path):
    table = SimpleNamespace(table=lambda sort_by, **settings: sort_by)
    profiler = SimpleNamespace(export_chrome_trace=lambda path: open(path, "w").close(), key_averages=lambda: table)
    said = []
    stand_ins = {"trace_steps": lambda *given: profiler, "pick_device": lambda name: device, "print": said.append}
    stand_ins |= {"prepare": lambda *given: None, "name_layers": lambda net: None}
    stand_ins |= {
        "Run": lambda *given: SimpleNamespace(net=None),
        "load": lambda name: SimpleNamespace(read=lambda path: None),
    }
    for name, value in stand_ins.items():
        monkeypatch.setattr(profile, name, value, raising=False)
    (tmp_path / "data.npz").touch()
    path = write_job(job(), tmp_path / "run")
    profile.main([str(path), str(tmp_path / "trace.json.gz"), "--data", str(tmp_path / "data.npz")])
    assert said[0] == order
