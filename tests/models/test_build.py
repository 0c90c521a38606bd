"""Which code computes a run: compiled where there is a compiler, forced by name, or refused."""

import ctypes
from unittest.mock import Mock

import pytest
import torch
from torch.testing import assert_close

from models.attention.engine.equivalence import Mismatch
from models.kernels.compiled import build
from models.kernels.compiled.attention import AttentionStruct
from models.kernels.compiled.dense import DenseStruct, linear
from tests._jobs import VARIANTS, job
from tests._models import FIXED, make
from tests._training import run_script
from workflow.training import backends
from workflow.training.backends import chosen, prepare

CPU = torch.device("cpu")
compiler = pytest.mark.skipif(build.obstacle() is not None, reason="no C compiler")


@pytest.fixture
def fresh(monkeypatch, tmp_path):
    """Give another cache, with nothing tried yet in this process."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    build._attempt.cache_clear()
    yield tmp_path / "attention-suite"
    build._attempt.cache_clear()


def assert_computed_by(backend: str, *reasons: str) -> None:
    """Compare what the record of a small model says of a step."""
    model = make(FIXED)
    prepare(model, "auto", CPU, torch.float64)
    model(torch.zeros(2, 7, dtype=torch.long), model.start(2))
    *found, work = chosen(model)
    assert work.endswith(f"backward: {backend} (2)")
    assert [line.split(": ", 2)[-1] for line in found] == list(reasons)


@pytest.mark.parametrize(
    "command, reason",
    [
        ("no-such-compiler", "there is no C compiler (CC='no-such-compiler')"),
        ("false", "false failed: no message"),
    ],
)
def test_without_a_compiler_other_code_computes_and_the_record_says_why(
    command, reason, fresh, monkeypatch
):
    monkeypatch.setenv("CC", command)
    x = torch.randn(3, 4)
    weight = torch.randn(5, 4)
    assert_close(linear(x, weight), x @ weight.T)
    assert_computed_by("band", reason)


@compiler
def test_where_no_cache_can_be_written_a_process_compiles_for_itself(fresh):
    fresh.write_text("a file where the folder should be")
    assert_computed_by("compiled")


@compiler
def test_wrong_numbers_are_a_reason_too(monkeypatch):
    found = Mock(side_effect=Mismatch("it differs in the output"))
    monkeypatch.setattr(backends, "check_equivalence", found)
    monkeypatch.setattr(build, "_REFUSED", {})
    backends._check_compiled.cache_clear()
    assert_computed_by("band", "it differs in the output")
    backends._check_compiled.cache_clear()


@compiler
def test_python_and_c_agree_on_what_they_hand_over():
    library = build.library(torch.float32)
    assert library.size_of_attention() == ctypes.sizeof(AttentionStruct)
    assert library.size_of_dense() == ctypes.sizeof(DenseStruct)


def record_of(tmp_path, backend: str):
    """Train a small run with this backend; return its record."""
    small = job(**VARIANTS["top_k"], net={"dropout": 0.0, "attention_dropout": 0.0})
    return run_script(small, tmp_path / backend, backend=backend)


@pytest.mark.slow
@pytest.mark.parametrize("name, used", [("auto", "compiled"), ("band", "band")])
def test_a_run_by_the_definition_has_the_engines_numbers(name, used, tmp_path):
    oracle = record_of(tmp_path, "definition")
    ours = record_of(tmp_path, name)
    assert oracle.cost.backends == ["definition"], oracle.reason
    assert any(f"backward: {used} (" in line for line in ours.cost.backends)
    assert oracle.metrics == pytest.approx(ours.metrics, rel=1e-4)
    # what is counted is what the engine would compute
    assert oracle.cost.macs == ours.cost.macs


def test_a_backend_that_cannot_compute_a_job_leaves_a_record(tmp_path):
    record = record_of(tmp_path, "triton")
    assert (record.status, record.cost) == ("error", None)
    assert record.reason.startswith("ValueError: backend 'triton'")
