"""A training step of one layer of attention, ours beside what one would write today: times of ours,
in turns.

    python -m benchmarks.peers [--spans 256 1024 2048] [--released CHECKOUT OF
    facebookresearch/adaptive-span]

The layer: width 256, 4 heads, learned relative positions, S keys before each query, a block of 256
of 8 streams, two threads. What is written by hand projects, scores, normalises and projects as ours
does, from the same weights; it is timed only if its output and gradients are ours. flex_attention
has no backward pass on a CPU: forward alone.
"""

import argparse
import math
import sys
import time
from collections.abc import Callable
from functools import cache, partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from statistics import median

import entmax
import torch
from torch import Tensor
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch.nn.functional import linear, pad, scaled_dot_product_attention

from models.library import attention, layer

WIDTH, HEADS, BLOCK, STREAMS, THREADS, K = 256, 4, 256, 8, 2, 32
# streams that are compared, in 64 bits: in 32, a key on the border of top-k may fall out
ROUNDS, CHECKED = 7, 2
CLOSE = {torch.float64: 1e-9, torch.float32: 1e-3}  # of the largest number
# q, k, v: B h . d and p: d S -> B h T d
Attend = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


def along(scores: Tensor) -> Tensor:
    """Put scores by distance, .. T S with x = S .. 1, below the keys that they are of: .. T (S +
    T), else zeros.
    """
    T, S = scores.shape[-2:]
    return pad(scores, (0, T + 1)).flatten(-2)[..., : T * (S + T)].unflatten(-1, (T, S + T))


def banded(q: Tensor, p: Tensor) -> Tensor:
    """Score by distance, over sqrt(d), -inf off the band: B h T (S + T)."""
    T, S = q.size(-2), p.size(-1)
    seen = along(torch.ones(T, S, dtype=torch.bool))
    return (along(q @ p) / math.sqrt(q.size(-1))).masked_fill(~seen, -math.inf)


def by_hand(normalise: Callable, q: Tensor, k: Tensor, v: Tensor, p: Tensor) -> Tensor:
    """Score every key, and leave out what is off the band."""
    return normalise(q @ k.transpose(-1, -2) / math.sqrt(q.size(-1)) + banded(q, p)) @ v


def top_k(scores: Tensor) -> Tensor:
    """Keep the scores at least the k-th largest, as the released code does."""
    least = scores.topk(min(K, scores.size(-1)), -1).values[..., -1:]
    return scores.masked_fill(scores < least, -math.inf).softmax(-1)


def sdpa(q: Tensor, k: Tensor, v: Tensor, p: Tensor) -> Tensor:
    return scaled_dot_product_attention(q, k, v, banded(q, p))


def sdpa_in_blocks(q: Tensor, k: Tensor, v: Tensor, p: Tensor, size: int = 128) -> Tensor:
    S, parts = p.size(-1), []
    for start in range(0, q.size(2), size):
        rows = slice(start, start + S + min(size, q.size(2) - start))
        parts.append(sdpa(q[:, :, start : start + size], k[:, :, rows], v[:, :, rows], p))
    return torch.cat(parts, 2)


compiled_flex = torch.compile(flex_attention, dynamic=False)


@cache
def band_mask(T: int, S: int):
    """List the blocks of keys that hold any of the band."""
    return create_block_mask(
        lambda b, h, t, j: (j >= t) & (j < t + S), None, None, T, S + T, device="cpu"
    )


def flex(q: Tensor, k: Tensor, v: Tensor, p: Tensor) -> Tensor:
    """Attend with a bias that is looked up by distance."""
    T, S = q.size(2), p.size(-1)
    bias = (q @ p) / math.sqrt(q.size(-1))

    def score(s, b, h, t, j):
        return s + bias[b, h, t, (j - t).clamp(0, S - 1)]

    return compiled_flex(q, k, v, score_mod=score, block_mask=band_mask(T, S))


