"""What a trained net shows of its attention, for Figures 1 and 5 of Adaptive Attention Span."""

import torch

from models.attention import formula
from models.attention.engine.chunks import band
from models.attention.engine.engine import every_key
from workflow.tasks.char_lm.streams import cut
from workflow.training.backends import computing

BINS = 48  # of distance, on a log scale, so that a long span stays a short list
QUERIES = 64


@torch.no_grad()
def probe(net, corpus) -> dict:
    """Facts from one stretch of dev text: mean weight per key by distance, and spans that depend on the input."""
    net.eval()
    longest = max(layer.span.limit or layer.span.cache_length(0) for layer in net.attentions)
    length = min(longest + QUERIES, len(corpus.dev))
    tokens = cut(corpus.dev[:length], 1).to(next(net.parameters()).device)
    past = net.start(1)
    for block in tokens[:, :-QUERIES].split(QUERIES, 1):
        _, past = net(block, past)
    recorder = _Recorder()
    with computing(net.attentions, recorder):
        net(tokens[:, -QUERIES:], past)
    net.facts()  # spans recorded here do not belong to an evaluation
    facts = {"attention_by_distance": _by_distance(recorder.weights)}
    pairs = zip(net.attentions, recorder.extents, strict=True)
    spans = [_spans(layer, z) for layer, z in pairs if z is not None and z.dim() == 4]
    if spans:
        text = [corpus.symbols[token] for token in tokens[0, -QUERIES:].tolist()]
        facts["fragment"] = {"text": text, "span": torch.stack(spans).mean(0).tolist()}
    return facts


class _Recorder:
    """Computes the definition on the engine's caches, and keeps weights B h T K and extents z of every layer."""

    def __init__(self):
        self.weights: list[torch.Tensor] = []
        self.extents: list[torch.Tensor | None] = []

    def attend(self, layer, x, past):
        z, (k, v) = layer.span.extent(x), every_key(layer, x, past)
        reach = min([*layer.bounds(), k.size(2)])
        weights = formula.weights(layer.split(layer.query(x)), k, z, layer, reach=reach)
        self.weights.append(weights.float())
        self.extents.append(z)
        return (weights @ v).transpose(1, 2), past


def _spans(layer, z) -> torch.Tensor:
    """Span by character, mean over the heads of a layer."""
    return (z + layer.span.ramp).clamp(max=layer.span.limit).float().mean((0, 1))[:, 0].cpu()


def _by_distance(layers: list[torch.Tensor]) -> dict:
    """Mean weight on one key at each distance, queries and the distances of a bin averaged: weight[layer][head][bin].

    distance: the middle of a bin; keys: how many distances it holds.
    """
    window = max(weights.size(-1) for weights in layers) - QUERIES
    edges = torch.logspace(0, torch.log10(torch.tensor(window + 1.0)), BINS + 1).round().long().unique()
    means = [_by_rank(weights, window) for weights in layers]
    pairs = list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
    return {
        "distance": [(low + high - 1) / 2 for low, high in pairs],
        "keys": [high - low for low, high in pairs],
        "weight": [
            [[round(row[low - 1 : high - 1].mean().item(), 8) for low, high in pairs] for row in mean] for mean in means
        ],
    }


def _by_rank(weights: torch.Tensor, window: int) -> torch.Tensor:
    """Mean over queries of the weight at x = 1 .. window, 0 beyond the layer's own keys: (h, window)."""
    own = weights.size(-1) - QUERIES
    keys = weights[..., :-1] if own else weights.new_zeros(*weights.shape[:-1], QUERIES - 1)
    mean = band(keys.contiguous(), own).mean((0, 2)).flip(-1)
    return torch.nn.functional.pad(mean, (0, window - own)).cpu()
