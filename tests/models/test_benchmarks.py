"""The benchmarks: nothing with other numbers than the definition's, or a peer's, is timed."""

from itertools import product
from types import SimpleNamespace

import pytest
import torch

from benchmarks import peers
from benchmarks import test_engine as benchmark
from models.attention.engine.engine import Engine


@pytest.fixture(autouse=True)
def small(monkeypatch):
    sizes = {"BLOCK": 8, "STREAMS": 2, "NET": benchmark.NET | {"d_model": 16, "d_ff": 16}}
    for name, value in sizes.items():
        monkeypatch.setattr(benchmark, name, value)
    for name, value in {"WIDTH": 16, "BLOCK": 150, "STREAMS": 2}.items():
        monkeypatch.setattr(peers, name, value)
    benchmark.find_numbers.cache_clear()
    yield
    benchmark.find_numbers.cache_clear()


def time_case(span: str, work: str, backend: str) -> dict:
    """Time one case; give what was noted."""

    def pedantic(step, rounds, warmup_rounds):
        return step()

    benchmarked = SimpleNamespace(pedantic=pedantic, extra_info={})
    benchmark.test_engine(benchmarked, 0, 32, 24, span, work, backend)
    return benchmarked.extra_info


def test_what_this_machine_has_is_timed():
    for span, work in product(("fixed", "adaptive"), ("forward", "train")):
        assert time_case(span, work, "band")["backend"] == "band"
        with pytest.raises(pytest.skip.Exception, match="GPU"):
            time_case(span, work, "triton")


def test_an_engine_with_other_numbers_is_not_timed(monkeypatch):
    attend = Engine.attend

    def broken(*given):
        y, past = attend(*given)
        return 1.001 * y, past

    monkeypatch.setattr(Engine, "attend", broken)
    with pytest.raises(AssertionError):
        time_case("fixed", "train", "band")


@pytest.mark.parametrize("name", peers.peers(None))
def test_a_peer_gives_the_numbers_of_ours(name):
    peer = peers.peers(None)[name]
    x = torch.randn(2, 150, 16)
    past = torch.randn(40, 2, 16)
    made, ours = peers.step_of_ours(40, peer.choices, x, past)
    theirs = peers.step_of_peer(made, peer.attend, x, past)
    peers.assert_alike(name, ours(), theirs())
    with pytest.raises(SystemExit):
        peers.assert_alike(name, ours(), [2 * each for each in ours()])
