"""A trained model, tested with other weights than it was trained with.

What the hard maximum or sharper scores win back at test time was lost because attention dispersed;
what they cannot win back was lost because keys were ranked wrongly.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor

from models.attention.choice import Choice
from models.attention.score_scales._score_scale import ScoreScale

FACTORS = (1.0, 2.0, 4.0, 8.0)  # that scores are multiplied by


class HardMaximum(Choice):
    """All weight on the highest score; equal ones share it."""

    def forward(self, kept: Tensor) -> Tensor:
        is_highest = kept == kept.amax(-1, keepdim=True)
        weights = is_highest.to(kept.dtype)
        return weights / weights.sum(-1, keepdim=True)


class Sharper(ScoreScale):
    """The scores of another scale, biases by distance included, times a factor."""

    changes_scores = True

    def __init__(self, scale: ScoreScale, factor: float):
        Choice.__init__(self)
        self.scale = scale
        self.factor = factor
        self.changes_queries = scale.changes_queries
        self.counts_keys = scale.counts_keys

    def of_queries(self, x: Tensor | None, n: Tensor) -> Tensor:
        return self.scale.of_queries(x, n)

    def of_scores(self, masked: Tensor) -> Tensor:
        return self.scale.of_scores(masked) * self.factor


@contextmanager
def with_hard_maximum(model) -> Iterator[None]:
    """Let all layers put all weight on the highest score for a while."""
    before = [layer.normaliser for layer in model.attentions]
    for layer in model.attentions:
        layer.normaliser = HardMaximum()
    try:
        yield
    finally:
        for layer, normaliser in zip(model.attentions, before, strict=True):
            layer.normaliser = normaliser


@contextmanager
def with_sharper_scores(model, factor: float) -> Iterator[None]:
    """Let all layers multiply their scores by a factor for a while."""
    before = [layer.score_scale for layer in model.attentions]
    for layer in model.attentions:
        layer.score_scale = Sharper(layer.score_scale, factor).eval()
    try:
        yield
    finally:
        for layer, scale in zip(model.attentions, before, strict=True):
            layer.score_scale = scale
