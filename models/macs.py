"""Multiply-accumulates of the graph that is really computed, per predicted character, from shapes
alone.

Counted: every matrix product of the forward pass, the output layer included. Not counted:
normalisers, norms, element-wise work, as in torch's and fvcore's counters, which check these
numbers.
"""

from contextlib import contextmanager

import torch

from .attention.engine.band import chunks
from .attention.engine.engine import Computed
from .attention.engine.groups import width_of_positions
from .kernels.compiled import build


def executed(net, tokens, block: int) -> float:
    """Count the blocks of `tokens` (B N) as the engine computes them in training, trimmed to what
    each layer reaches.

    The first half fills the caches; the mean is over the blocks of the second half.
    """
    blocks = [part for part in tokens.split(block, 1) if part.size(1) == block]
    counted = []
    with _training(net), torch.no_grad(), build.without():
        past = net.start(tokens.size(0))
        for part in blocks:
            _, past = net(part, past)
            counted.append(
                sum(engine_macs(layer, block, layer.shapes) for layer in net.attentions) / block
            )
    half = counted[len(counted) // 2 :]
    return sum(half) / len(half) + outside_attention(net)


def dense(net, block: int) -> float:
    """Count a training block as the definition computes it: every layer projects and scores all S +
    T keys.
    """
    with _training(net):
        macs = 0
        for layer in net.attentions:
            past = layer.span.limit or layer.span.cache_length(0)
            bounds = [limit for limit in (layer.span.limit, layer.position.limit) if limit]
            macs += definition_macs(layer, block, past + block, min(bounds, default=past + block))
    return macs / block + outside_attention(net)


def outside_attention(net) -> int:
    """Count the feed-forward layers and the output layer, per character."""
    return sum(_products(block.feed_forward) for block in net.blocks) + net.embedding.weight.numel()


def engine_macs(layer, block: int, shapes: list[Computed]) -> int:
    """Count one layer, one stream, one block, as the engine computed its groups of heads."""
    macs, all_heads = block * _products(layer.query, layer.out), layer.shape.heads
    for heads, reach, keys, first, columns in shapes:
        scored, positioned = block * first, block * columns
        for chunk in chunks(block, keys, 1, heads, reach, layer.attends_self, 4):
            scored += chunk.c * (chunk.keys.stop - chunk.keys.start)
            positioned += chunk.c * chunk.window
        products = scored * (layer.shape.d_k + layer.shape.d_v)
        projected = (
            (keys + first if layer.training else block)
            * _products(layer.key, layer.value)
            // all_heads
        )
        macs += heads * (projected + products + positioned * _position(layer) // all_heads)
    return macs + _of_choices(layer, block, max(group.reach for group in shapes))


def pair(net, N: int, T: int) -> float:
    """Count a net that reads a source of N pieces or patches and a target of T, per target
    piece.
    """
    macs = net.macs_to_enter(N) + sum(
        sequence_macs(block.attention, N, N) + N * _products(block.feed_forward)
        for block in net.encoder
    )
    for block in net.decoder:
        attention = engine_macs(block.attention, T, [Computed(block.attention.shape.heads, T, T)])
        macs += attention + T * _products(block.feed_forward)
        macs += sequence_macs(block.cross, T, N)
    return (macs + T * net.output.weight.numel()) / T


def sequence_macs(layer, queries: int, keys: int) -> int:
    """Count one layer over a whole sequence: its keys and values projected once."""
    projections = queries * _products(layer.query, layer.out) + keys * _products(
        layer.key, layer.value
    )
    return projections + queries * keys * _key_and_value(layer) + _of_choices(layer, queries, keys)


def definition_macs(layer, block: int, rows: int, window: int) -> int:
    """Count one layer, one stream, one block of the definition: every query against every key."""
    products = block * rows * _key_and_value(layer) + block * min(window, rows) * _position(layer)
    projected = (rows if layer.training else block) * _products(layer.key, layer.value)
    projected += block * _products(layer.query, layer.out)
    return projected + products + _of_choices(layer, block, min(window, rows))


def _products(*parts: torch.nn.Module) -> int:
    """Count the entries of all matrices: multiply-accumulates for one row."""
    modules = (module for part in parts for module in part.modules())
    return sum(module.weight.numel() for module in modules if isinstance(module, torch.nn.Linear))


def _key_and_value(layer) -> int:
    """Count for one query and one key: the score of every head, and its value weighed."""
    return layer.shape.heads * (layer.shape.d_k + layer.shape.d_v)


def _position(layer) -> int:
    """Count for one query and one distance the position's term of every head; nothing where the
    score has none.
    """
    return layer.shape.heads * width_of_positions(layer)


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
