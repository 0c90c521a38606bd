"""The encoder-decoder: what every choice must do in it, and its own parts."""

import math

import pytest
import torch
from torch.nn.functional import pad
from torch.testing import assert_close

from models.attention.engine import band
from models.nets.blocks import PositionalEncoding
from tests import _models
from tests._models import COMBINATIONS, LONGEST, PLAIN, label, translator


def is_row(attention) -> bool:
    """Say whether it has a plain span and position, or a plain selection and normaliser."""
    span, selection, normaliser, position, _ = label(attention).split("-")
    if (span, position) == ("full", "none"):
        return True
    return (selection, normaliser) == ("top_k", "softmax")


ROWS = list(filter(is_row, COMBINATIONS))
SETTINGS = [
    {"norm": "pre"},
    {"tie_embeddings": False, "d_k": 2, "d_v": 5},
    {"norm": "pre", "positional_encoding": "learned", "d_k": 5, "d_v": 2},
    {"gate": True, "key_heads": 1, "d_k": 2, "d_v": 5},
]
each_row = pytest.mark.parametrize("attention", ROWS, ids=label)
MODELS = [(row, {}) for row in ROWS]
MODELS += [(PLAIN, sizes) for sizes in SETTINGS]
each_model = pytest.mark.parametrize("attention, sizes", MODELS, ids=str)


def words(*shape, seed=5):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(3, 11, shape, generator=generator)


def sentences(lengths=(9, 5)):
    """Draw sentences that end in eos, padded."""
    padded = words(len(lengths), max(lengths))
    for row, length in zip(padded, lengths, strict=True):
        row[length - 1] = 2
        row[length:] = 0
    return padded


def targets():
    begin = torch.ones(2, 1, dtype=torch.long)
    return torch.cat([begin, words(2, 11, seed=6)], 1)


@each_model
def test_engine_equals_definition_with_gradients_to_every_parameter(attention, sizes, monkeypatch):
    monkeypatch.setattr(band, "QUERIES", 3)
    model = translator(attention, **sizes)
    logits = model(sentences(), targets())
    ours = _models.with_gradients(model, logits)
    definition = _models.by_definition(translator(attention, **sizes))
    logits = definition(sentences(), targets())
    oracle = _models.with_gradients(definition, logits)
    assert_close(ours, oracle)
    for name, gradient in ours.items():
        assert gradient.abs().sum() > 0, name


@each_row
def test_neither_the_future_nor_padding_nor_neighbours_change_anything(attention):
    model = translator(attention).eval()
    source = sentences()
    target = targets()
    before = model(source, target)
    past, future = target.split([7, 5], 1)
    other_future = 3 + (future - 2) % 8
    changed = torch.cat([past, other_future], 1)
    after = model(source, changed)
    assert torch.equal(before[:, :7], after[:, :7])
    assert not torch.equal(before[:, 7:], after[:, 7:])
    wider = pad(source, (0, 4))
    assert_close(model(wider, target), before)
    alone = model(source[1:, :5], target[1:])
    assert_close(alone, before[1:])


@each_model
def test_decoding_with_a_cache_equals_reading_the_prefix(attention, sizes):
    model = translator(attention, **sizes)
    model.eval()
    state = model.encode(sentences())
    parts = []
    for token in targets().T:
        logits, state = model.step(token, state)
        parts.append(logits)
    prefix = model(sentences(), targets())
    decoded = torch.stack(parts, 1)
    assert_close(decoded, prefix)


@pytest.mark.parametrize(
    "apply_to, sparse",
    [
        ([], []),
        (["encoder"], [0, 1]),
        (["cross"], [4, 5]),
        (["decoder", "encoder"], [0, 1, 2, 3]),
    ],
)
def test_a_normaliser_applies_where_it_should(apply_to, sparse):
    """The encoder, the decoder and cross-attention have two layers each."""
    attention = {
        **PLAIN,
        "normaliser": {"name": "sparsemax"},
        "apply_to": apply_to,
    }
    model = translator(attention)
    found = []
    for place, layer in enumerate(model.attentions):
        name = type(layer.normaliser).__name__
        if name == "Sparsemax":
            found.append(place)
    assert found == sparse


def test_facts_and_penalty_are_of_self_attention():
    span = {
        "name": "adaptive",
        "limit": 8,
        "ramp": 3,
        "penalty_weight": 1.0,
    }
    model = translator(PLAIN | {"span": span})
    for layer in model.attentions[:4]:
        layer.span.fraction.data.fill_(0.25)
    facts = model.facts()
    assert facts["spans"] == [[5.0] * 3] * 4
    penalty = model.penalty().item()
    assert penalty == pytest.approx(4 * 8 * 0.25)
    fraction = model.attentions[0].span.fraction
    fraction.data.fill_(1.5)
    model.after_step()
    assert (fraction == 1).all()


def test_sinusoids_are_the_printed_ones():
    """PE(pos, 2i) = sin(pos / 10000^(2i / d)), PE(pos, 2i + 1) = cos of the same."""
    encoding = PositionalEncoding("sinusoid", 20, 8)
    # the fifth of positions 3 to 9
    of_seven = encoding(3, 10)[4]
    for i, (sine, cosine) in enumerate(of_seven.view(4, 2).tolist()):
        angle = 7 / 10000 ** (2 * i / 8)
        assert sine == pytest.approx(math.sin(angle), abs=1e-6)
        assert cosine == pytest.approx(math.cos(angle), abs=1e-6)


@pytest.mark.parametrize("source, target", [(LONGEST + 1, 3), (3, LONGEST + 1)])
def test_a_sentence_longer_than_max_length_is_refused(source, target):
    model = translator(PLAIN)
    with pytest.raises(ValueError, match="25 .*max_length.* 24"):
        model(words(1, source), words(1, target))
    longest = words(1, LONGEST)
    model(longest, longest)


@pytest.mark.parametrize(
    "choices, sizes, told",
    [
        ({"apply_to": ["encoders"]}, {}, "apply_to.* encoder"),
        ({}, {"norm": "mid"}, "norm 'mid'.* post"),
        ({}, {"positional_encoding": "rotary"}, "'rotary'.* sinusoid"),
        ({}, {"heads": 5}, "5 .*d_model = 12"),
        ({}, {"max_length": 25}, "full.* 24.* 25"),
    ],
)
def test_settings_that_it_cannot_be_built_from_are_refused(choices, sizes, told):
    with pytest.raises(ValueError, match=told):
        translator(PLAIN | choices, **sizes)
