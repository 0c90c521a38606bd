"""The attention weights of an encoder and a decoder, for pictures of them and for counts.

And how a trained model computes with another implementation for a while.
"""

from collections.abc import Iterable
from contextlib import contextmanager
from copy import deepcopy

from torch import Tensor, nn

from models.attention.formula import Definition

PLACES = 3  # decimals that a record keeps


@contextmanager
def computing(layers: Iterable[nn.Module], implementation):
    """Let these layers of attention use another implementation for a while.

    It has `attend`, and `start` where streams begin.
    """
    before = [(layer, layer.implementation) for layer in layers]
    for layer, _ in before:
        layer.implementation = implementation
    try:
        yield
    finally:
        for layer, previous in before:
            layer.implementation = previous


def read_weights(net, source, target) -> dict:
    """Read the weights of the first pair, [head][query][key], by kind of attention, of the first
    and the last layer.
    """
    return {
        kind: _ends([each[0] for each in layers])
        for kind, layers in every_weight(net, source, target).items()
    }


def every_weight(net, source, target) -> dict[str, list[Tensor]]:
    """Compute the weights of all layers, B H Q K each, by kind of attention.

    Every layer computes the definition, so that its normaliser gives one row for each query; in 64
    bits, for torch's products sum as each processor likes, and the numbers are rounded.
    """
    net = deepcopy(net).double().eval()
    kinds = {
        "encoder": [block.attention for block in net.encoder],
        "decoder": [block.attention for block in net.decoder],
        "cross": [block.cross for block in net.decoder],
    }
    weights: dict[nn.Module, Tensor] = {}
    every = sum(kinds.values(), [])
    hooks = [
        layer.normaliser.register_forward_hook(lambda each, _, p: weights.update({each: p}))
        for layer in every
    ]
    with computing(every, Definition()):
        net(source.double() if source.is_floating_point() else source, target)
    for hook in hooks:
        hook.remove()
    return {kind: [weights[layer.normaliser] for layer in layers] for kind, layers in kinds.items()}


def _ends(layers: list[Tensor]) -> dict[str, list]:
    """Keep the first and the last layer, rounded."""
    ends = {1: layers[0], len(layers): layers[-1]}
    scale = 10**PLACES
    return {str(n): (weights * scale).round().div(scale).tolist() for n, weights in ends.items()}
