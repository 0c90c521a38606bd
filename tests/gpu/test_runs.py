"""What a run does on a GPU, with stand-ins for what torch.cuda says and takes."""

from functools import partial
from types import SimpleNamespace
from unittest.mock import Mock, call

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

pytest.importorskip("triton", reason="triton has no build for this platform")

from models.kernels import banded, tuning
from tests._jobs import job
from tests._training import origin
from workflow.config.errors import ConfigError
from workflow.plan.sources import recorded
from workflow.results.record import read_record
from workflow.scripts import train
from workflow.settings import config
from workflow.settings.config import Config
from workflow.training import processes
from workflow.training.hardware import pick_device
from workflow.training.origin import describe
from workflow.training.processes import refuse_too_many

CPU = torch.device("cpu")
CUDA = torch.device("cuda")


def test_a_gpu_is_taken_where_there_is_one(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert pick_device("auto") == pick_device("cuda") == CUDA
    assert pick_device("cpu") == CPU
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert pick_device("auto") == CPU
    with pytest.raises(ConfigError, match="auto, cpu"):
        pick_device("cuda")


def test_a_record_names_the_gpu_its_driver_and_16_bits_and_promises_no_bits(monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "NVIDIA H100 80GB HBM3")
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    found = describe(CUDA, "bf16", recorded([]))
    assert found["device"] == "NVIDIA H100 80GB HBM3"
    assert found["driver"] == "CUDA 13.0"
    assert found["precision"] == "bf16"
    assert not found["deterministic"]
    found = describe(CPU, "bf16", recorded([]))
    assert found["precision"] == "fp32"
    assert found["deterministic"]


@pytest.mark.parametrize(
    "device, taken, backend", [(CUDA, [call(3)], "cpu:gloo,cuda:nccl"), (CPU, [], "gloo")]
)
def test_each_process_takes_a_gpu_of_its_own_and_there_are_enough(
    device, taken, backend, monkeypatch
):
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "run")
    monkeypatch.setenv("LOCAL_RANK", "3")
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "4")
    take, distributed = Mock(), Mock()
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    monkeypatch.setattr(torch.cuda, "set_device", take)
    monkeypatch.setattr(torch, "distributed", distributed)
    with processes.join_devices(device) as joined:
        assert joined.count == distributed.get_world_size()
    assert take.mock_calls == taken
    assert distributed.init_process_group.call_args.args == (backend,)
    refuse_too_many(64, CPU)
    with pytest.raises(ConfigError, match="5 .* 4 GPUs"):
        refuse_too_many(5, CUDA)


@pytest.mark.parametrize("device, limits", [(CPU, 1), (CUDA, 0)])
def test_the_memory_of_the_host_is_limited_on_a_cpu_alone(device, limits, monkeypatch, tmp_path):
    """CUDA maps more addresses than the machine has memory."""
    limit = Mock()
    task = SimpleNamespace(read=lambda path: SimpleNamespace(checksum="sha256:toy"))
    monkeypatch.setattr(train, "limit_memory", limit)
    monkeypatch.setattr(train, "load_task", lambda *_: task)
    monkeypatch.setattr(train, "describe", lambda *_: origin().model_dump())
    monkeypatch.setattr(train, "Run", Mock(side_effect=ZeroDivisionError))
    train.train(job(), tmp_path / "data", tmp_path, device)
    assert read_record(tmp_path / "record.json").status == "error"
    assert limit.call_count == limits


@pytest.mark.parametrize("driver, gpus", [("/usr/bin/nvidia-smi", [1, 1, 0]), (None, [0, 1, 0])])
def test_a_plan_asks_for_a_gpu_where_the_driver_lists_one(driver, gpus, monkeypatch):
    monkeypatch.setattr(config.shutil, "which", lambda name: driver)
    assert [Config(device=name).gpus for name in ("auto", "cuda", "cpu")] == gpus


def test_a_tile_is_timed_by_the_gpus_own_clock_and_the_first_round_is_left_out(monkeypatch):
    rounds = iter([100.0, 5.0, 1.0, 2.0, 4.0, 3.0])
    clock = [0.0]
    waits = Mock()

    class Event:
        """An event on a GPU on which the n-th piece of work takes rounds[n] milliseconds."""

        synchronize = waits

        def record(self) -> None:
            self.at = clock[-1]

        def elapsed_time(self, end) -> float:
            return end.at - self.at

    monkeypatch.setattr(torch.cuda, "Event", lambda enable_timing: Event())
    assert tuning.milliseconds(lambda: clock.append(clock[-1] + next(rounds))) == 3.0
    assert waits.call_count == tuning.ROUNDS


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_on_a_gpu_the_tile_is_the_fastest_for_the_work_at_hand(direction, monkeypatch):
    with FakeTensorMode():
        empty = partial(torch.empty, device="cuda", dtype=torch.bfloat16)
        # queries, two that are not read, values, relative positions
        inputs = [empty(2, 4, 100, 24), empty(()), empty(()), empty(2, 4, 300, 40), empty(200, 24)]
    forward = Mock(return_value=("y", "lse"))
    backward = Mock()
    fastest = Mock(side_effect=lambda work, dtype, run: run("a tile"))
    monkeypatch.setattr(banded, "_forward", forward)
    monkeypatch.setattr(banded, "_backward", backward)
    monkeypatch.setattr(tuning, "fastest", fastest)
    banded._fastest(inputs, (), 0.0, direction == "backward")
    assert forward.called
    assert backward.called == (direction == "backward")
    work = f"cuda bfloat16: dk 24, dv 40, reach <= 256, T <= 128, {direction}"
    assert fastest.call_args.args[:2] == (work, torch.bfloat16)
