"""The loop: it repeats itself, goes on from a checkpoint as if never interrupted, and learns."""

import pytest
import torch

from tests._jobs import VARIANTS, job
from tests._training import assert_same, interrupt, start, train_to_end
from tests.training._several import QUIET


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_same_job_twice_gives_the_same_numbers(variant, tmp_path):
    small = job(**VARIANTS[variant], steps=6)
    assert_same(train_to_end(small, tmp_path / "a"), train_to_end(small, tmp_path / "b"))


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["adaptive", "dynamic", "transformer_xl"])
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
    run.train()
    assert run.curve[-1]["dev_bpc"] < 0.6 * run.curve[0]["dev_bpc"]


def test_a_checkpoint_made_by_other_code_is_not_resumed(tmp_path):
    """The run says so, starts anew, and ends as one that found no checkpoint."""
    small = job(steps=6)
    interrupt(start(small, tmp_path / "b", source="older code"), step=4)
    run = start(small, tmp_path / "b", source="this code")
    run.resume()
    assert run.step == 0 and run.log == ["the checkpoint was made by other code: the run starts anew"]
    run.train()
    whole = start(small, tmp_path / "a", source="this code")
    whole.train()
    assert all(torch.equal(run.net.state_dict()[name], weight) for name, weight in whole.net.state_dict().items())


@pytest.mark.parametrize("variant, span", [("fixed", 24.0), ("adaptive", 4.0)])
def test_the_span_before_training_is_kept(variant, span, tmp_path):
    """Adaptive spans start at z = 0 and reach as far as their ramp."""
    assert start(job(**VARIANTS[variant]), tmp_path).start_span == span
