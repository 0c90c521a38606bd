"""The package for your own model: as its page says, and against torch's own attention."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from models.attention.choice import Choice, Shape
from models.attention.layers import build_choice
from models.library import CHOICES, attention, layer

ROOT = Path(__file__).parents[2]
OF_AXES = [(axis, name) for axis in CHOICES for name in CHOICES[axis] if name != "dynamic"]


def drawn(B=2, h=4, g=2, T=6, K=17, d=4):
    """Draw contiguous q, k and v; views of other memory are in `_views.py`."""
    torch.manual_seed(0)
    return [
        torch.randn(B, *size).double().requires_grad_()
        for size in ((h, T, d), (g, K, d), (g, K, d))
    ]


def results(q, k, v, **settings):
    torch.manual_seed(1)  # of what a choice draws when it is built
    y = attention(q, k, v, **settings)
    return [y, *torch.autograd.grad(y.square().sum(), [q, k, v])]


@pytest.mark.parametrize("axis, name", OF_AXES)
@pytest.mark.parametrize("attends_self", [True, False])
def test_the_engine_gives_the_definitions_numbers(axis, name, attends_self):
    settings = {axis: {"name": name, **CHOICES[axis][name].example}, "attends_self": attends_self}
    for ours, exact in zip(
        results(*drawn(), **settings), results(*drawn(), **settings, definition=True), strict=True
    ):
        torch.testing.assert_close(ours, exact, rtol=1e-9, atol=1e-9)


def test_plain_attention_is_torchs():
    q, k, v = drawn(T=17)
    torch.testing.assert_close(
        attention(q, k, v), scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    )


@pytest.mark.parametrize(
    "settings, told",
    [
        ({"span": "fixd"}, "'fixd'; valid: adaptive, dynamic, fixed, full, sinks"),
        ({"span": {"name": "dynamic", "limit": 40}}, "follows the input"),
        ({"span": 7}, "span .* 7"),
        ({"span": {"name": "fixed", "limit": 0}}, "limit .* 1, got 0"),
        ({"dropout": 1.5}, "dropout .* 1.5"),
    ],
)
def test_what_cannot_be_is_named(settings, told):
    with pytest.raises(ValueError, match=told):
        attention(*drawn(), **settings)
    with pytest.raises(ValueError, match="'spans'; valid: span, selection, normaliser, position"):
        layer(12, 3, spans="full")


@pytest.mark.parametrize(
    "axis, name, needed",
    [("span", "fixed", "limit"), ("selection", "top_k", "k"), ("position", "relative", "limit")],
)
def test_a_setting_that_is_missing_or_unknown_is_named(axis, name, needed):
    with pytest.raises(ValueError, match=f"{axis} '{name}' .* '{needed}'"):
        attention(*drawn(), **{axis: name})
    unknown = {"name": name, **CHOICES[axis][name].example, "colour": 1}
    with pytest.raises(ValueError, match=f"{axis} '{name}' .* 'colour'; valid: .*{needed}"):
        layer(12, 3, **{axis: unknown})


class _ByScore(Choice):
    """Weights times scores, with the score of a key that is not seen left as it is, or replaced."""

    def __init__(self, shape, *, replaced: bool, again: bool = False):
        super().__init__()
        self.replaced = replaced
        self.again = again

    def forward(self, kept):
        weights = kept.softmax(-1)
        scores = kept.masked_fill(kept.isneginf(), 0) if self.replaced else kept
        scaled = weights * scores
        return torch.where(kept.isneginf(), 0, scaled) if self.again else scaled


@pytest.mark.parametrize("again, word", [(False, "NaN"), (True, "a gradient of NaN")])
def test_a_normaliser_that_makes_nan_of_a_key_not_seen_is_refused_with_the_cause(again, word):
    """0 * -inf, in what it gives or in its gradient alone."""
    shape = Shape(12, 3)
    attention(*drawn(), normaliser=_ByScore(shape, replaced=True, again=again))
    wrong = _ByScore(shape, replaced=False, again=again)
    with pytest.raises(ValueError, match=f"normaliser '_ByScore' gives {word} "):
        attention(*drawn(), normaliser=wrong)
    with pytest.raises(ValueError, match=f"normaliser '_ByScore' gives {word} "):
        layer(12, 3, normaliser=wrong)


@pytest.mark.parametrize("axis", ["selection", "normaliser"])
def test_a_choice_by_name_that_makes_nan_is_refused_when_it_is_built(axis, monkeypatch):
    monkeypatch.setitem(CHOICES[axis], "by_score", _ByScore)
    with pytest.raises(ValueError, match=f"{axis} 'by_score' .* NaN"):
        build_choice(axis, {"name": "by_score", "replaced": 0}, Shape(12, 3))


@pytest.mark.slow
def test_the_page_runs_with_torch_and_the_package_alone(tmp_path):
    """Installed from a checkout in which nothing was built; of what else is here nothing is
    imported.
    """
    checkout = shutil.copytree(ROOT / "models", tmp_path / "checkout" / "models")
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--target",
        tmp_path,
        checkout,
    ]
    subprocess.run(command, check=True, cwd=tmp_path)
    page = re.search(
        r"```python\n(.*?)```", (ROOT / "docs" / "library.md").read_text(), re.S
    ).group(1)
    unwanted = {"models", "workflow", "pandas", "snakemake", "pydantic"}
    told = f"import sys; print(sorted({unwanted!r} & set(sys.modules)))"
    ended = subprocess.run(
        [sys.executable, "-c", f"{page}\n{told}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout.strip() == "[]"
