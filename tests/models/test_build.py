"""Which code computes a run: compiled where there is a compiler, forced by name, or refused;
records say why.
"""

import ctypes
from unittest.mock import Mock

import pytest
import torch

from models.attention.engine import backend
from models.attention.engine.equivalence import Mismatch
from models.kernels.compiled import build
from models.kernels.compiled.attention import AttentionStruct
from models.kernels.compiled.dense import DenseStruct, linear
from tests._jobs import VARIANTS, job
from tests._nets import make
from tests._training import run_script
from workflow.config.choices import backend_names
from workflow.training import backends
from workflow.training.backends import chosen, prepare

CPU = torch.device("cpu")
FIXED = {"span": {"name": "fixed", "limit": 6}, "position": {"name": "relative", "limit": 6}}
FIXED |= {"selection": {"name": "all"}, "normaliser": {"name": "softmax"}}
compiler = pytest.mark.skipif(build.obstacle() is not None, reason="no C compiler")


@pytest.fixture
def fresh(monkeypatch, tmp_path):
    """Give a cache of its own, with nothing tried yet in this process."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    build._attempt.cache_clear()
    yield tmp_path / "attention-suite"
    build._attempt.cache_clear()


def described() -> list[str]:
    """Return what the record of a small net says."""
    net, tokens = make(FIXED), torch.zeros(2, 7, dtype=torch.long)
    prepare(net, "auto", CPU, torch.float64)
    net(tokens, net.start(2))
    return chosen(net)


WORK = "cpu float64: Fixed All Softmax, reach <= 8, T <= 8, backward:"


@pytest.mark.parametrize(
    "command, reason",
    [
        ("", "there is no C compiler (CC='')"),
        ("no-such-compiler", "there is no C compiler (CC='no-such-compiler')"),
        ("false", "false failed: no message"),
    ],
)
def test_without_a_compiler_other_code_computes_and_the_record_says_why(
    command, reason, fresh, monkeypatch
):
    monkeypatch.setenv("CC", command)
    x, weight = torch.randn(3, 4, requires_grad=True), torch.randn(5, 4)
    torch.testing.assert_close(linear(x, weight), x @ weight.T)
    assert described() == [f"cpu float64: not compiled, so slower: {reason}", f"{WORK} band (2)"]


@compiler
def test_where_no_cache_can_be_written_a_process_compiles_for_itself(fresh):
    fresh.write_text("a file where the folder should be")
    assert build.obstacle() is None and described() == [f"{WORK} compiled (2)"]


@compiler
def test_wrong_numbers_are_a_reason_too(monkeypatch):
    monkeypatch.setattr(
        backends, "check_equivalence", Mock(side_effect=Mismatch("it differs in the output"))
    )
    monkeypatch.setattr(build, "_REFUSED", {})
    backends._check_compiled.cache_clear()
    lines = described()
    backends._check_compiled.cache_clear()
    assert lines == [
        "cpu float64: not compiled, so slower: it differs in the output",
        f"{WORK} band (2)",
    ]


@compiler
def test_python_and_c_agree_on_what_they_hand_over():
    library = build.library(torch.float32)
    assert library.size_of_attention() == ctypes.sizeof(AttentionStruct)
    assert library.size_of_dense() == ctypes.sizeof(DenseStruct)


@compiler
def test_where_there_is_a_compiler_it_is_used():
    assert described() == [f"{WORK} compiled (2)"]
    with build.without():
        assert described()[-1] == f"{WORK} band (2)"


def record_of(tmp_path, name: str, variant: str = "adaptive"):
    """Train a small run with this backend; return its record."""
    small = job(**VARIANTS[variant], net={"dropout": 0.0, "attention_dropout": 0.0})
    return run_script(small, tmp_path / name, backend=name)


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["adaptive", "top_k"])
def test_the_definition_gives_the_engines_numbers(variant, tmp_path):
    oracle, *others = (
        record_of(tmp_path, name, variant) for name in ("definition", "auto", "band")
    )
    assert oracle.cost.backends == ["definition"], oracle.reason
    for ours, expected in zip(others, ("compiled", "band"), strict=True):
        assert oracle.metrics == pytest.approx(ours.metrics, rel=1e-4)
        assert any(f"backward: {expected} (" in line for line in ours.cost.backends)
        # what is counted is what the engine would compute
        assert oracle.cost.macs == ours.cost.macs


def test_a_backend_that_cannot_compute_a_job_leaves_a_record(tmp_path):
    record = record_of(tmp_path, "triton")
    assert (record.status, record.cost) == ("error", None)
    assert record.reason.startswith("ValueError: backend 'triton'")


def test_the_names_of_backends_stand_once_and_are_what_computes():
    assert backend_names() == backend.BACKENDS
    assert set(backend.BACKENDS) == {"auto", "definition", *backend.ATTEND}
