"""Operators of a training step, counted on the meta device: as torch counts them where numbers are computed."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from models.attention.engine import chunks
from models.kernels.compiled import build
from tests._jobs import VARIANTS, job, translation
from workflow.costs import sentences, step_counts, streams
from workflow.costs.operators import Operators
from workflow.costs.outline import pairs
from workflow.costs.step_counts import count_step
from workflow.costs.trained_net import build_net

CPU, SYMBOLS = torch.device("cpu"), 7
START = [[0.0, 0.0]] * 2  # z of two layers of two heads: that of nets before their first step


def counted_by_torch(job, costs, symbols=SYMBOLS) -> int:
    """Multiply-accumulates of a training step that is computed, by torch's operators alone."""
    with build.without():
        step, _ = costs.training_step(job, build_net(job, CPU, symbols), CPU)
        with FlopCounterMode(display=False) as counter:
            step()
    return counter.get_total_flops() // 2


def test_operators_by_hand():
    """x: 2 3 (24 bytes), w: 3 5 (60 bytes), y: 2 5 (40 bytes), relu of it in place: 30 multiply-accumulates."""
    with Operators() as operators:
        x, w = torch.empty(2, 3, device="meta"), torch.empty(3, 5, device="meta")
        assert operators.held == 84
        y = (x @ w).relu_()
        z = y.T[:2]  # a view is no operator, and takes no memory
        counts = [(each.name, each.macs, each.bytes, count) for each, count in operators.launched.items()]
        assert operators.held == operators.peak == 124
        del x, y, z
        assert (operators.held, operators.peak) == (60, 124)
    assert counts == [("aten.mm.default", 30, 124, 1), ("aten.relu_.default", 0, 80, 1)]


@pytest.mark.parametrize("variant", ["sparsemax", "entmax15", "entmax_alpha", "top_k"])
def test_a_step_has_the_products_that_torch_counts(variant):
    """Of choices that no kernel computes; dropout of weights is none of their operators."""
    small = job(**VARIANTS[variant] | {"span": {"name": "fixed", "limit": 24}})
    small = small.model_copy(update={"net": small.net.model_copy(update={"attention_dropout": 0.0})})
    assert count_step(small, SYMBOLS, [], "cuda").macs == counted_by_torch(small, streams)


def test_a_step_of_a_translation_has_the_products_that_torch_counts():
    small = translation()
    assert count_step(small, 40, [], "cuda").macs == counted_by_torch(small, sentences, 40)


def test_streams_that_are_computed_one_after_another_are_all_counted(monkeypatch):
    small = job(**VARIANTS["sparsemax"] | {"span": {"name": "fixed", "limit": 24}})
    monkeypatch.setattr("models.attention.engine.backend.SMALL", 0)
    together = count_step(small, SYMBOLS, [], "cuda")
    monkeypatch.setattr(chunks, "SCRATCH_BYTES", 1)
    apart = count_step(small, SYMBOLS, [], "cuda")
    assert apart.macs == together.macs and apart.launches > together.launches


@pytest.mark.parametrize("on", ["cpu", "cuda"])
def test_layers_that_are_alike_are_counted_once(on):
    four = job(span={"name": "fixed", "limit": 24}, net={"layers": 4})
    once, all_of_them = count_step(four, SYMBOLS, [], on), step_counts._count(four, SYMBOLS, [], on)
    for key in ("macs", "launches", "moved", "bytes"):
        assert getattr(once, key) == getattr(all_of_them, key), key


def test_the_batches_of_an_update_are_counted_once():
    four = translation(accumulate=4)
    once, all_of_them = count_step(four, 40, [], "cuda"), step_counts._count(four, 40, [], "cuda")
    assert (once.macs, once.launches) == (all_of_them.macs, all_of_them.launches)


@pytest.mark.skipif(bool(build.obstacle()), reason="nothing is compiled here")
def test_a_span_that_reaches_farther_costs_more_and_a_compiled_layer_is_two_operators():
    near, far = (count_step(job(), SYMBOLS, [[z] * 2] * 2, "cpu") for z in (0.0, 20.0))
    assert near.macs < far.macs and near.bytes < far.bytes
    names = [operator.name for operator in near.launched]
    assert {"attention", "attention, backward", "projections", "projections, backward"} <= {*names}


def test_a_kernel_counts_the_keys_that_are_seen():
    """Of 3 queries, the last of 5 rows, the first sees 2 before it, the next 3 and 4, or as far as they reach."""
    assert pairs(3, 5, 9, attends_self=False) == 2 + 3 + 4 and pairs(3, 5, 9, attends_self=True) == 3 + 4 + 5
    assert pairs(3, 5, 3, attends_self=False) == 2 + 3 + 3
    softmax = count_step(job(), SYMBOLS, START, "cuda")
    assert "attention, backward" in {operator.name for operator in softmax.launched}
