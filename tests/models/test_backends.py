"""A run whose backend is forced: the same numbers, described in its record, or refused with the reason."""

import os

import pytest

from models.attention.engine import backend
from tests._jobs import VARIANTS, job
from tests._training import run_script
from workflow.config import environment
from workflow.config.choices import backend_names


def record_of(tmp_path, name: str, variant: str = "adaptive"):
    """The record of a small run with this backend."""
    small = job(**VARIANTS[variant], net={"dropout": 0.0, "attention_dropout": 0.0})
    return run_script(small, tmp_path / name, backend=name)


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["adaptive", "top_k"])
def test_the_definition_gives_the_engines_numbers(variant, tmp_path):
    oracle = record_of(tmp_path, "definition", variant)
    assert oracle.status == "ok", oracle.reason
    assert oracle.cost.backends == ["definition"]
    for name, expected in (("auto", "compiled"), ("band", "band")):
        ours = record_of(tmp_path, name, variant)
        assert oracle.metrics == pytest.approx(ours.metrics, rel=1e-4)
        lines = [line.split(" (")[0] for line in ours.cost.backends]
        assert any("backward" in line and line.endswith(f": {expected}") for line in lines)
        assert oracle.cost.macs == ours.cost.macs  # what is counted is what the engine would compute


def test_a_backend_that_cannot_compute_a_job_leaves_a_record(tmp_path):
    record = record_of(tmp_path, "triton")
    assert (record.status, record.cost) == ("error", None)
    assert record.reason == "ValueError: backend 'triton' cannot compute this layer: it needs a GPU"


def test_the_allocator_is_named_in_the_record(tmp_path, monkeypatch):
    monkeypatch.setenv(environment.ALLOCATOR, "glibc.malloc.hugetlb=0")
    assert record_of(tmp_path, "auto").origin.allocator == "glibc.malloc.hugetlb=0"
    assert environment.environment()[environment.ALLOCATOR] == "glibc.malloc.hugetlb=0"  # what a user has set stands
    monkeypatch.delenv(environment.ALLOCATOR)
    assert "mmap_threshold=33554432" in environment.environment()[environment.ALLOCATOR]
    assert environment.ALLOCATOR not in os.environ


def test_the_names_of_backends_stand_once_and_are_what_computes():
    assert backend_names() == backend.BACKENDS
    assert set(backend.BACKENDS) == {"auto", "definition", *backend.ATTEND}
