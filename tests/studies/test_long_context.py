"""The formulas of length: what softmax loses, and what other normalisers keep."""

import math

import numpy as np
import pytest
import torch

from models.attention.choice import Shape
from models.attention.layers import build_choice
from studies.long_context.formulas import (
    alibi_cutoff,
    bounded_softmax_entropy,
    entmax15_weight,
    softmax_weight,
    ssmax_weight,
)

ONE = Shape(4, 1)


def weigh(normaliser: str, scores: list[float]) -> torch.Tensor:
    choice = build_choice("normaliser", {"name": normaliser}, ONE)
    return choice(torch.tensor(scores, dtype=torch.float64))


@pytest.mark.parametrize("n", [1, 2, 7, 500])
@pytest.mark.parametrize("gap", [0.0, 0.7, 1.9, 2.0, 5.0])
def test_weights_are_those_of_the_normalisers(n, gap):
    scores = [gap] + [0.0] * (n - 1)
    assert softmax_weight(n, gap) == pytest.approx(weigh("softmax", scores)[0].item())
    assert entmax15_weight(n, gap) == pytest.approx(weigh("entmax15", scores)[0].item(), abs=1e-9)


def test_ssmax_keeps_the_key_exactly_where_its_scale_times_the_gap_is_above_one():
    """Nakanishi 2025, Figure 1: scores of -2 and +3, s = 0.43."""
    n = 4096
    assert ssmax_weight(n, 5, 0.43) == pytest.approx(n**2.15 / (n**2.15 + n - 1))
    assert ssmax_weight(10**9, 5, 0.43) > 0.99
    assert ssmax_weight(10**9, 2, 0.43) < 0.1
    assert softmax_weight(10**9, 5) < 1e-6


@pytest.mark.parametrize("width", [1.0, 4.0])
def test_bounded_scores_disperse_and_no_scores_within_the_bound_less(width):
    # What is missing to the entropy of even weights does not grow with n: its share halves.
    missing = 1 - bounded_softmax_entropy(100, width)
    assert missing > 0
    assert 1 - bounded_softmax_entropy(100**2, width) == pytest.approx(missing / 2)
    random = np.random.default_rng(0)
    for _ in range(50):
        z = random.uniform(0, width, 100)
        p = np.exp(z) / np.exp(z).sum()
        share = -(p * np.log(p)).sum() / math.log(100)
        assert share >= bounded_softmax_entropy(100, width) - 1e-12


@pytest.mark.parametrize("slope", [1.0, 0.25])
def test_no_key_beyond_the_cutoff_has_weight(slope):
    spread = 3.0
    cutoff = alibi_cutoff(1.5, slope, spread)
    distance = np.arange(400)
    random = np.random.default_rng(1)
    for _ in range(20):
        content = random.uniform(0, spread, len(distance))
        p = weigh("entmax15", list(content - slope * distance)).numpy()
        assert (p[distance >= cutoff] == 0).all()
