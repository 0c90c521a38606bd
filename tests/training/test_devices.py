"""Two processes that train one net give the numbers of one."""

import shutil

import pytest
import torch

from tests._copied import ROOT
from tests._copied import ended as ended_process
from tests.training._several import CASES, in_64_bits, train

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    """Return a function that reads what a case ended with at a place.

    one, two: processes from the start; half: begun by two, gone on with by one; begun: the other way round.
    """
    folder = tmp_path_factory.mktemp("devices")
    with in_64_bits():
        for name, case in CASES.items():
            train(case, folder / "one" / name)
            (folder / "begun" / name).mkdir(parents=True)
            shutil.copy(folder / "one" / name / "half.pt", folder / "begun" / name / "checkpoint.pt")
        done = ended_process(ROOT, "tests.training._several", str(folder))
        assert done.returncode == 0, done.stderr[-3000:]
        for name, case in CASES.items():
            (folder / "half" / name).mkdir(parents=True)
            shutil.copy(folder / "two" / name / "half.pt", folder / "half" / name / "checkpoint.pt")
            train(case, folder / "half" / name)
    return lambda *place: torch.load(folder.joinpath(*place, "end.pt"), weights_only=True)


@pytest.mark.parametrize("place", ["two", "begun", "half"])
@pytest.mark.parametrize("name", CASES)
def test_two_processes_give_the_numbers_of_one(name, place, ended):
    """Also when the run changes from one process to two, or back, in its middle."""
    one, other = ended("one", name), ended(place, name)
    assert list(one["weights"]) == list(other["weights"])
    for key, weight in one["weights"].items():
        torch.testing.assert_close(other["weights"][key], weight, rtol=0, atol=1e-9, msg=key)
    for point, counterpart in zip(one["curve"], other["curve"], strict=True):
        del point["tokens_per_s"], counterpart["tokens_per_s"]
        assert counterpart == pytest.approx(point, abs=1e-9, rel=0)


def test_interrupted_with_dropout_two_end_as_two_never_interrupted(ended):
    whole, again = ended("whole"), ended("again")
    assert again["log"][-2] == "resumed at step 10"
    assert all(torch.equal(again["weights"][key], weight) for key, weight in whole["weights"].items())


def test_learned_spans_moved(ended):
    """Else the equality of their penalties would say nothing."""
    weights = ended("two", "adaptive")["weights"]
    fractions = [weight for name, weight in weights.items() if name.endswith("span.fraction")]
    assert len(fractions) == 2 and all((fraction < 0.49).all() for fraction in fractions)
