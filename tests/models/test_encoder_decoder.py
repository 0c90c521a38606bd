"""The encoder-decoder net: what every choice must do in it, and its own parts."""

import math

import pytest
import torch

from models.attention.engine import band
from models.nets.blocks import PositionalEncoding
from tests._nets import (
    COMBINATIONS,
    LONGEST,
    assert_same,
    by_definition,
    label,
    translator,
    with_gradients,
)

PLAIN = {
    "span": {"name": "full", "cache": LONGEST},
    "selection": {"name": "all"},
    "normaliser": {"name": "softmax"},
    "position": {"name": "none"},
}
ROWS = [  # every selection with every normaliser, every span with every position
    attention
    for attention in COMBINATIONS
    if (attention["span"]["name"], attention["position"]["name"]) == ("full", "none")
    or (attention["selection"]["name"], attention["normaliser"]["name"]) == ("top_k", "softmax")
]
each_combination = pytest.mark.parametrize("attention", ROWS, ids=label)
SETTINGS = [
    {"norm": "pre"},
    {"positional_encoding": "learned"},
    {"tie_embeddings": False},
    {"d_k": 2, "d_v": 5},
    {"norm": "pre", "positional_encoding": "learned", "tie_embeddings": False, "d_k": 5, "d_v": 2},
]
each_net = pytest.mark.parametrize(
    "attention, sizes",
    [(row, {}) for row in ROWS] + [(PLAIN, sizes) for sizes in SETTINGS],
    ids=str,
)


def words(*shape, seed=5):
    return torch.randint(3, 11, shape, generator=torch.Generator().manual_seed(seed))


def sentences(lengths=(9, 5), seed=5):
    """Draw sentences that end in eos, padded."""
    padded = words(len(lengths), max(lengths), seed=seed)
    for row, length in zip(padded, lengths, strict=True):
        row[length - 1] = 2
        row[length:] = 0
    return padded


def targets(length=12, batch=2):
    return torch.cat([torch.ones(batch, 1, dtype=torch.long), words(batch, length - 1, seed=6)], 1)


@each_net
def test_engine_equals_definition_with_gradients_to_every_parameter(attention, sizes, monkeypatch):
    monkeypatch.setattr(band, "QUERIES", 3)
    net = translator(attention, **sizes)
    ours = with_gradients(net, net(sentences(), targets()))
    definition = by_definition(translator(attention, **sizes))
    oracle = with_gradients(definition, definition(sentences(), targets()))
    assert_same(ours, oracle)
    assert all(gradient.abs().sum() > 0 for gradient in ours.values())


@each_combination
def test_the_future_is_never_seen(attention):
    net = translator(attention).eval()
    source = sentences()
    target = targets()
    changed = target.clone()
    changed[:, 7:] = 3 + (changed[:, 7:] - 2) % 8
    before = net(source, target)
    after = net(source, changed)
    assert torch.equal(before[:, :7], after[:, :7])
    assert not torch.equal(before[:, 7:], after[:, 7:])


@each_combination
def test_padding_and_neighbours_change_nothing(attention):
    net = translator(attention).eval()
    source = sentences()
    target = targets()
    together = net(source, target)
    wider = net(torch.cat([source, torch.zeros(2, 4, dtype=torch.long)], 1), target)
    torch.testing.assert_close(wider, together, rtol=1e-9, atol=1e-10)
    alone = net(source[1:, :5], target[1:])
    torch.testing.assert_close(alone, together[1:], rtol=1e-9, atol=1e-10)


@each_net
def test_decoding_with_a_cache_equals_reading_the_prefix(attention, sizes):
    net = translator(attention, **sizes).eval()
    source = sentences()
    target = targets()
    state = net.encode(source)
    parts = []
    for token in target.T:
        logits, state = net.step(token, state)
        parts.append(logits)
    torch.testing.assert_close(torch.stack(parts, 1), net(source, target), rtol=1e-9, atol=1e-10)


