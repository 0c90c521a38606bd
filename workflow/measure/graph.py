"""Multiply-accumulates of the graph that is really computed, per predicted character, from shapes alone.

Counted: every matrix product of the forward pass, the output layer included. Not counted: normalisers, norms,
element-wise work, as in torch's and fvcore's counters, which check these numbers.
"""

from contextlib import contextmanager

import torch

from models.attention import engine


def executed(net, tokens, block: int) -> float:
    """The blocks of `tokens` (B N) as the engine computes them in training, each trimmed to what its layer reaches.

    The first half fills the memories; the mean is over the blocks of the second half.
    """
    pieces = [piece for piece in tokens.split(block, 1) if piece.size(1) == block]
    counted = []
    with _training(net), torch.no_grad():
        past = net.start(tokens.size(0))
        for piece in pieces:
            _, past = net(piece, past)
            counted.append(sum(engine_macs(layer, *layer.shapes) for layer in net.attentions) / block)
    half = counted[len(counted) // 2 :]
    return sum(half) / len(half) + outside_attention(net)


def dense(net, block: int) -> float:
    """A training block as the definition computes it: every layer projects and scores all S + T keys."""
    with _training(net):
        macs = 0
        for layer in net.attentions:
            past = layer.span.limit or layer.span.remember(0)
            bounds = [limit for limit in (layer.span.limit, layer.position.limit) if limit]
            macs += definition_macs(layer, block, past + block, min(bounds, default=past + block))
    return macs / block + outside_attention(net)


def outside_attention(net) -> int:
    """Feed-forward layers and the output layer, per character."""
    inner = sum(part.weight.numel() for block in net.blocks for part in block.feed_forward if hasattr(part, "weight"))
    return inner + net.embedding.weight.numel()


def engine_macs(layer, block: int, rows: int, window: int) -> int:
    """One layer, one stream, one block: `rows` keys and values are projected, no query sees beyond `window`."""
    width, macs = layer.shape.width, _projections(layer, block, rows)
    for start in range(0, block, engine.CHUNK):
        stop = min(start + engine.CHUNK, block)
        c, seen = stop - start, rows - block + stop - 1 + layer.attends_self
        here = min(window, seen)
        if here:
            macs += 2 * c * min(here + c - 1, seen) * width + c * here * width
    return macs + _of_choices(layer, block, min(window, rows - 1 + layer.attends_self))


def definition_macs(layer, block: int, rows: int, window: int) -> int:
    """One layer, one stream, one block of the definition: every query against every key."""
    width = layer.shape.width
    products = 2 * block * rows * width + block * min(window, rows) * width
    return _projections(layer, block, rows) + products + _of_choices(layer, block, min(window, rows))


def _projections(layer, block: int, rows: int) -> int:
    """Queries and outputs of the block; keys and values of all rows in training, of the block in evaluation."""
    return 2 * block * layer.shape.width**2 + 2 * (rows if layer.training else block) * layer.shape.width**2


def _of_choices(layer, block: int, window: int) -> int:
    return sum(choice.macs(block, window) for choice in layer.choices)


@contextmanager
def _training(net):
    before = net.training
    net.train()
    try:
        yield
    finally:
        net.train(before)
