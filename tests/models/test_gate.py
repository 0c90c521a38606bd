"""The gate on the output of attention, against NumPy."""

from functools import partial
from itertools import product

import numpy as np
import pytest
import torch

from models import macs
from models.attention.engine.engine import Engine
from models.attention.formula import Definition
from models.attention.layers import SequenceAttention
from models.nets.decoder import Decoder
from tests._models import PLAIN, translator
from tests.models._formula import (
    SHAPE,
    Named,
    attend,
    check_close,
    draw,
    gradient,
    layer_of,
    parameters_of,
    project_all,
    scaled_product,
    weigh,
)

CASES = [
    Named(),
    Named("asentmax", "entmax15", k=3, S=4),
    Named("none", "learned_sink", position="nope"),
    Named(k=2, S=4, key_heads=2),
    Named(key_heads=1),
]


@pytest.fixture(params=[Definition, partial(Engine, "band"), Engine], ids=["formula", "band", ""])
def implementation(request):
    return request.param()


def gated(named: Named, weights: dict, x: np.ndarray) -> np.ndarray:
    """Compute a layer of a stream: T d -> T d."""
    y = attend(named, weights, x, attends_self=True)
    return through_gate(weights, y, x)


def gated_sequence(weights: dict, x: np.ndarray, source: np.ndarray) -> np.ndarray:
    """Compute a softmax layer in which every query, T d, sees the whole source, N d -> T d."""
    q, _, _ = project_all(weights, x)
    _, k, v = project_all(weights, source)
    y = np.zeros((len(x), SHAPE.heads, SHAPE.d_v), complex)
    for t, head in product(range(len(x)), range(SHAPE.heads)):
        scores = scaled_product(q[t, head], k[:, head])
        p = weigh(Named(), weights, scores, head)
        y[t, head] = p @ v[:, head]
    return through_gate(weights, y, x)


def through_gate(weights: dict, y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Gate and project the outputs of all heads: T h dv and T d -> T d."""
    raw = x @ weights["gate.weight"].T
    opening = 1 / (1 + np.exp(-raw))
    passed = y.reshape(len(x), -1) * opening
    return passed @ weights["out.weight"].T


@pytest.mark.parametrize("named", CASES, ids=str)
def test_values_and_gradients_are_those_of_the_formula(named, implementation):
    layer = layer_of(named, attends_self=True, gate=True)
    layer.implementation = implementation
    x = draw(1, 7).requires_grad_()
    y, _ = layer(x, layer.start(1))
    direction = torch.randn_like(y)
    (y * direction).sum().backward()

    weights = parameters_of(layer)
    values = x.detach().numpy()[0]
    check_close(y.detach()[0], gated(named, weights, values))

    def total(x=values, **changed):
        return (gated(named, weights | changed, x) * direction[0].numpy()).sum()

    check_close(x.grad[0], gradient(total, values))

    def total_of_gate(weight):
        return total(**{"gate.weight": weight})

    check_close(layer.gate.weight.grad, gradient(total_of_gate, weights["gate.weight"]))


@pytest.mark.parametrize("training", [True, False])
def test_blocks_of_a_stream_give_the_numbers_of_one_pass(implementation, training):
    layer = layer_of(CASES[1], attends_self=True, gate=True)
    layer.train(training)
    layer.implementation = implementation
    x = draw(2, 11)
    with torch.no_grad():
        whole, _ = layer(x, layer.start(2))
        past = layer.start(2)
        parts = []
        for block in x.split([4, 1, 6], 1):
            y, past = layer(block, past)
            parts.append(y)
    check_close(torch.cat(parts, 1), whole)


@pytest.mark.parametrize("reads_itself", [True, False])
def test_a_padded_sequence_has_the_numbers_of_the_formula(reads_itself, implementation):
    """The first of two sequences has three keys and padding, the second five keys."""
    layer = layer_of(
        Named(position="nope"), SequenceAttention, reads_itself=reads_itself, gate=True
    )
    layer.implementation = implementation
    source = draw(2, 5)
    visible = torch.ones(2, 5, dtype=torch.bool)
    visible[0, 3:] = False
    queries = (source if reads_itself else draw(2, 4)).clone().requires_grad_()
    memory = queries if reads_itself else source
    y = layer(queries, layer.project(memory), visible)
    direction = torch.randn_like(y)
    (y * direction).sum().backward()

    weights = parameters_of(layer)
    of_gate = np.zeros_like(weights["gate.weight"])
    for b, N in enumerate((3, 5)):
        T = N if reads_itself else 4
        x = queries[b, :T].detach().numpy()
        keys = source[b, :N].numpy()
        along = direction[b, :T].numpy()

        def total(x=x, keys=keys, along=along, **changed):
            keys = x if reads_itself else keys
            return (gated_sequence(weights | changed, x, keys) * along).sum()

        def total_of_gate(weight, total=total):
            return total(**{"gate.weight": weight})

        check_close(y[b, :T].detach(), gated_sequence(weights, x, keys))
        check_close(y[b, T:].detach(), 0)
        check_close(queries.grad[b, :T], gradient(total, x))
        of_gate += gradient(total_of_gate, weights["gate.weight"])
    check_close(layer.gate.weight.grad, of_gate)


def test_the_gate_is_counted_and_drawn_after_all_else():
    net = {"layers": 1, "d_model": 8, "heads": 2, "d_ff": 16, "dropout": 0, "attention_dropout": 0}
    attention = {
        "span": {"name": "full", "cache": 16},
        "selection": {"name": "all"},
        "normaliser": {"name": "softmax"},
        "position": {"name": "nope"},
    }
    models = []
    for gate in (False, True):
        torch.manual_seed(0)
        models.append(Decoder(5, attention, net | {"gate": gate}))
    without, with_gate = models
    symbols = torch.zeros(1, 6, dtype=torch.long)
    dense, executed = macs.sequence(without, symbols)
    # a matrix of 8 x 8 for each symbol
    assert macs.sequence(with_gate, symbols) == (dense + 64, executed + 64)
    for name in ("query", "key", "value", "out"):
        first = getattr(without.attentions[0], name).weight
        second = getattr(with_gate.attentions[0], name).weight
        assert first.equal(second)


def test_a_gate_of_an_encoder_and_decoder_is_counted_for_every_query():
    """Two layers of width 12: a gate has 144 weights."""
    N = 5  # queries of the encoder
    T = 3  # queries of the decoder, and of attention to the source
    plain = macs.pair(translator(PLAIN), N, T)
    gated = macs.pair(translator(PLAIN, gate=True), N, T)
    more = 2 * 144 * (N + T + T)
    assert T * (gated - plain) == pytest.approx(more)
