"""What every head of a trained translator looks at in one sentence pair (both papers' attention visualisations)."""

import torch
from torch import nn

from models.attention.formula import Definition
from workflow.tasks.batches import sources, targets
from workflow.training.backends import computing

SHORTEST, LONGEST = 6, 16  # pieces, so that every row and column of a picture can be named
PLACES = 3  # decimals


class _Recorder(nn.Module):
    """A normaliser that keeps its last weights."""

    def __init__(self, normaliser):
        super().__init__()
        self.normaliser = normaliser

    def forward(self, kept):
        self.weights = self.normaliser(kept)
        return self.weights


@torch.no_grad()
def draw_maps(net, corpus) -> dict:
    """Of the example where there is one, else of the first fitting test pair: its pieces, and weights of the first and
    last layer, by kind of attention.

    {"source": [N], "target": [T], "encoder" | "decoder" | "cross": {layer: [head][query][key]}}
    """
    looked_at = corpus.example if corpus.example.source else corpus.test
    pairs = zip(looked_at.source, looked_at.target, strict=True)
    fitting = (pair for pair in pairs if all(SHORTEST <= len(side) + 1 <= LONGEST for side in pair))
    pair = next(fitting, None)
    if pair is None:
        return {}
    device = next(net.parameters()).device
    source, target = sources([pair[0]]), targets([pair[1]])[:, :-1]
    by_kind = read_weights(net, source.to(device), target.to(device))
    names = [[corpus.symbols[token] for token in side[0].tolist()] for side in (source, target)]
    return {"source": names[0], "target": names[1], **by_kind}


def read_weights(net, source, target) -> dict:
    """By kind and layer, [head][query][key]. Every layer computes the definition: one row a query."""
    net.eval()
    kinds = {
        "encoder": [block.attention for block in net.encoder],
        "decoder": [block.attention for block in net.decoder],
        "cross": [block.cross for block in net.decoder],
    }
    before = [(layer, layer.normaliser) for layers in kinds.values() for layer in layers]
    for layer, normaliser in before:
        layer.normaliser = _Recorder(normaliser)
    with computing(kinds["decoder"], Definition()):
        net(source, target)
    by_kind = {kind: _ends([layer.normaliser.weights[0] for layer in layers]) for kind, layers in kinds.items()}
    for layer, normaliser in before:
        layer.normaliser = normaliser
    net.train()
    return by_kind


def _ends(layers: list[torch.Tensor]) -> dict[str, list]:
    """First and last layer, rounded."""
    ends = {1: layers[0], len(layers): layers[-1]}
    scale = 10**PLACES
    return {str(n): (weights.float() * scale).round().div(scale).tolist() for n, weights in ends.items()}
