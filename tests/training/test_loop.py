"""The loop goes on from a checkpoint and learns; updates and rates are computed by hand;
checkpoints are whole.
"""

import os
from pathlib import Path
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
    interrupt(start(small, tmp_path / "b"), step=6)
    assert_same(train_to_end(small, tmp_path / "a"), train_to_end(small, tmp_path / "b"))


def test_accumulated_parts_make_the_step_of_the_whole_batch(tmp_path):
    whole = train_to_end(job(**QUIET, steps=4), tmp_path / "a")
    parts = train_to_end(job(**QUIET, steps=4, accumulate=2), tmp_path / "b")
    for a, b in zip(whole[2].values(), parts[2].values(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


def test_it_learns(tmp_path):
    run = start(job(**QUIET, steps=60), tmp_path)
    train(run)
    assert run.curve[-1]["dev_bpc"] < 0.6 * run.curve[0]["dev_bpc"]


def test_a_checkpoint_made_by_other_code_is_not_resumed(tmp_path):
    """The run says so, starts anew, and ends as one that found no checkpoint."""
    small = job(steps=6)
    interrupt(start(small, tmp_path / "b", source="older code"), step=4)
    run = start(small, tmp_path / "b", source="this code")
    run.resume()
    assert run.step == 0 and run.log == [
        "the checkpoint was written by different code: training starts again"
    ]
    train(run)
    whole = start(small, tmp_path / "a", source="this code")
    train(whole)
    assert all(
        torch.equal(run.model.state_dict()[name], weight)
        for name, weight in whole.model.state_dict().items()
    )


@pytest.mark.parametrize("variant, span", [("fixed", 24.0), ("adaptive", 4.0)])
def test_the_span_before_training_is_kept(variant, span, tmp_path):
    """Adaptive spans start at z = 0 and reach as far as their ramp."""
    assert start(job(**VARIANTS[variant]), tmp_path).start_span == span


def test_adagrad_scales_the_step_and_accumulates_the_raw_square():
    """By hand: g = (3, 4), norm 5, clip .5: accumulator (9, 16), step lr * .1 * (1, 1)."""
    parameter = torch.nn.Parameter(torch.zeros(2, dtype=torch.float64))
    optimiser = Adagrad([parameter], lr=0.2, clip=0.5)
    parameter.grad = torch.tensor([3.0, 4.0], dtype=torch.float64)
    optimiser.step()
    assert parameter.tolist() == pytest.approx([-0.02, -0.02])
    assert optimiser.state["sum"][0].tolist() == [9, 16]
    parameter.grad = torch.tensor([0.03, 0.04], dtype=torch.float64)  # norm .05: not clipped
    before = parameter.detach().clone()
    optimiser.step()
    expected = [0.2 * g / (s + g * g) ** 0.5 for g, s in ((0.03, 9), (0.04, 16))]
    assert (before - parameter).tolist() == pytest.approx(expected)


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_adam_equals_that_of_torch(decay):
    def parameters() -> list[torch.nn.Parameter]:
        return [torch.nn.Parameter(torch.arange(1.0, n)) for n in (4, 7)]

    ours = parameters()
    theirs = parameters()
    adam = Adam(ours, 0.01, clip=0.5, decay=decay)
    reference = torch.optim.AdamW(theirs, 0.01, weight_decay=decay)
    for step in range(3):
        for tensors in (ours, theirs):
            for tensor, size in zip(tensors, (3, 0.01), strict=True):
                tensor.grad = torch.sin(tensor.detach() * (step + 1)) * size
        adam.step()
        torch.nn.utils.clip_grad_norm_(theirs, 0.5)
        reference.step()
    torch.testing.assert_close(ours, theirs)


def test_a_parameter_without_a_gradient_stays():
    stays, moves = torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(2))
    moves.grad = torch.ones(2)
    for optimiser in (Adam([stays, moves], 0.1, 1.0, 0.1), Adagrad([stays, moves], 0.1, 1.0, 0.1)):
        optimiser.step()
    assert stays.tolist() == [1, 1] and moves.tolist() != [1, 1]


PEAK = (512 * 4000) ** -0.5  # of the schedule of the paper for d = 512, 4,000 steps of warm-up


@pytest.mark.parametrize(
    "schedule, warmup, rates",
    [
        ("constant", 100, {1: 0.01, 500: 1.0}),
        ("cosine", 0, {500: 0.5, 1000: 0.0}),
        ("settling", 100, {50: 0.5, 100: 1.0, 400: 0.525, 700: 0.05, 1000: 0.05}),
        # d^-.5 min(t^-.5, t 4000^-1.5), equation 3 of Attention Is All You Need
        ("inverse_sqrt", 4000, {400: 0.1, 4000: 1.0, 100_000: 512**-0.5 * 100_000**-0.5 / PEAK}),
    ],
)
def test_learning_rates(schedule, warmup, rates):
    for step, rate in rates.items():
        found = learning_rate(step, lr=1.0, warmup=warmup, schedule=schedule, steps=1000)
        assert found == pytest.approx(rate, abs=1e-12)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut off", b"step,dev_bpc\n100,2.5\n"])
def test_a_broken_checkpoint_is_refused(content, tmp_path):
    path = tmp_path / "checkpoint.pt"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="not a checkpoint of this suite") as error:
        checkpoint.load(path, "x", CPU)
    assert str(error.value).isprintable() and path.read_bytes() == content


class Evil:
    def __reduce__(self):
        return (os.system, ("touch /tmp/executed-by-a-checkpoint",))


def test_code_in_a_checkpoint_is_not_executed(tmp_path):
    path = tmp_path / "checkpoint.pt"
    torch.save({"version": 1, "digest": "x", "evil": Evil()}, path)
    with pytest.raises(ConfigError):
        checkpoint.load(path, "x", CPU)
    assert not Path("/tmp/executed-by-a-checkpoint").exists()


def test_a_failed_write_leaves_the_previous_checkpoint(tmp_path, monkeypatch):
    path = tmp_path / "c.pt"
    checkpoint.save(path, {"digest": "x", "step": 1})

    monkeypatch.setattr(os, "fsync", Mock(side_effect=OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space left"):
        checkpoint.save(path, {"digest": "x", "step": 2})
    assert checkpoint.load(path, "x", CPU)["step"] == 1
    assert [file.name for file in tmp_path.iterdir()] == ["c.pt"]
