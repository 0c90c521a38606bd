"""Every task on a device that is not the CPU (tests/_elsewhere.py)."""

import pytest
import torch

from models.kernels.compiled import build
from tests._elsewhere import DEVICE, Elsewhere, Numbers, stand_in, to_cpu, to_device
from tests._jobs import VARIANTS, bitext, captioning, corpus, job, parsing, translation
from tests._training import CPU, assert_same, finish, interrupt
from tests.tasks.test_captioning import coloured
from tests.tasks.test_parsing import trees
from tests.training._several import QUIET
from workflow.tasks.spec import TASKS, load
from workflow.training import checkpoint
from workflow.training.backends import prepare
from workflow.training.run import Run

SHORT = {"steps": 4, "evaluate_every": 2, "checkpoint_every": 2}
SENTENCES = SHORT | {"net": {"dropout": 0.0}}
SPAN = {
    "name": "adaptive",
    "limit": 6,
    "ramp": 2,
    "penalty_weight": 1e-3,
}
TOP_2 = {"name": "top_k", "k": 2}
SPARSEMAX = {"name": "sparsemax"}
DATA = {
    "char_lm": corpus(length=800),
    "translation": bitext(80),
    "parsing": trees(60),
    "captioning": coloured(40),
}

pytestmark = pytest.mark.slow  # every task and choice is trained


def short(variant: dict):
    net = variant.get("net", {}) | QUIET["net"]
    settings = variant | SHORT | {"net": net}
    return job(**settings)


def scored_on_one(small):
    one = {"batch": 1, "sentences": 1}
    evaluation = small.evaluation.model_copy(update=one)
    return small.model_copy(update={"evaluation": evaluation})


STREAMS = ("dynamic", "top_k", "entmax_alpha", "transformer_xl")
JOBS = {name: short(VARIANTS[name]) for name in STREAMS}
SEQUENCES = {
    "translation": translation(selection=TOP_2, **SENTENCES),
    "parsing": parsing(span=SPAN, normaliser=SPARSEMAX, **SENTENCES),
    "captioning": captioning(**SENTENCES),
}
JOBS |= {name: scored_on_one(small) for name, small in SEQUENCES.items()}


@pytest.fixture(autouse=True)
def in_memory(monkeypatch):
    """Keep checkpoints in memory: a tensor that lies elsewhere has no bytes for a file."""
    stand_in(monkeypatch)
    kept = {}

    def save(path, state):
        kept[path] = to_cpu(state)
        path.touch()

    def load_kept(path, digest, device):
        return to_device(kept[path])

    monkeypatch.setattr(checkpoint, "save", save)
    monkeypatch.setattr(checkpoint, "load", load_kept)
    monkeypatch.setattr(torch.nn.Module, "load_state_dict", copy_into)
    monkeypatch.setattr(torch.nn.Module, "double", in_64_bits)
    torch.set_num_threads(1)


def copy_into(net, weights: dict) -> None:
    """Copy weights into a model; torch's own does nothing for this one device."""
    for name, tensor in net.state_dict().items():
        tensor.copy_(weights[name])


def in_64_bits(net):
    """Give a model numbers of 64 bits; torch's own changes nothing of this one device."""
    for module in net.modules():
        for held in (module._parameters, module._buffers):
            for name, tensor in held.items():
                doubled = tensor.detach().double()
                held[name] = torch.nn.Parameter(doubled)
    return net


def started(name: str, folder, device) -> Run:
    small = JOBS[name]
    task = small.task
    runner = load(TASKS[task].runner)
    run = Run(small, runner, DATA[task], folder, device)
    prepare(run.model, "auto", device, torch.float32)
    return run


def scored(run: Run) -> tuple:
    metrics, facts, weights = finish(run)
    return metrics, facts, to_cpu(weights)


# captioning is trained below
@pytest.mark.parametrize("name", [name for name in JOBS if name != "captioning"])
def test_no_tensor_stays_behind(name, tmp_path):
    """A run is trained and scored with the CPU's numbers; sums may be in another order."""
    with build.without():  # as on a GPU
        run = started(name, tmp_path, CPU)
        expected, expected_facts, _ = scored(run)
        with Numbers():
            run = started(name, tmp_path, DEVICE)
            metrics, facts, weights = scored(run)
    assert metrics.keys() == expected.keys()
    assert facts.keys() == expected_facts.keys()
    for name, value in metrics.items():
        if name.endswith(("bpc", "ppl")):
            assert value == pytest.approx(expected[name], rel=1e-2)
    for weight in weights.values():
        assert not isinstance(weight, Elsewhere)


@pytest.mark.parametrize("name", ["top_k", "captioning"])
def test_a_run_goes_on_from_a_checkpoint_that_comes_to_the_device_whole(name, tmp_path):
    """States of generators and the weights that are averaged belong to the CPU all the same."""
    with build.without(), Numbers():
        whole = scored(started(name, tmp_path, DEVICE))
        interrupt(started(name, tmp_path, DEVICE), 3)
        run = started(name, tmp_path, DEVICE)
        run.resume()
        assert run.step == 2
        assert_same(scored(run), whole)


def test_what_a_gpu_refuses_is_refused_here():
    there = Elsewhere(torch.ones(3, 3))
    # one number may come along
    sums = 2 * there + torch.tensor(1.0)
    assert sums.tolist() == [[3.0] * 3] * 3
    with pytest.raises(RuntimeError, match="all tensors on one device"):
        there @ torch.arange(3.0)
    with pytest.raises(TypeError, match="numpy"):
        there.numpy()
    generator = torch.Generator()
    with Numbers(), pytest.raises(RuntimeError, match="generator"):
        torch.randint(3, (2,), generator=generator, device=DEVICE)
