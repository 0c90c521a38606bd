"""Training in 16 bits, as a GPU does where a scale says bf16, with the CPU's autocast."""

from collections import Counter
from functools import partial

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from models.kernels.compiled import build
from tests._jobs import VARIANTS, corpus, parsing
from tests._training import CPU
from tests.tasks.test_parsing import trees
from tests.training.test_elsewhere import SENTENCES, scored_on_one, short
from workflow.tasks import batches, sequences
from workflow.tasks.char_lm import runner as char_lm
from workflow.tasks.char_lm import streams
from workflow.tasks.spec import TASKS, load
from workflow.training import hardware as bits
from workflow.training import loop
from workflow.training.backends import prepare
from workflow.training.run import Run

SPARSE = {"normaliser": {"name": "entmax_alpha"}, "selection": {"name": "top_k", "k": 2}}
TEXT = corpus(length=800)
JOBS = {name: (short(VARIANTS[name]), TEXT) for name in VARIANTS}
JOBS["sentences"] = (scored_on_one(parsing(**SPARSE, **SENTENCES)), trees(60))


@pytest.fixture(autouse=True)
def sixteen_bits(monkeypatch):
    """Give on the CPU what `precision` gives on a GPU; not compiled for these numbers."""

    def on_gpu(training, device):
        return bits.precision(training, torch.device("cuda"))

    autocast = partial(torch.autocast, "cpu")
    monkeypatch.setattr(torch, "autocast", lambda device, dtype: autocast(dtype))
    for module in (char_lm, batches, sequences, streams):
        monkeypatch.setattr(module, "precision", on_gpu)
    torch.set_num_threads(1)


def train(job, data, folder) -> float:
    """Train a job; return its last loss on the training data."""
    spec = TASKS[job.task]
    run = Run(job, load(spec.runner), data, folder, CPU)
    backend = "band" if data is TEXT else "auto"
    prepare(run.model, backend, CPU, torch.float32)
    with build.without():
        loop.train(run)
        run.task.evaluate(run.model)
    for parameter in run.model.parameters():
        assert parameter.dtype == torch.float32
    loss = spec.curve.losses[0]
    return run.curve[-1][loss]


@pytest.mark.parametrize("name", JOBS)
def test_every_choice_trains_in_16_bits(name, tmp_path):
    """Near the numbers of 32, forward and backward."""
    in_32, data = JOBS[name]
    training = in_32.training.model_copy(update={"precision": "bf16"})
    ours = train(in_32.model_copy(update={"training": training}), data, tmp_path)
    oracle = train(in_32, data, tmp_path)
    assert ours == pytest.approx(oracle, rel=0.02)
    assert ours != oracle


class Casts(TorchDispatchMode):
    """While it is entered, count how often each parameter is converted, by its address."""

    def __init__(self, parameters):
        super().__init__()
        self.parameters = {each.data_ptr(): each for each in parameters}
        self.counts = Counter()

    def __torch_dispatch__(self, operation, types, arguments=(), named=None):
        if operation is torch.ops.aten._to_copy.default:
            address = arguments[0].data_ptr()
            if address in self.parameters:
                self.counts[address] += 1
        return operation(*arguments, **(named or {}))


@pytest.mark.parametrize("name", ["adaptive", "transformer_xl"])
def test_a_weight_is_converted_once_a_step(name, tmp_path):
    """By the definition, as on a GPU."""
    in_32, data = JOBS[name]
    training = in_32.training.model_copy(update={"precision": "bf16"})
    job = in_32.model_copy(update={"training": training})
    run = Run(job, load(TASKS[job.task].runner), data, tmp_path, CPU)
    prepare(run.model, "definition", CPU, torch.float32)
    run.model.train()
    with build.without(), Casts(run.parameters) as casts:
        loop.add_gradients(run.model, run.task.losses(run.model))
    assert casts.counts
    assert set(casts.counts.values()) == {1}
