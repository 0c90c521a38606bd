"""The benchmark of the engine: nothing with other numbers than the definition's is timed."""

from itertools import product
from types import SimpleNamespace

import pytest
import torch

from benchmarks import test_engine as benchmark
from models.attention.engine.engine import Engine

SMALL = {"BLOCK": 8, "STREAMS": 2, "NET": benchmark.NET | {"d_model": 16, "d_ff": 16}}


def time_case(span: str, work: str, backend: str) -> dict:
    """Time one case; give what was noted."""
    noted, benchmarked = {}, SimpleNamespace(pedantic=lambda step, rounds, warmup_rounds: step())
    benchmarked.extra_info = noted
    benchmark.test_engine(benchmarked, 0, 32, 24, span, work, backend)
    return noted


def test_what_this_machine_has_is_timed_and_nothing_with_other_numbers(monkeypatch):
    for name, value in SMALL.items():
        monkeypatch.setattr(benchmark, name, value)
    benchmark.find_numbers.cache_clear()
    for span, work in product(("fixed", "adaptive"), ("forward", "train")):
        assert time_case(span, work, "band")["backend"] == "band"
        with pytest.raises(pytest.skip.Exception, match="it needs a GPU"):
            time_case(span, work, "triton")
    attend = Engine.attend

    def broken(*given):
        return tuple(1.001 * part if torch.is_tensor(part) else part for part in attend(*given))

    monkeypatch.setattr(Engine, "attend", broken)
    benchmark.find_numbers.cache_clear()
    with pytest.raises(AssertionError):
        time_case("fixed", "train", "band")
    benchmark.find_numbers.cache_clear()
