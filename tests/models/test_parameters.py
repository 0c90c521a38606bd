"""Parameter counts at the papers' sizes, by building the nets (nothing is allocated), equal to the
formulas.
"""

import pytest
import torch

from tests._nets import build
from workflow.claims.published import formulas

SMALL = {"layers": 12, "d_model": 512, "heads": 8, "d_ff": 2048}
LARGE = {"layers": 24, "d_model": 768, "heads": 8, "d_ff": 4096}


def parameters(V: int, attention: dict, **net) -> int:
    choices = {"selection": {"name": "all"}, "normaliser": {"name": "softmax"}, **attention}
    with torch.device("meta"):
        model = build({"dropout": 0.0, "attention_dropout": 0.0, **net}, choices, V)
    return sum(parameter.numel() for parameter in model.parameters())


def span_model(name, V, S, **sizes):
    attention = {"span": {"name": name, "limit": S}, "position": {"name": "relative", "limit": S}}
    return parameters(V, attention, name="char_lm", **sizes)


@pytest.mark.parametrize(
    "sizes, V, S, expected",
    [
        (SMALL, 27, 8192, 38_356_091),
        (SMALL, 28, 8192, 38_357_116),
        (SMALL, 205, 8192, 38_538_541),
        (SMALL, 204, 8192, 38_537_516),
        (LARGE, 27, 8192, 208_636_635),
        (LARGE, 205, 8192, 208_910_221),
        ({**LARGE, "d_ff": 3072}, 205, 8192, 171_136_909),
        ({"layers": 8, "d_model": 256, "heads": 4, "d_ff": 1024}, 205, 1024, 6_480_621),
    ],
)
def test_adaptive_span_models(sizes, V, S, expected):
    assert span_model("adaptive", V, S, **sizes) == expected
    by_formula = formulas()["as_params"](
        V, sizes["d_model"], sizes["heads"], sizes["layers"], S, sizes["d_ff"]
    )
    assert by_formula == expected


@pytest.mark.parametrize("S, expected", [(256, 37_848_091), (1024, 37_897_243), (8192, 38_355_995)])
def test_fixed_span_models(S, expected):
    assert span_model("fixed", 27, S, **SMALL) == expected
    assert formulas()["as_params"](27, 512, 8, 12, S, 2048, adaptive=False) == expected


def test_dynamic_spans_add_a_vector_and_a_bias_per_head():
    assert (
        span_model("dynamic", 27, 1024, **SMALL) - span_model("fixed", 27, 1024, **SMALL) == 49_248
    )


@pytest.mark.parametrize(
    "sizes, dh, V, expected",
    [
        (SMALL, 64, 204, 41_055_436),
        (SMALL, 64, 27, 40_964_635),
        ({"layers": 24, "d_model": 1024, "heads": 8, "d_ff": 3072}, 128, 204, 277_231_820),
        ({"layers": 24, "d_model": 1024, "heads": 8, "d_ff": 3072}, 128, 27, 277_050_395),
    ],
)
def test_transformer_xl_models(sizes, dh, V, expected):
    attention = {"span": {"name": "full", "cache": 512}, "position": {"name": "transformer_xl"}}
    assert parameters(V, attention, name="transformer_xl", **sizes) == expected
    assert (
        formulas()["txl_params"](
            V, sizes["d_model"], sizes["heads"], dh, sizes["layers"], sizes["d_ff"]
        )
        == expected
    )


BASE = {"N": 6, "d": 512, "ff": 2048, "h": 8, "dk": 64, "dv": 64, "V": 37_000}
ROWS = {"base": {}, "big": {"d": 1024, "ff": 4096, "h": 16, "V": 32_000}}
ROWS |= {
    f"A {h}": {"h": h, "dk": width, "dv": width}
    for h, width in ((1, 512), (4, 128), (16, 32), (32, 16))
}
ROWS |= {f"B {dk}": {"dk": dk} for dk in (16, 32)} | {f"C N={N}": {"N": N} for N in (2, 4, 8)}
ROWS |= {f"C d={d}": {"d": d, "dk": width, "dv": width} for d, width in ((256, 32), (1024, 128))}
ROWS |= {f"C ff={ff}": {"ff": ff} for ff in (1024, 4096)}
NET = {
    "name": "seq2seq",
    "positional_encoding": "sinusoid",
    "tie_embeddings": True,
    "max_length": 256,
    "norm": "post",
}
ATTENTION = {"span": {"name": "full", "cache": 256}, "selection": {"name": "top_k", "k": 8}}
ATTENTION |= {"position": {"name": "none"}, "apply_to": ["encoder", "decoder", "cross"]}


def seq2seq(N, d, ff, h, dk, dv, V, **net):
    sizes = {"layers": N, "d_model": d, "d_ff": ff, "heads": h, "d_k": dk, "d_v": dv}
    return parameters(V, ATTENTION, **{**NET, **sizes, **net})


@pytest.mark.parametrize("row", ROWS)
def test_attention_is_all_you_need_table_3(row):
    """The nets select the top k keys, which adds no parameter to the formula."""
    sizes = {**BASE, **ROWS[row]}
    assert seq2seq(**sizes) == formulas()["aiayn_params"](**sizes)


@pytest.mark.parametrize(
    "row, expected", [("base", 63_045_632), ("B 16", 55_967_744), ("big", 209_051_648)]
)
def test_attention_is_all_you_need_by_hand(row, expected):
    assert seq2seq(**{**BASE, **ROWS[row]}) == expected


def test_what_learned_positions_untied_matrices_and_pre_norm_add():
    base = seq2seq(**BASE)
    assert seq2seq(**BASE, positional_encoding="learned") - base == 2 * 256 * 512
    assert seq2seq(**BASE, tie_embeddings=False) - base == 2 * 37_000 * 512
    assert seq2seq(**BASE, norm="pre") - base == 2 * 2 * 512  # a last norm on each side