def test_rows_of_a_state_continue_the_rows_of_their_index():
    net = translator(PLAIN).eval()
    source = sentences()
    twice = source.repeat_interleave(2, 0)
    target = targets(6, batch=4)
    state = net.encode(source).rows(torch.tensor([0, 0, 1, 1]))
    for token in target.T:
        logits, state = net.step(token, state)
    torch.testing.assert_close(logits, net(twice, target)[:, -1])

    order = [1, 1, 3, 2]
    swapped, _ = net.step(torch.full((4,), 7), state.rows(torch.tensor(order)))
    longer = torch.cat([target[order], torch.full((4, 1), 7)], 1)
    torch.testing.assert_close(swapped, net(twice, longer)[:, -1])

    alone, _ = net.step(torch.full((2,), 7), state.sentences(torch.tensor([1])))
    longer = torch.cat([target[2:], torch.full((2, 1), 7)], 1)
    torch.testing.assert_close(alone, net(twice[2:], longer)[:, -1])


PARTS = ("encoder", "decoder", "cross")


@pytest.mark.parametrize("apply_to", [(), ("encoder",), ("decoder",), ("cross",), PARTS])
def test_selection_and_normaliser_apply_where_they_should(apply_to):
    sparse = PLAIN | {"selection": {"name": "top_k", "k": 2}, "normaliser": {"name": "sparsemax"}}
    net = translator(sparse, apply_to=apply_to)
    for i, layer in enumerate(net.attentions):
        part = PARTS[i // 2]  # two layers each
        expected = ("TopK", "Sparsemax") if part in apply_to else ("All", "Softmax")
        found = (type(layer.selection).__name__, type(layer.normaliser).__name__)
        assert found == expected


def test_facts_are_of_self_attention():
    attention = PLAIN | {"span": {"name": "adaptive", "limit": 8, "ramp": 3, "penalty_weight": 1.0}}
    net = translator(attention)
    for layer in net.attentions[:4]:
        layer.span.fraction.data.fill_(0.25)
    facts = net.facts()
    assert facts["spans"] == [[5.0] * 3] * 4
    assert facts["mean_span"] == facts["max_span"] == 5.0
    assert net.penalty().item() == pytest.approx(4 * 8 * 0.25)
    fraction = net.attentions[0].span.fraction.data
    fraction[0] = -0.5
    fraction[1] = 1.5
    net.after_step()
    assert fraction.flatten().tolist() == [0.0, 1.0, 0.25]


def test_sinusoids_are_the_printed_ones():
    """PE(pos, 2i) = sin(pos / 10000^(2i / d)), PE(pos, 2i + 1) = cos of the same."""
    table = PositionalEncoding("sinusoid", 20, 8)(3, 10)
    for i in range(4):
        angle = 7 / 10000 ** (2 * i / 8)
        pair = table[4, 2 * i : 2 * i + 2].tolist()
        assert pair == pytest.approx([math.sin(angle), math.cos(angle)], abs=1e-6)


@pytest.mark.parametrize("source, target", [(LONGEST + 1, 3), (3, LONGEST + 1)])
def test_a_sentence_longer_than_max_length_is_refused(source, target):
    with pytest.raises(ValueError, match="25 .* max_length = 24"):
        translator(PLAIN)(words(1, source), words(1, target))
    translator(PLAIN)(words(1, LONGEST), words(1, LONGEST))


@pytest.mark.parametrize(
    "changed, told",
    [
        ({"apply_to": ["encoders"]}, "apply_to; valid: encoder, decoder, cross"),
        ({"norm": "mid"}, "norm 'mid'; valid: post, pre"),
        ({"positional_encoding": "rotary"}, "'rotary'; valid: sinusoid, learned, none"),
        ({"heads": 5}, "h = 5 .* d_model = 12"),
        ({"max_length": 25}, "full caches 24, .* 25"),
    ],
)
def test_settings_that_it_cannot_be_built_from_are_refused(changed, told):
    with pytest.raises(ValueError, match=told):
        translator(PLAIN, **changed)
