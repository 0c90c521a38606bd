"""Choices and layers of attention from their settings."""

from models.attention import CHOICES
from models.attention.choice import Choice, Shape


def build_choice(axis: str, settings: dict, shape: Shape) -> Choice:
    """The choice that `settings` ({"name": ..., its settings}) names on one axis."""
    settings = dict(settings)
    return CHOICES[axis][settings.pop("name")](shape, **settings)


def build_layers(count: int, shape: Shape, attention: dict, kind: type, **settings) -> list:
    """`count` layers of a kind of `MultiHeadBase` with its settings.

    attention: settings of a choice by axis. What a position shares between layers is shared.
    """
    position, layers = None, []
    for _ in range(count):
        position = position.for_next_layer() if position else build_choice("position", attention["position"], shape)
        others = [build_choice(axis, attention[axis], shape) for axis in ("span", "selection", "normaliser")]
        layers.append(kind(shape, *others, position, **settings))
    return layers
