"""Training in 16 bits, as a GPU does where a scale says bf16: autocast of the CPU stands in for the
GPU's.
"""

from functools import partial

import pytest
import torch

from models.kernels.compiled import build
from tests._jobs import VARIANTS, corpus, parsing
from tests._training import CPU
from tests.tasks.test_parsing import trees
from tests.training.test_elsewhere import SHORT, short
from workflow.tasks import batches, sequences
from workflow.tasks.char_lm import runner as char_lm
from workflow.tasks.char_lm import streams
from workflow.tasks.spec import TASKS, load
from workflow.training import hardware as bits
from workflow.training import loop
from workflow.training.backends import prepare
from workflow.training.run import Run

GPU = torch.device("cuda")


@pytest.fixture
def sixteen_bits(monkeypatch):
    """Give on the CPU what `precision` gives on a GPU; not compiled for these numbers."""
    autocast = partial(torch.autocast, "cpu")
    on_gpu = lambda training, device: bits.precision(training, GPU)  # noqa: E731
    monkeypatch.setattr(torch, "autocast", lambda device, dtype: autocast(dtype))
    for module in (char_lm, batches, sequences, streams):
        monkeypatch.setattr(module, "precision", on_gpu)
    torch.set_num_threads(1)


def score(job, text, folder, backend: str) -> float:
    """Train a job; return its last score on the training text."""
    run = Run(job, load(TASKS[job.task].runner), text, folder, CPU)
    prepare(run.model, backend, CPU, torch.float32)
    with build.without():
        loop.train(run)
        run.task.evaluate(run.model)
    assert all(parameter.dtype == torch.float32 for parameter in run.model.parameters())
    return run.curve[-1][TASKS[job.task].curve.losses[0]]


@pytest.mark.parametrize("name", VARIANTS)
def test_every_choice_trains_in_16_bits(name, tmp_path, sixteen_bits):
    """Near the numbers of 32, forward and backward."""
    in_32, text = short(VARIANTS[name]), corpus(length=800)
    in_16 = in_32.model_copy(
        update={"training": in_32.training.model_copy(update={"precision": "bf16"})}
    )
    ours, oracle = (score(each, text, tmp_path, "band") for each in (in_16, in_32))
    assert ours == pytest.approx(oracle, rel=0.02) and ours != oracle


@pytest.mark.parametrize("normaliser", ["softmax", "entmax_alpha"])
def test_sentences_train_in_16_bits(normaliser, tmp_path, sixteen_bits):
    small = parsing(
        normaliser={"name": normaliser},
        selection={"name": "top_k", "k": 2},
        precision="bf16",
        **SHORT,
    )
    few = small.evaluation.model_copy(update={"batch": 1, "sentences": 1})
    assert score(small.model_copy(update={"evaluation": few}), trees(60), tmp_path, "auto") > 1


def test_bf16_is_asked_for_on_a_gpu_alone():
    assert bits.number_type("bf16", GPU) == torch.bfloat16
    assert bits.number_type("bf16", CPU) == torch.float32
    assert bits.number_type("fp32", GPU) == torch.float32
