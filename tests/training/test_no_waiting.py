"""A training step on a GPU never makes Python wait for it: every choice of every axis, every task.

On the CPU, tensors that lie elsewhere stand in for a GPU's (tests/_elsewhere.py).
"""

import pytest
import torch

from models.attention.layers import CHOICES
from models.kernels.compiled import build
from tests._elsewhere import DEVICE, Elsewhere, NoWaiting, Numbers, stand_in
from tests._jobs import VARIANTS, bitext, corpus, job, symbols, translation
from tests.tasks.test_symbols import corpus as reversed_symbols
from workflow.tasks.spec import TASKS, load
from workflow.training.backends import chosen, prepare
from workflow.training.loop import add_gradients
from workflow.training.run import Run

STEPS = 3
DATA = {"char_lm": corpus(length=800), "translation": bitext(80), "symbols": reversed_symbols()}
SHORT = {"steps": STEPS, "evaluate_every": STEPS, "checkpoint_every": STEPS}
NETS = {"transformer_xl": VARIANTS["transformer_xl"]["net"]}


def variant(axis: str, name: str) -> dict:
    choice = {"name": name, **CHOICES[axis][name].example}
    return {axis: choice, "net": NETS.get(name, {})}


def jobs() -> dict:
    made = {}
    for axis, choices in CHOICES.items():
        for name in choices:
            made[f"{axis} {name}"] = job(**variant(axis, name), **SHORT)
    made["translation"] = translation(**SHORT)
    made["symbols"] = symbols(**SHORT)
    return made


JOBS = jobs()


@pytest.fixture(autouse=True)
def a_gpu(monkeypatch):
    stand_in(monkeypatch)


def started(name: str, folder) -> Run:
    small = JOBS[name]
    run = Run(small, load(TASKS[small.task].runner), DATA[small.task], folder, DEVICE)
    prepare(run.model, "auto", DEVICE, torch.float32)
    return run


def step(run: Run) -> None:
    loss = add_gradients(run.model, run.task.losses(run.model))
    run.optimiser.step()
    run.optimiser.forget_gradients()
    run.model.after_step()
    run.log_loss(loss)


@pytest.mark.parametrize("name", JOBS)
def test_a_step_does_not_wait_for_the_device(name, tmp_path):
    with build.without(), Numbers():
        run = started(name, tmp_path)
        run.model.train()
        step(run)  # the first one reads how far spans reach
        with NoWaiting() as counted:
            step(run)
    assert counted.counts
    if run.job.task == "char_lm":
        why, *used = chosen(run.model)
        assert why.startswith("definition: ") and "fit into memory" in why
        assert all(line.split(" (")[0].endswith("definition") for line in used)


LONG = ["span sinks", "selection top_k", "normaliser sparsemax", "position rotary"]


@pytest.mark.parametrize("name", LONG)
def test_a_step_in_chunks_does_not_wait_either(name, tmp_path, monkeypatch):
    """On a GPU whose memory does not hold all scores."""
    stand_in(monkeypatch, memory=1 << 10)
    with build.without(), Numbers():
        run = started(name, tmp_path)
        run.model.train()
        step(run)
        with NoWaiting():
            step(run)
    why, *used = chosen(run.model)
    assert why.startswith("chunks: ")
    assert all(line.split(" (")[0].endswith("chunks") for line in used)


# Operators of a step of six layers with dropout. Each is one kernel or more; 170 are products of
# matrices. The aim is 250.
BUDGET = {
    "span fixed": 577,
    "span adaptive": 853,
    "selection top_k": 871,
    "normaliser sparsemax": 1939,
}


@pytest.mark.parametrize("name", BUDGET)
def test_a_step_has_no_more_operators_than_today(name, tmp_path):
    small = JOBS[name]
    net = small.net.model_copy(update={"layers": 6})
    six = small.model_copy(update={"net": net})
    with build.without(), Numbers():
        run = Run(six, load(TASKS[six.task].runner), DATA[six.task], tmp_path, DEVICE)
        prepare(run.model, "auto", DEVICE, torch.float32)
        run.model.train()
        step(run)
        step(run)
        with NoWaiting() as counted:
            step(run)
    assert counted.counts.total() <= BUDGET[name], counted.counts.most_common(12)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("name", JOBS)
def test_cuda_reports_no_waiting_in_a_step(name, tmp_path):
    small = JOBS[name]
    cuda = torch.device("cuda")
    run = Run(small, load(TASKS[small.task].runner), DATA[small.task], tmp_path, cuda)
    prepare(run.model, "auto", cuda, torch.float32)
    run.model.train()
    step(run)
    torch.cuda.set_sync_debug_mode("error")
    try:
        step(run)
    finally:
        torch.cuda.set_sync_debug_mode("default")


def test_what_waits_is_refused():
    with Numbers(), NoWaiting():
        there = Elsewhere(torch.ones(3))
        for waiting in (there.sum().item, there.nonzero, there.cpu, lambda: there[there > 0]):
            with pytest.raises(RuntimeError, match="waits for the device"):
                waiting()
        assert torch.ones(3).to(DEVICE, non_blocking=True) is not None
