"""The doctor passes where all is well, and finds what it is there for."""

from itertools import cycle

import pytest
import torch

from models.attention.engine import engine
from tests._training import CPU
from workflow.cli import doctor


@pytest.fixture
def quick(monkeypatch):
    times = cycle(([1.0], [2.0]))  # other work on the machine would spoil a timing
    monkeypatch.setattr(doctor, "time_turn", lambda *given: next(times))
    monkeypatch.setattr(doctor, "ENGINE_BACKENDS", ("auto", "band"))


@pytest.mark.slow
def test_nothing_is_wrong_here(quick, capsys):
    doctor.main(["--device", "cpu"])
    assert capsys.readouterr().out.splitlines()[-1] == "all checks passed"


@pytest.mark.parametrize("choice", doctor.CHOICES)
def test_rounding_to_16_bits_is_within_its_bound(choice):
    off = doctor._distance("band", choice, CPU, torch.bfloat16)
    assert off is None if choice == "top-k" else 0 < off <= 1


@pytest.mark.slow
@pytest.mark.parametrize("factor", [1.01, float("nan")])
def test_a_backend_with_other_numbers_is_wrong_and_named(factor, quick, monkeypatch):
    attend = engine.Engine.attend

    def broken(self, *given):
        y, past = attend(self, *given)
        return factor * y, past

    monkeypatch.setattr(engine.Engine, "attend", broken)
    with pytest.raises(SystemExit, match="band, cpu, float64"):
        doctor.main(["--device", "cpu"])


@pytest.mark.parametrize(
    "twice, status", [(1.0, doctor.FAIL), (1.4, doctor.NOTE), (2.0, doctor.OK), (3.0, doctor.NOTE)]
)
def test_a_clock_that_does_not_follow_the_work_is_wrong(twice, status, monkeypatch):
    times = iter(([1.0], [twice]))
    monkeypatch.setattr(doctor, "time_turn", lambda *given: next(times))
    assert doctor.look_at_clock(CPU)[1] == status
