"""Decoding with cached keys and values against reading the prefix anew at every step: 64 tokens, by pytest-benchmark.

    pytest benchmarks/test_decoding.py --benchmark-group-by=group

`extra_info` holds how often faster decoding with a cache is. Reading anew encodes the source once and reads out the
last token alone, so that it is the cache that is measured. No time is asserted.
"""

import time

import pytest
import torch

from models.nets.build import build
from models.nets.seq2seq import BOS

TOKENS, SOURCE, SENTENCES, V = 64, 40, 16, 4000
NET = {"name": "seq2seq", "layers": 3, "d_model": 256, "heads": 4, "d_k": None, "d_v": None, "d_ff": 1024}
NET |= {"dropout": 0.0, "attention_dropout": 0.0, "norm": "post", "positional_encoding": "sinusoid"}
NET |= {"max_length": TOKENS, "tie_embeddings": True}
SELECTIONS = {"all": {"name": "all"}, "top_k": {"name": "top_k", "k": 8}}


def translator(selection: dict):
    torch.manual_seed(0)
    attention = {"span": {"name": "full", "cache": TOKENS}, "selection": selection, "position": {"name": "none"}}
    attention |= {"normaliser": {"name": "softmax"}, "apply_to": ["encoder", "decoder", "cross"]}
    return build(NET, attention, V).eval()


@torch.no_grad()
def with_cache(net, source, width: int) -> None:
    """Beams are reordered at every step, as a search reorders them."""
    rows = torch.arange(len(source)).repeat_interleave(width)
    state, tokens = net.encode(source).rows(rows), torch.full((len(rows),), BOS)
    for _ in range(TOKENS):
        logits, state = net.step(tokens, state)
        tokens = logits.argmax(-1)
        if width > 1:
            state = state.rows(torch.arange(len(rows)))


@torch.no_grad()
def anew(net, source, width: int) -> None:
    rows = torch.arange(len(source)).repeat_interleave(width)
    start, read = net.encode(source).rows(rows), torch.full((len(rows), 1), BOS)
    for _ in range(TOKENS):
        logits, _ = net.read(read, start)
        read = torch.cat([read, logits.argmax(-1)[:, None]], 1)


@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize("selection", SELECTIONS)
def test_decoding(benchmark, selection, width):
    net, source = translator(SELECTIONS[selection]), torch.randint(3, V, (SENTENCES, SOURCE))
    benchmark.group = f"{selection}, width {width}"
    benchmark.pedantic(with_cache, (net, source, width), rounds=3, warmup_rounds=1)
    start = time.perf_counter()
    anew(net, source, width)
    benchmark.extra_info["times_faster_than_anew"] = (time.perf_counter() - start) / benchmark.stats.stats.median
