"""The doctor passes where all is well, and finds what it is there for."""

from itertools import cycle

import pytest
import torch

from models.attention.engine import engine
from tests._training import CPU
from workflow.cli import doctor
from workflow.costs import fresh_process


@pytest.fixture
def quick(monkeypatch):
    times = cycle(([1.0], [2.0]))  # other work on the machine would spoil a timing
    monkeypatch.setattr(doctor, "time_turn", lambda *given: next(times))
    monkeypatch.setattr(doctor, "ENGINE_BACKENDS", ("auto", "band"))


@pytest.mark.slow
def test_nothing_is_wrong_here(quick, capsys):
    doctor.main(["--device", "cpu"])
    said = capsys.readouterr().out
    assert said.splitlines()[-1] == "all checks passed"
    assert all(f"band, cpu, {dtype}" in said for dtype in ("float64", "float32"))


@pytest.mark.parametrize("choice", doctor.CHOICES)
def test_rounding_to_16_bits_is_within_its_bound(choice):
    """A unit of a relu that is on in one number type and off in the other is no error of
    attention.
    """
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
    with pytest.raises(SystemExit) as ended:
        doctor.main(["--device", "cpu"])
    assert "band, cpu, float64" in str(ended.value.code)


def test_a_counter_that_counts_nothing_is_wrong(monkeypatch):
    monkeypatch.setattr(fresh_process, "peak_bytes", lambda device: 1000)
    assert doctor.look_at_memory("cpu")[1] == doctor.FAIL


@pytest.mark.parametrize(
    "twice, status", [(1.0, doctor.FAIL), (1.4, doctor.NOTE), (2.0, doctor.OK), (3.0, doctor.NOTE)]
)
def test_a_clock_that_does_not_follow_the_work_is_wrong(twice, status, monkeypatch):
    times = iter(([1.0], [twice]))
    monkeypatch.setattr(doctor, "time_turn", lambda *given: next(times))
    assert doctor.look_at_clock(CPU)[1] == status


def test_a_folder_called_triton_is_not_taken_for_the_library(monkeypatch, tmp_path):
    (tmp_path / "triton").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(doctor, "distributions", lambda name: iter(()))
    found = {about: (status, said) for about, status, said in doctor.look_at_versions(CPU)}
    # no GPU, and so no kernel
    assert found["Triton"] == (doctor.OK, "not installed; the GPU kernel needs it")
