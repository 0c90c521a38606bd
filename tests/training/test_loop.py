"""The loop resumes and learns; updates and rates are computed by hand; checkpoints are whole."""

import os
from unittest.mock import Mock

import pytest
import torch

from tests._jobs import VARIANTS, job
from tests._training import CPU, assert_same, interrupt, start, train_to_end
from tests.training._several import QUIET
from workflow.config.errors import ConfigError
from workflow.training import checkpoint
from workflow.training.loop import learning_rate, train
from workflow.training.optimisers import Adagrad, Adam


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["dynamic", "top_k", "entmax_alpha", "transformer_xl"])
def test_a_resumed_run_ends_as_one_never_interrupted(variant, tmp_path):
    """Dropout is on, so the random state must come back too."""
    small = job(**VARIANTS[variant])
    run = start(small, tmp_path / "b")
    interrupt(run, step=6)
    resumed = train_to_end(small, tmp_path / "b")
    whole = train_to_end(small, tmp_path / "a")
    assert_same(whole, resumed)


def test_accumulated_parts_make_the_step_of_the_whole_batch(tmp_path):
    at_once = job(**QUIET, steps=4)
    accumulating = job(**QUIET, steps=4, accumulate=2)
    _, _, whole = train_to_end(at_once, tmp_path / "a")
    _, _, parts = train_to_end(accumulating, tmp_path / "b")
    torch.testing.assert_close(parts, whole, rtol=1e-4, atol=1e-5)


def test_it_learns(tmp_path):
    small = job(**QUIET, steps=60)
    run = start(small, tmp_path)
    train(run)
    scores = [point["dev_bpc"] for point in run.curve]
    assert scores[-1] < 0.6 * scores[0]


def test_a_checkpoint_made_by_other_code_is_not_resumed(tmp_path):
    """The run says so, starts anew, and ends as one that found no checkpoint."""
    small = job(steps=6)
    older = start(small, tmp_path / "b", source="older code")
    interrupt(older, step=4)
    run = start(small, tmp_path / "b", source="this code")
    run.resume()
    assert run.step == 0
    assert len(run.log) == 1
    train(run)
    whole = start(small, tmp_path / "a", source="this code")
    train(whole)
    found = run.model.state_dict()
    expected = whole.model.state_dict()
    torch.testing.assert_close(found, expected, rtol=0, atol=0)


def test_adagrad_scales_the_step_and_accumulates_the_raw_square():
    """By hand: g = (3, 4), norm 5, clip .5: accumulator (9, 16), step lr * .1 * (1, 1)."""
    zeros = torch.zeros(2, dtype=torch.float64)
    parameter = torch.nn.Parameter(zeros)
    optimiser = Adagrad([parameter], lr=0.2, clip=0.5)
    parameter.grad = torch.tensor([3.0, 4.0], dtype=torch.float64)
    optimiser.step()
    assert parameter.tolist() == pytest.approx([-0.02, -0.02])
    (accumulated,) = optimiser.state["sum"]
    assert accumulated.tolist() == [9, 16]
    # norm .05: not clipped
    parameter.grad = torch.tensor([0.03, 0.04], dtype=torch.float64)
    optimiser.step()
    first = 0.2 * 0.03 / (9 + 0.03**2) ** 0.5
    second = 0.2 * 0.04 / (16 + 0.04**2) ** 0.5
    expected = [-0.02 - first, -0.02 - second]
    assert parameter.tolist() == pytest.approx(expected)


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_adam_equals_that_of_torch(decay):
    ours = []
    theirs = []
    for n in (4, 7):
        weights = torch.arange(1.0, n)
        ours.append(torch.nn.Parameter(weights.clone()))
        theirs.append(torch.nn.Parameter(weights.clone()))
    adam = Adam(ours, 0.01, clip=0.5, decay=decay)
    reference = torch.optim.AdamW(theirs, 0.01, weight_decay=decay)
    for step in range(3):
        for weight in (*ours, *theirs):
            angle = weight.detach() * (step + 1)
            weight.grad = torch.sin(angle) / len(weight)
        adam.step()
        torch.nn.utils.clip_grad_norm_(theirs, 0.5)
        reference.step()
    torch.testing.assert_close(ours, theirs)


# equation 3 of Attention Is All You Need, d^-.5 min(t^-.5, t 4000^-1.5), for d = 512:
# the rate at the end of 4,000 steps of warm-up, and long after
PEAK = (512 * 4000) ** -0.5
LATE = (512 * 100_000) ** -0.5


@pytest.mark.parametrize(
    "schedule, warmup, rates",
    [
        ("constant", 100, {1: 0.01, 500: 1.0}),
        ("cosine", 0, {500: 0.5, 1000: 0.0}),
        ("settling", 100, {50: 0.5, 100: 1.0, 400: 0.525, 700: 0.05, 1000: 0.05}),
        ("inverse_sqrt", 4000, {400: 0.1, 4000: 1.0, 100_000: LATE / PEAK}),
    ],
)
def test_learning_rates(schedule, warmup, rates):
    for step, rate in rates.items():
        found = learning_rate(
            step,
            lr=1.0,
            warmup=warmup,
            schedule=schedule,
            steps=1000,
        )
        assert found == pytest.approx(rate, abs=1e-12)


class Evil:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (os.system, (f"touch {self.path}",))


def test_a_broken_checkpoint_is_refused_and_code_in_one_is_not_executed(tmp_path):
    path = tmp_path / "checkpoint.pt"
    executed = tmp_path / "executed"
    for content in (b"", b"PK\x03\x04 cut off", b"step,dev_bpc\n100,2.5\n"):
        path.write_bytes(content)
        with pytest.raises(ConfigError, match="checkpoint.pt"):
            checkpoint.load(path, "x", CPU)
        assert path.read_bytes() == content
    content = {
        "version": 1,
        "digest": "x",
        "evil": Evil(executed),
    }
    torch.save(content, path)
    with pytest.raises(ConfigError):
        checkpoint.load(path, "x", CPU)
    assert not executed.exists()


def test_a_failed_write_leaves_the_previous_checkpoint(tmp_path, monkeypatch):
    path = tmp_path / "c.pt"
    checkpoint.save(path, {"digest": "x", "step": 1})
    full = OSError(28, "No space left on device")
    monkeypatch.setattr(os, "fsync", Mock(side_effect=full))
    with pytest.raises(OSError, match="No space left"):
        checkpoint.save(path, {"digest": "x", "step": 2})
    kept = checkpoint.load(path, "x", CPU)
    assert kept["step"] == 1
    assert list(tmp_path.iterdir()) == [path]