@cache
def released_layer(checkout: Path, width: int, heads: int, S: int):
    """Build the released layer of adaptive spans, its span fixed."""
    sys.path.insert(0, str(checkout))
    spec = spec_from_file_location("released_models", checkout / "models.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.path.pop(0)
    off = {
        "adapt_span_params": {"adapt_span_enabled": False},
        "pers_mem_params": {"pers_mem_size": 0},
    }
    return module.SeqAttention(width, heads, S, 0.0, **off)


def released(checkout: Path, q: Tensor, k: Tensor, v: Tensor, p: Tensor) -> Tensor:
    made = released_layer(checkout, q.size(-1), q.size(1), p.size(-1))
    return made(*(each.flatten(0, 1) for each in (q, k, v)), p[None]).view_as(q)


def peers(checkout: Path | None) -> dict[str, tuple[dict, Attend]]:
    """List what is compared, by name: the choices of ours that it is, and how it attends."""
    softmax = {"sdpa, band as mask": sdpa, "sdpa, blocks of 128": sdpa_in_blocks}
    softmax["by hand"] = partial(by_hand, lambda scores: scores.softmax(-1))
    softmax |= {"released adaptive-span": partial(released, checkout)} if checkout else {}
    others = {
        "top-k by hand": ({"selection": {"name": "top_k", "k": K}}, top_k),
        "sparsemax of entmax": ({"normaliser": "sparsemax"}, partial(entmax.sparsemax, dim=-1)),
        "entmax-1.5 of entmax": ({"normaliser": "entmax15"}, partial(entmax.entmax15, dim=-1)),
    }
    by_normaliser = {
        name: (choices, partial(by_hand, each)) for name, (choices, each) in others.items()
    }
    return {name: ({}, attend) for name, attend in softmax.items()} | by_normaliser


def step_of_ours(S: int, choices: dict, x: Tensor, past: Tensor):
    """Return the layer, and a step that gives y and all gradients."""
    torch.manual_seed(0)
    position = {"name": "relative", "limit": S}
    made = layer(
        WIDTH,
        HEADS,
        span={"name": "fixed", "limit": S},
        position=position,
        attends_self=False,
        **choices,
    )
    made = made.to(x)
    return made, partial(step, made, lambda: made(x, (past,))[0])


def step_of_peer(made, attend: Attend, x: Tensor, past: Tensor):
    """Return a step that computes the same with another attention."""

    def forward() -> Tensor:
        rows = torch.cat([past.transpose(0, 1), x], 1)
        inputs = ((x, made.query), (rows, made.key), (rows, made.value))
        q, k, v = (made.split(linear(each, matrix.weight)) for each, matrix in inputs)
        return linear(
            attend(q, k, v, made.position.table).transpose(1, 2).flatten(2), made.out.weight
        )

    return partial(step, made, forward)


def step(made, forward: Callable) -> list[Tensor]:
    y = forward()
    return [y.detach(), *torch.autograd.grad(y.square().sum(), list(made.parameters()))]


def assert_alike(name: str, ours: list[Tensor], theirs: list[Tensor]) -> None:
    apart = max(
        ((a - b).abs().max() / a.abs().max()).item() for a, b in zip(ours, theirs, strict=True)
    )
    if not apart <= CLOSE[ours[0].dtype]:
        raise SystemExit(
            f"{name}: its numbers are {apart:.1e} of the largest from ours; nothing is timed"
        )


def timed(*steps: Callable, rounds: int = ROUNDS) -> list[float]:
    """Return each one's median over rounds in which they take turns, in seconds."""
    seconds = [[] for _ in steps]
    for _ in range(rounds):
        for each, spent in zip(steps, seconds, strict=True):
            start = time.perf_counter()
            each()
            spent.append(time.perf_counter() - start)
    return [median(each) for each in seconds]


def compare(S: int, checkout: Path | None, rounds: int = ROUNDS) -> dict[str, float]:
    """Return the times of ours that each takes, the numbers compared first; and our own of softmax,
    in ms.
    """
    generator = torch.Generator().manual_seed(1)
    x, past = (
        torch.randn(size, generator=generator)
        for size in ((STREAMS, BLOCK, WIDTH), (S, STREAMS, WIDTH))
    )
    ratios = {}
    for name, (choices, attend) in peers(checkout).items():
        exact = [each.double() for each in (x[:CHECKED], past[:, :CHECKED])]
        made, ours = step_of_ours(S, choices, *exact)
        assert_alike(f"{name}, S = {S}", ours(), step_of_peer(made, attend, *exact)())
        made, ours = step_of_ours(S, choices, x, past)
        theirs = step_of_peer(made, attend, x, past)
        one, other = timed(ours, theirs, rounds=rounds)
        ratios.setdefault("ours, softmax: ms", 1000 * one)
        ratios[name] = other / one
    made, _ = step_of_ours(S, {}, x, past)
    q, k, v = (
        torch.randn(STREAMS, HEADS, n, WIDTH // HEADS, generator=generator)
        for n in (BLOCK, S + BLOCK, S + BLOCK)
    )
    with torch.no_grad():
        table = made.position.table
        ours, theirs = (partial(each, q, k, v, table) for each in (partial(by_engine, made), flex))
        assert_alike(f"flex, S = {S}", [ours()], [theirs()])
        one, other = timed(ours, theirs, rounds=rounds)
    return ratios | {"flex_attention, forward": other / one}


def by_engine(made, q: Tensor, k: Tensor, v: Tensor, p: Tensor) -> Tensor:
    return attention(q, k, v, span=made.span, position=made.position, attends_self=False)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--spans", type=int, nargs="+", default=[256, 1024, 2048])
    parser.add_argument("--released", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(THREADS)
    columns = {S: compare(S, options.released) for S in options.spans}
    print(f"torch {torch.__version__}; ours: ms of a step; others: times of ours\n")
    print(f"| {'':24} |" + "".join(f" S = {S} |" for S in columns))
    print(f"| {'-' * 24} |" + " --- |" * len(columns))
    for name in columns[options.spans[0]]:
        print(f"| {name:24} |" + "".join(f" {column[name]:.1f} |" for column in columns.values()))


if __name__ == "__main__":
    main()
