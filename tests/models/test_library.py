"""The package for your own model: as its page says, and against torch's own attention."""

import re
import shutil
import subprocess
import sys

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

from models.attention.choice import Choice, Shape
from models.library import CHOICES, attention, layer
from tests._copied import ROOT


def drawn(B=2, h=4, g=2, T=6, K=17, d=4):
    """Draw contiguous q, k and v; views of other memory are in `_views.py`."""
    torch.manual_seed(0)
    sizes = ((h, T, d), (g, K, d), (g, K, d))
    return [torch.randn(B, *size).double().requires_grad_() for size in sizes]


def test_plain_attention_is_torchs():
    q, k, v = drawn(T=17)
    theirs = scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    assert_close(attention(q, k, v), theirs)


@pytest.mark.parametrize(
    "choices, told",
    [
        ({"span": "fixd"}, "'fixd'.* fixed"),
        ({"span": {"name": "dynamic", "limit": 40}}, "layer"),
        ({"span": 7}, "span .* 7"),
        ({"span": {"name": "fixed", "limit": 0}}, "limit .*1.* 0"),
        ({"span": "fixed"}, "span 'fixed' .* 'limit'"),
        ({"selection": "top_k"}, "selection 'top_k' .* 'k'"),
        ({"position": {"name": "relative", "limit": 8, "colour": 1}}, "'colour'.* limit"),
        ({"dropout": 1.5}, "dropout .* 1.5"),
    ],
)
def test_what_cannot_be_is_named(choices, told):
    with pytest.raises(ValueError, match=told):
        attention(*drawn(), **choices)


def test_a_gate_of_zeros_halves_what_a_layer_gives():
    """sigmoid(0) = 1/2."""
    torch.manual_seed(0)
    gated = layer(12, 4, gate=True)
    gated.gate.weight.data.zero_()
    without = layer(12, 4)
    without.load_state_dict(gated.state_dict(), strict=False)
    x = torch.randn(2, 7, 12)
    halved, _ = gated(x, gated.start(2))
    y, _ = without(x, without.start(2))
    assert_close(halved, y / 2)


@pytest.mark.parametrize(
    "settings, told",
    [
        ({"spans": "full"}, "'spans'.* span"),
        ({"key_heads": 3}, "key_heads = 3"),
        ({"key_heads": 8}, "key_heads = 8"),
        ({"position": "rotary"}, "d_k .* 3"),
    ],
)
def test_a_layer_that_cannot_be_is_named(settings, told):
    with pytest.raises(ValueError, match=told):
        layer(12, 4, **settings)


class _ByScore(Choice):
    """Weights times scores; that of a key not seen is left as it is, or hidden at the end."""

    def __init__(self, shape, *, hidden: bool):
        super().__init__()
        self.hidden = hidden

    def forward(self, kept):
        scaled = kept.softmax(-1) * kept
        return torch.where(kept.isneginf(), 0, scaled) if self.hidden else scaled


@pytest.mark.parametrize(
    "axis, hidden, told",
    [("selection", 0, "NaN"), ("normaliser", 0, "NaN"), ("normaliser", 1, "a gradient of NaN")],
)
def test_a_choice_that_makes_nan_of_a_key_not_seen_is_refused(axis, hidden, told, monkeypatch):
    """0 * -inf, in what it gives or in its gradient alone."""
    monkeypatch.setitem(CHOICES[axis], "by_score", _ByScore)
    with pytest.raises(ValueError, match=f"{axis} 'by_score' .*{told}"):
        layer(12, 3, **{axis: {"name": "by_score", "hidden": hidden}})
    with pytest.raises(ValueError, match=f"{axis} '_ByScore' .*{told}"):
        layer(12, 3, **{axis: _ByScore(Shape(12, 3), hidden=hidden)})


@pytest.mark.slow
def test_the_page_runs_with_torch_and_the_package_alone(tmp_path):
    """Installed from a checkout in which nothing was built; nothing else of ours is imported."""
    checkout = shutil.copytree(ROOT / "models", tmp_path / "checkout" / "models")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    subprocess.run([*pip, "--target", tmp_path, checkout], check=True, cwd=tmp_path)
    page = (ROOT / "docs" / "library.md").read_text()
    example = re.search(r"```python\n(.*?)```", page, re.S)[1]
    unwanted = {"models", "workflow", "pandas", "snakemake", "pydantic"}
    program = f"{example}\nimport sys; print({unwanted!r} & set(sys.modules))"
    ended = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, stdout=subprocess.PIPE)
    assert ended.returncode == 0
    assert ended.stdout.decode().strip() == "set()"
