"""A run whose engine is forced: the same numbers, told in its record, or refused with the reason."""

import os

import pytest
import torch

from models.attention.engine import backend as dispatch
from tests._jobs import VARIANTS, corpus, job
from workflow.config import environment as launch
from workflow.costs import engine_facts
from workflow.data.text import store
from workflow.scripts.train import fulfil

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def free():
    yield
    dispatch.force("auto")


def ended(tmp_path, engine: str, variant: str = "adaptive"):
    made, folder = job(**VARIANTS[variant], net={"dropout": 0.0, "attention_dropout": 0.0}), tmp_path / engine
    store.write(tmp_path / "toy.npz", corpus())
    folder.mkdir()
    return fulfil(made, tmp_path / "toy.npz", folder, CPU, engine)


@pytest.mark.parametrize("variant", ["adaptive", "top_k"])
def test_the_definition_gives_the_engines_numbers(variant, tmp_path):
    oracle = ended(tmp_path, "definition", variant)
    assert oracle.status == "ok", oracle.reason
    assert oracle.cost.engine == ["definition"]
    for engine, name in (("auto", "small"), ("band", "band")):
        ours = ended(tmp_path, engine, variant)
        assert oracle.metrics == pytest.approx(ours.metrics, rel=1e-4)
        assert any("backward" in line and line.split(" (")[0].endswith(f": {name}") for line in ours.cost.engine)
        assert oracle.cost.macs == ours.cost.macs  # what is counted is what the engine would compute


def test_an_engine_that_cannot_compute_a_job_leaves_a_record(tmp_path):
    record = ended(tmp_path, "gathered")
    assert (record.status, record.cost) == ("error", None)
    assert record.reason == "ValueError: engine 'gathered' was asked for: it computes top_k alone"


def test_the_allocator_is_told_in_the_record(tmp_path, monkeypatch):
    monkeypatch.setenv(launch.ALLOCATOR, "glibc.malloc.hugetlb=0")
    assert ended(tmp_path, "auto").origin.allocator == "glibc.malloc.hugetlb=0"
    assert launch.environment()[launch.ALLOCATOR] == "glibc.malloc.hugetlb=0"  # what a user has set stands
    monkeypatch.delenv(launch.ALLOCATOR)
    assert "mmap_threshold=33554432" in launch.environment()[launch.ALLOCATOR]
    assert launch.ALLOCATOR not in os.environ


def test_names_of_engines_are_the_dispatchers():
    assert launch.ENGINES == dispatch.ENGINES


def test_the_gate_holds_all_that_is_timed_and_sees_what_is_not_a_number(monkeypatch):
    found = engine_facts.gate(CPU)
    assert found["status"] == "ok" and 0 < found["worst"] < 1e-9
    results = engine_facts._results

    def broken(name, way):
        made = results(name, way)
        return {key: one * float("nan") if way == "engine" else one for key, one in made.items()}

    monkeypatch.setattr(engine_facts, "_results", broken)
    assert engine_facts.gate(CPU)["status"] == "error"
