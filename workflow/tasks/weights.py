"""The attention weights of an encoder and a decoder, for pictures of them and for counts."""

from copy import deepcopy

from torch import Tensor, nn

from models.attention.formula import Definition
from models.attention.layers import computing

PLACES = 3  # decimals that a record keeps


def read_weights(net, source, target) -> dict:
    """Read the weights of the first pair, [head][query][key], of the first and the last layer.

    By kind of attention, then by number of the layer.
    """
    weights = {}
    for kind, layers in every_weight(net, source, target).items():
        of_first_pair = [layer[0] for layer in layers]
        weights[kind] = _ends(of_first_pair)
    return weights


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
    if source.is_floating_point():
        source = source.double()
    weights: dict[nn.Module, Tensor] = {}

    def keep(normaliser: nn.Module, _, p: Tensor) -> None:
        weights[normaliser] = p

    every = [*kinds["encoder"], *kinds["decoder"], *kinds["cross"]]
    # a normaliser returns the weights: B H Q K
    hooks = [layer.normaliser.register_forward_hook(keep) for layer in every]
    with computing(every, Definition()):
        net(source, target)
    for hook in hooks:
        hook.remove()
    found = {}
    for kind, layers in kinds.items():
        found[kind] = [weights[layer.normaliser] for layer in layers]
    return found


def _ends(layers: list[Tensor]) -> dict[str, list]:
    """Keep the first and the last layer, rounded."""
    ends = {1: layers[0], len(layers): layers[-1]}
    scale = 10**PLACES
    kept = {}
    for number, weights in ends.items():
        rounded = (weights * scale).round().div(scale)
        kept[str(number)] = rounded.tolist()
    return kept
