"""What attention does at a length: how far it spreads, and how much of it could be skipped."""

from copy import deepcopy
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models.attention.formula import Definition
from models.attention.layers import computing

BLOCK = 64  # rows and columns of weights that a kernel on a GPU skips together


@dataclass(frozen=True)
class Behaviour:
    """Means over layers, heads and the queries where something is asked.

    entropy: of the weights, as a share of that of even weights over all visible keys. support: keys
    with any weight. skipped: share of the blocks of `BLOCK` x `BLOCK` weights, of all queries, that
    hold none; None where a sequence is no longer than a block. mass: of the weights on the keys
    that hold the answer, by layer and head, not averaged; None where no keys are named.
    """

    entropy: float
    support: float
    skipped: float | None
    mass: Tensor | None


@torch.no_grad()
def observe(model, symbols: Tensor, is_asked: Tensor, right: Tensor | None = None) -> Behaviour:
    """Read the weights off a model.

    symbols: B L. is_asked: B L, bool. right: B L L, bool, the keys that hold each query's answer.
    Computed by the definition in 64 bits, so that a weight is 0 exactly where it should be.
    """
    layers = _read_weights(model, symbols)
    L = symbols.size(1)
    visible = torch.arange(1, L + 1, device=symbols.device)
    most = visible.double().log().clamp(min=1e-9)  # entropy of even weights
    entropies = []
    supports = []
    for p in layers:  # B h L L
        entropy = torch.special.entr(p).sum(-1) / most
        support = (p > 0).sum(-1).double()
        asked = is_asked[:, None].expand_as(entropy)
        entropies.append(entropy[asked].mean().item())
        supports.append(support[asked].mean().item())
    return Behaviour(
        entropy=sum(entropies) / len(entropies),
        support=sum(supports) / len(supports),
        skipped=_share_skipped(layers),
        mass=None if right is None else _mass(layers, right),
    )


def _mass(layers: list[Tensor], right: Tensor) -> Tensor:
    """Average the weight that queries give to right keys, where they have any: layers h."""
    has_any = right.any(-1)  # B L
    of_layers = []
    for p in layers:
        mass = (p * right[:, None]).sum(-1)  # B h L
        of_layers.append(mass.transpose(0, 1)[:, has_any].mean(-1))
    return torch.stack(of_layers)


def _read_weights(model, symbols: Tensor) -> list[Tensor]:
    """Read the weights of every layer: B h L L each."""
    model = deepcopy(model).double().eval()
    weights: list[Tensor] = []

    def keep(_: nn.Module, __, p: Tensor) -> None:
        weights.append(p)

    for layer in model.attentions:
        layer.normaliser.register_forward_hook(keep)
    with computing(model.attentions, Definition()):
        model(symbols)
    return weights


def _share_skipped(layers: list[Tensor]) -> float | None:
    L = layers[0].size(-1)
    count = L // BLOCK
    if count < 2:
        return None
    # Blocks on and below the diagonal: the others are never computed.
    is_past = torch.ones(count, count, dtype=torch.bool).tril()
    shares = []
    for p in layers:
        whole = p[..., : count * BLOCK, : count * BLOCK]
        blocks = whole.unflatten(-1, (count, BLOCK)).unflatten(-3, (count, BLOCK))
        is_empty = (blocks == 0).all(-1).all(-2)  # B h count count
        shares.append(is_empty[..., is_past.to(p.device)].double().mean().item())
    return sum(shares) / len(shares)
