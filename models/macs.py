"""MACs of the graph that is really computed, per predicted character, from shapes alone.

MACs: multiply-accumulate operations. Counted: every matrix product of the forward pass, the output
layer included. Not counted: normalisers, norms, element-wise work, as in torch's and fvcore's
counters, which check these numbers.
"""

from contextlib import contextmanager

import torch

from .attention.engine.band import chunks
from .attention.engine.engine import Computed
from .attention.engine.groups import width_of_positions
from .attention.variant import farthest
from .kernels.compiled import build


def executed(model, tokens, block: int) -> float:
    """Count the blocks of `tokens` (B N) as the engine computes them in training.

    They are trimmed to what each layer reaches. The first half fills the caches; the mean is over
    the blocks of the second half.
    """
    B, _ = tokens.shape
    counted = []
    # Without the compiled library, in which each head has keys of its own: the engine's groups are
    # counted, the same on every machine.
    with _training(model), torch.no_grad(), build.without():
        past = model.start(B)
        for part in tokens.split(block, 1):
            if part.size(1) < block:  # the rest behind the last whole block
                continue
            _, past = model(part, past)
            counted.append(of_last_block(model, block) / block)
    # Spans that follow the input differ by block: the mean.
    half = counted[len(counted) // 2 :]
    return sum(half) / len(half) + outside_attention(model)


def of_last_block(model, block: int) -> int:
    """Count the attention of one stream in the block that the model has just read.

    Every layer keeps in `layer.computed` what its engine computed for the last forward pass; there
    is no other trace of it, so this counts right after that pass. ValueError where there was none.
    """
    macs = 0
    for layer in model.attentions:
        if not layer.computed:
            raise ValueError("a layer has computed nothing: let the model read a block first")
        macs += engine_macs(layer, block, layer.computed)
    return macs


def sequence(model, symbols) -> tuple[float, float]:
    """Count a decoder that reads whole sequences (B L): as the definition computes it, and as the
    engine does.
    """
    length = symbols.size(1)
    of_definition = 0
    of_engine = 0
    with _training(model), torch.no_grad(), build.without():
        model(symbols)
        for layer in model.attentions:
            of_definition += definition_macs(layer, length, length, farthest(layer, length))
            of_engine += engine_macs(layer, length, layer.computed)
    rest = outside_attention(model)
    return of_definition / length + rest, of_engine / length + rest


def dense(model, block: int) -> float:
    """Count a training block as the definition computes it.

    Every layer projects and scores all S + T keys.
    """
    macs = 0
    with _training(model):
        for layer in model.attentions:
            # A full span has no limit in training: what it caches.
            past = layer.span.limit or layer.span.cache_length(0)
            rows = past + block
            window = farthest(layer, rows)
            macs += definition_macs(layer, block, rows, window)
    return macs / block + outside_attention(model)


def outside_attention(model) -> int:
    """Count the feed-forward layers and the output layer, per character."""
    macs = 0
    for block in model.blocks:
        macs += _products(block.feed_forward)
    # The output layer is as large as the embedding, or the same matrix.
    return macs + model.embedding.weight.numel()


def engine_macs(layer, block: int, shapes: list[Computed]) -> int:
    """Count one layer, one stream, one block, as the engine computed its groups of heads."""
    shape = layer.shape
    macs = block * _of_each_query(layer)
    for group in shapes:
        scored = block * group.first  # pairs of a query and a key
        positioned = block * group.columns  # pairs of a query and a distance
        pieces = chunks(
            T=block,
            K=group.keys,
            B=1,
            heads=group.heads,
            reach=group.reach,
            attends_self=layer.attends_self,
            bytes_each=4,
        )
        for chunk in pieces:
            keys = chunk.keys.stop - chunk.keys.start
            scored += chunk.c * keys
            positioned += chunk.c * chunk.window
        # In evaluation keys and values of earlier blocks are cached.
        rows = group.keys + group.first if layer.training else block
        # The share of one head.
        projections = rows * _products(layer.key, layer.value) // shape.heads
        products = scored * (shape.d_k + shape.d_v)
        positions = positioned * _position(layer) // shape.heads
        of_head = projections + products + positions
        macs += group.heads * of_head
    window = max(group.reach for group in shapes)
    return macs + _of_choices(layer, block, window)


def pair(model, N: int, T: int) -> float:
    """Count a model that reads a source of N pieces or patches and a target of T.

    Per target piece.
    """
    macs = model.macs_to_enter(N)
    for block in model.encoder:
        macs += sequence_macs(block.attention, N, N)
        macs += N * _products(block.feed_forward)
    for block in model.decoder:
        # A target that begins: one block, whose keys are all its own.
        heads = block.attention.shape.heads
        all_heads = Computed(heads, reach=T, keys=T)
        macs += engine_macs(block.attention, T, [all_heads])
        macs += sequence_macs(block.cross, T, N)
        macs += T * _products(block.feed_forward)
    macs += T * model.output.weight.numel()
    return macs / T


def sequence_macs(layer, queries: int, keys: int) -> int:
    """Count one layer over a whole sequence: its keys and values projected once."""
    macs = queries * _of_each_query(layer)
    macs += keys * _products(layer.key, layer.value)
    macs += queries * keys * _key_and_value(layer)
    return macs + _of_choices(layer, queries, keys)


def definition_macs(layer, block: int, rows: int, window: int) -> int:
    """Count one layer, one stream, one block of the definition: every query against every key."""
    window = min(window, rows)
    macs = block * _of_each_query(layer)
    # In evaluation keys and values of earlier blocks are cached.
    projected = rows if layer.training else block
    macs += projected * _products(layer.key, layer.value)
    macs += block * rows * _key_and_value(layer)
    macs += block * window * _position(layer)
    return macs + _of_choices(layer, block, window)


def _of_each_query(layer) -> int:
    """Count the matrices that a query and its output are multiplied by."""
    gate = () if layer.gate is None else (layer.gate,)
    return _products(layer.query, layer.out, *gate)


def _products(*parts: torch.nn.Module) -> int:
    """Count the entries of all matrices: multiply-accumulates for one row."""
    total = 0
    for part in parts:
        for module in part.modules():
            if isinstance(module, torch.nn.Linear):
                total += module.weight.numel()
    return total


def _key_and_value(layer) -> int:
    """Count for one query and one key: the score of every head, and its value weighed."""
    return layer.shape.heads * (layer.shape.d_k + layer.shape.d_v)


def _position(layer) -> int:
    """Count for one query and one distance the position's term of every head."""
    return layer.shape.heads * width_of_positions(layer)


def _of_choices(layer, block: int, window: int) -> int:
    """Count what choices compute themselves, as a dynamic span its z."""
    return sum(choice.macs(block, window) for choice in layer.choices)


@contextmanager
def _training(model):
    before = model.training
    model.train()
    try:
        yield
    finally:
        model.train(before)
