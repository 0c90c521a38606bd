"""Parameter counts at the papers' sizes, by building the nets (nothing is allocated), equal to the formulas."""

import pytest
import torch

from models.nets import build
from workflow.measure import formulas

SMALL = {"layers": 12, "width": 512, "heads": 8, "inner": 2048}
LARGE = {"layers": 24, "width": 768, "heads": 8, "inner": 4096}


def count(net, span, position, V, **sizes):
    attention = {"span": span, "selection": {"name": "all"}, "normaliser": {"name": "softmax"}, "position": position}
    with torch.device("meta"):
        made = build({"name": net, "dropout": 0.0, "attention_dropout": 0.0, **sizes}, attention, V)
    return sum(parameter.numel() for parameter in made.parameters())


def span_model(name, V, S, **sizes):
    return count("char_lm", {"name": name, "limit": S}, {"name": "relative", "limit": S}, V, **sizes)


@pytest.mark.parametrize(
    "sizes, V, S, expected",
    [
        (SMALL, 27, 8192, 38_356_091),
        (SMALL, 28, 8192, 38_357_116),
        (SMALL, 205, 8192, 38_538_541),
        (SMALL, 204, 8192, 38_537_516),
        (LARGE, 27, 8192, 208_636_635),
        (LARGE, 205, 8192, 208_910_221),
        ({**LARGE, "inner": 3072}, 205, 8192, 171_136_909),
        ({"layers": 8, "width": 256, "heads": 4, "inner": 1024}, 205, 1024, 6_480_621),
    ],
)
def test_adaptive_span_models(sizes, V, S, expected):
    assert span_model("adaptive", V, S, **sizes) == expected
    by_formula = formulas.as_params(V, sizes["width"], sizes["heads"], sizes["layers"], S, sizes["inner"])
    assert by_formula == expected


@pytest.mark.parametrize(
    "S, expected",
    [
        (256, 37_848_091),
        (512, 37_864_475),
        (1024, 37_897_243),
        (2048, 37_962_779),
        (4096, 38_093_851),
        (8192, 38_355_995),
    ],
)
def test_fixed_span_models(S, expected):
    assert span_model("fixed", 27, S, **SMALL) == expected
    assert formulas.as_params(27, 512, 8, 12, S, 2048, adaptive=False) == expected


def test_dynamic_spans_add_a_vector_and_a_bias_per_head():
    assert span_model("dynamic", 27, 1024, **SMALL) - span_model("fixed", 27, 1024, **SMALL) == 49_248


@pytest.mark.parametrize(
    "sizes, dh, V, expected",
    [
        (SMALL, 64, 204, 41_055_436),
        (SMALL, 64, 27, 40_964_635),
        ({"layers": 24, "width": 1024, "heads": 8, "inner": 3072}, 128, 204, 277_231_820),
        ({"layers": 24, "width": 1024, "heads": 8, "inner": 3072}, 128, 27, 277_050_395),
    ],
)
def test_transformer_xl_models(sizes, dh, V, expected):
    span, position = {"name": "full", "memory": 512}, {"name": "transformer_xl"}
    assert count("transformer_xl", span, position, V, **sizes) == expected
    assert formulas.txl_params(V, sizes["width"], sizes["heads"], dh, sizes["layers"], sizes["inner"]) == expected


def test_top_k_adds_no_parameters():
    span, position = {"name": "fixed", "limit": 64}, {"name": "relative", "limit": 64}
    attention = {
        "span": span,
        "selection": {"name": "top_k", "k": 8},
        "normaliser": {"name": "softmax"},
        "position": position,
    }
    net = {"name": "char_lm", "dropout": 0.0, "attention_dropout": 0.0, **SMALL}
    with torch.device("meta"):
        sparse = sum(parameter.numel() for parameter in build(net, attention, 27).parameters())
    assert sparse == span_model("fixed", 27, 64, **SMALL)
