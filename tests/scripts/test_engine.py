"""What the engine saves: the ratios of turns, and that nothing with other numbers is timed."""

from itertools import product
from types import SimpleNamespace

import pytest
import torch

from benchmarks import test_engine as benchmark
from models.attention.engine.engine import Engine
from tests._site import TIMED
from workflow.report.pages.engine import engine_table
from workflow.report.pages.site import Site
from workflow.results.record import write_text
from workflow.scripts.engine import compare

SMALL = {"BLOCK": 8, "STREAMS": 2, "NET": benchmark.NET | {"d_model": 16, "d_ff": 16}}


def timed(turn: int, backend: str, ms: float) -> dict:
    about = {"turn": turn, "S": 256, "span": "fixed", "work": "train", "backend": backend}
    return {"extra_info": about, "stats": {"median": ms / 1000}}


def test_a_backend_is_as_many_times_faster_as_the_definition_in_the_same_turn():
    """The machine is half as fast in the second turn: 10 / 2 and 20 / 4; in the third only the definition is slow."""
    times = {"definition": (10.0, 20.0, 40.0), "band": (2.0, 4.0, 2.0)}
    reports = [timed(turn, name, ms) for name, each in times.items() for turn, ms in enumerate(each)]
    (row,) = compare(reports).itertuples()
    assert (row.work, row.span, row.S, row.backend, row.turns) == ("train", "fixed", 256, "band", 3)
    assert (row.ms, row.ms_definition, row.median, row.least, row.most) == pytest.approx((2, 20, 5, 5, 20))


def test_the_index_shows_a_row_for_each_case_and_what_was_not_timed(tmp_path):
    site = Site(tmp_path, tmp_path / "reports")
    assert engine_table(site) is None
    write_text(tmp_path / "engine.csv", TIMED)
    table = engine_table(site)
    assert table["head"] == ("what", "S", "band", "compiled")
    assert table["rows"] == [
        ["training step, adaptive span", "256", "not timed", "4 (4 to 4)"],
        ["training step, adaptive span", "4,096", "10 (9 to 12.5)", "not timed"],
    ]
    assert table["about"] == "3 turns; cpu: made up; 2 threads; commit 0123456789"


def time_case(span: str, work: str, backend: str) -> dict:
    """Time one case; give what was noted."""
    noted, benchmarked = {}, SimpleNamespace(pedantic=lambda step, rounds, warmup_rounds: step())
    benchmarked.extra_info = noted
    benchmark.test_engine(benchmarked, 0, 24, span, work, backend)
    return noted


def test_what_this_machine_has_is_timed_and_nothing_with_other_numbers(monkeypatch):
    for name, value in SMALL.items():
        monkeypatch.setattr(benchmark, name, value)
    monkeypatch.setenv("ENGINE_DEVICE", "cpu")
    benchmark.find_numbers.cache_clear()
    for span, work in product(("fixed", "adaptive"), ("forward", "train")):
        assert time_case(span, work, "band")["backend"] == "band"
        with pytest.raises(pytest.skip.Exception, match="it needs a GPU"):
            time_case(span, work, "triton")
    attend = Engine.attend
    broken = lambda *given: tuple(1.001 * part if torch.is_tensor(part) else part for part in attend(*given))  # noqa: E731
    monkeypatch.setattr(Engine, "attend", broken)
    benchmark.find_numbers.cache_clear()
    with pytest.raises(AssertionError):
        time_case("fixed", "train", "band")
    benchmark.find_numbers.cache_clear()
