"""Parameter counts at the papers' sizes: of the models (nothing is allocated) and by formula."""

import pytest
import torch

from tests._models import PLAIN, SEQ2SEQ, SIZES, build
from workflow.claims.published import formulas


def parameters(V: int, attention: dict, net: dict) -> int:
    with torch.device("meta"):
        model = build(net, PLAIN | attention, V)
    return sum(parameter.numel() for parameter in model.parameters())


def of_spans(span: str, V: int, d: int, h: int, N: int, S: int, ff: int) -> int:
    choices = {"span": {"name": span, "limit": S}, "position": {"name": "relative", "limit": S}}
    net = {"layers": N, "d_model": d, "heads": h, "d_ff": ff}
    return parameters(V, choices, SIZES | net)


@pytest.mark.parametrize(
    "span, sizes, expected",
    [
        ("adaptive", (27, 512, 8, 12, 8192, 2048), 38_356_091),
        ("adaptive", (205, 768, 8, 24, 8192, 4096), 208_910_221),
        ("adaptive", (205, 256, 4, 8, 1024, 1024), 6_480_621),
        ("fixed", (27, 512, 8, 12, 256, 2048), 37_848_091),
        ("fixed", (27, 512, 8, 12, 8192, 2048), 38_355_995),
    ],
)
def test_adaptive_and_fixed_spans(span, sizes, expected):
    by_formula = formulas()["as_params"](*sizes, adaptive=span == "adaptive")
    assert of_spans(span, *sizes) == by_formula == expected


def test_dynamic_spans_add_a_vector_and_a_bias_per_head():
    sizes = (27, 512, 8, 12, 1024, 2048)
    added = of_spans("dynamic", *sizes) - of_spans("fixed", *sizes)
    assert added == 12 * 8 * (512 + 1)


@pytest.mark.parametrize(
    "V, d, N, ff, expected",
    [(204, 512, 12, 2048, 41_055_436), (27, 1024, 24, 3072, 277_050_395)],
)
def test_transformer_xl(V, d, N, ff, expected):
    net = {"name": "transformer_xl", "layers": N, "d_model": d, "heads": 8, "d_ff": ff}
    built = parameters(V, {"position": {"name": "transformer_xl"}}, SIZES | net)
    by_formula = formulas()["txl_params"](V, d, 8, d // 8, N, ff)
    assert built == by_formula == expected


BASE = {"N": 6, "d": 512, "ff": 2048, "h": 8, "dk": 64, "dv": 64, "V": 37_000}


def of_seq2seq(N, d, ff, h, dk, dv, V, **settings) -> int:
    sizes = {"layers": N, "d_model": d, "d_ff": ff, "heads": h, "d_k": dk, "d_v": dv}
    # the top k keys add no parameter to the formula
    choices = {"selection": {"name": "top_k", "k": 8}, "apply_to": ["encoder", "decoder", "cross"]}
    return parameters(V, choices, SEQ2SEQ | sizes | settings)


@pytest.mark.parametrize(
    "changed, expected",
    [
        ({}, 63_045_632),
        ({"d": 1024, "ff": 4096, "h": 16, "V": 32_000}, 209_051_648),
        ({"dk": 16}, 55_967_744),
        ({"h": 32, "dk": 16, "dv": 16}, None),
        ({"N": 2}, None),
        ({"d": 256, "dk": 32, "dv": 32}, None),
    ],
)
def test_attention_is_all_you_need_table_3(changed, expected):
    """By formula, and three of them by hand."""
    sizes = BASE | changed
    by_formula = formulas()["aiayn_params"](**sizes)
    assert of_seq2seq(**sizes) == by_formula == (expected or by_formula)


@pytest.mark.parametrize(
    "changed, added",
    [
        ({"positional_encoding": "learned"}, 2 * SEQ2SEQ["max_length"] * 512),
        ({"tie_embeddings": False}, 2 * 37_000 * 512),
        ({"norm": "pre"}, 2 * 2 * 512),  # a last norm on each side
    ],
)
def test_what_other_parts_add(changed, added):
    assert of_seq2seq(**BASE, **changed) - of_seq2seq(**BASE) == added
