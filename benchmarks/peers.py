"""A training step of one layer of attention, ours compared with what one would write today.

    python -m benchmarks.peers [--spans 256 1024 2048]
                               [--released CHECKOUT OF facebookresearch/adaptive-span]

Times are in times of ours; steps are timed in rounds. The layer: width 256, 4 heads, learned
relative positions, S keys before each query, a block of 256 of 8 streams, two threads. What is
written by hand projects, scores, normalises and projects as ours does, from the same weights; it is
timed only if its output and gradients are ours. flex_attention has no backward pass on a CPU:
forward alone.
"""

import argparse
import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
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

WIDTH = 256
HEADS = 4
BLOCK = 256
STREAMS = 8
THREADS = 2
K = 32
ROUNDS = 7
# streams that are compared, in 64 bits: in 32, a key on the border of top-k may fall out
CHECKED = 2
CLOSE = {torch.float64: 1e-9, torch.float32: 1e-3}  # of the largest number
# q, k, v: B h . d and p: d S -> B h T d
Attend = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Peer:
    """attend: how it attends. choices: those of our layer that compute the same."""

    attend: Attend
    choices: dict = field(default_factory=dict)


def along(scores: Tensor) -> Tensor:
    """Put scores by distance below the keys that they are of, zeros elsewhere.

    scores: .. T S with x = S .. 1 -> .. T (S + T).
    """
    *_, T, S = scores.shape
    width = S + T
    # With T + 1 zeros after each row, rows are one longer than `width`: cut anew at `width`, row i
    # begins i numbers further right.
    in_a_row = pad(scores, (0, T + 1)).flatten(-2)
    used = in_a_row[..., : T * width]
    return used.unflatten(-1, (T, width))


def banded(q: Tensor, p: Tensor) -> Tensor:
    """Score by distance, over sqrt(d), -inf off the band: B h T (S + T)."""
    *_, T, d = q.shape
    S = p.size(-1)
    every_distance = torch.ones(T, S, dtype=torch.bool)
    seen = along(every_distance)
    scores = along(q @ p) / math.sqrt(d)
    return scores.masked_fill(~seen, -math.inf)


def by_hand(normalise: Callable, q: Tensor, k: Tensor, v: Tensor, p: Tensor) -> Tensor:
    """Score every key, and leave out what is off the band."""
    d = q.size(-1)
    content = q @ k.mT / math.sqrt(d)
    weights = normalise(content + banded(q, p))
    return weights @ v


def softmax(scores: Tensor) -> Tensor:
    return scores.softmax(-1)


def top_k(scores: Tensor) -> Tensor:
    """Keep the scores at least the k-th largest, as the released code does."""
    keys = scores.size(-1)
    largest = scores.topk(min(K, keys), -1)
    least = largest.values[..., -1:]
    kept = scores.masked_fill(scores < least, -math.inf)
    return kept.softmax(-1)


def sdpa(q: Tensor, k: Tensor, v: Tensor, p: Tensor) -> Tensor:
    return scaled_dot_product_attention(q, k, v, banded(q, p))


def sdpa_in_blocks(q: Tensor, k: Tensor, v: Tensor, p: Tensor, size: int = 128) -> Tensor:
    """Attend with a few queries at a time, and with the keys that any of them sees."""
    S = p.size(-1)
    parts = []
    for start in range(0, q.size(2), size):
        queries = q[:, :, start : start + size]
        # S keys before the first query, and the block's own.
        seen = slice(start, start + S + queries.size(2))
        keys = k[:, :, seen]
        values = v[:, :, seen]
        parts.append(sdpa(queries, keys, values, p))
    return torch.cat(parts, 2)


compiled_flex = torch.compile(flex_attention, dynamic=False)


@cache
def band_mask(T: int, S: int):
    """List the blocks of keys that hold any of the band."""

    def in_band(b, h, t, j):
        return (j >= t) & (j < t + S)

    return create_block_mask(in_band, None, None, T, S + T, device="cpu")


def flex(q: Tensor, k: Tensor, v: Tensor, p: Tensor) -> Tensor:
    """Attend with a bias that is looked up by distance."""
    _, _, T, d = q.shape
    S = p.size(-1)
    bias = (q @ p) / math.sqrt(d)

    def add_bias(score, b, h, t, j):
        # Unseen keys get the bias of any column: the mask hides them.
        column = (j - t).clamp(0, S - 1)
        return score + bias[b, h, t, column]

    return compiled_flex(q, k, v, score_mod=add_bias, block_mask=band_mask(T, S))


@cache
def released_layer(checkout: Path, width: int, heads: int, S: int):
    """Build the released layer of adaptive spans, its span fixed."""
    # Its `models` imports the checkout's other modules by their bare names.
    sys.path.insert(0, str(checkout))
    spec = spec_from_file_location("released_models", checkout / "models.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.path.pop(0)
    return module.SeqAttention(
        width,
        heads,
        S,
        0.0,
        adapt_span_params={"adapt_span_enabled": False},
        pers_mem_params={"pers_mem_size": 0},
    )


def released(checkout: Path, q: Tensor, k: Tensor, v: Tensor, p: Tensor) -> Tensor:
    _, heads, _, width = q.shape
    S = p.size(-1)
    made = released_layer(checkout, width, heads, S)
    # It counts streams and heads together.
    y = made(
        q.flatten(0, 1),
        k.flatten(0, 1),
        v.flatten(0, 1),
        p[None],
    )
    return y.view_as(q)


def peers(checkout: Path | None) -> dict[str, Peer]:
    """List what is compared, by name."""
    listed = {
        "sdpa, band as mask": Peer(sdpa),
        "sdpa, blocks of 128": Peer(sdpa_in_blocks),
        "by hand": Peer(partial(by_hand, softmax)),
    }
    if checkout:
        listed["released adaptive-span"] = Peer(partial(released, checkout))
    sparsemax = partial(entmax.sparsemax, dim=-1)
    entmax15 = partial(entmax.entmax15, dim=-1)
    listed["top-k by hand"] = Peer(
        attend=partial(by_hand, top_k),
        choices={"selection": {"name": "top_k", "k": K}},
    )
    listed["sparsemax of entmax"] = Peer(
        attend=partial(by_hand, sparsemax),
        choices={"normaliser": "sparsemax"},
    )
    listed["entmax-1.5 of entmax"] = Peer(
        attend=partial(by_hand, entmax15),
        choices={"normaliser": "entmax15"},
    )
    return listed


def step_of_ours(S: int, choices: dict, x: Tensor, past: Tensor):
    """Return the layer, and a step that gives y and all gradients."""
    torch.manual_seed(0)
    made = layer(
        WIDTH,
        HEADS,
        span={"name": "fixed", "limit": S},
        position={"name": "relative", "limit": S},
        attends_self=False,
        **choices,
    )
    made = made.to(x)

    def forward() -> Tensor:
        y, _ = made(x, (past,))
        return y

    return made, partial(step, made, forward)


def step_of_peer(made, attend: Attend, x: Tensor, past: Tensor):
    """Return a step that computes the same with another attention."""

    def forward() -> Tensor:
        rows = torch.cat([past.transpose(0, 1), x], 1)  # B (S + T) d
        q = linear(x, made.query.weight)
        k = linear(rows, made.key.weight)
        v = linear(rows, made.value.weight)
        y = attend(
            made.split(q),
            made.split(k),
            made.split(v),
            made.position.table,
        )
        joined = y.transpose(1, 2).flatten(2)
        return linear(joined, made.out.weight)

    return partial(step, made, forward)


def step(made, forward: Callable) -> list[Tensor]:
    """Return the output, and the gradients of all parameters."""
    y = forward()
    loss = y.square().sum()
    gradients = torch.autograd.grad(loss, list(made.parameters()))
    return [y.detach(), *gradients]


def assert_alike(name: str, ours: list[Tensor], theirs: list[Tensor]) -> None:
    """Exit unless the numbers are the same: nothing else may be timed."""
    differences = []
    for one, other in zip(ours, theirs, strict=True):
        difference = (one - other).abs().max()
        share = difference / one.abs().max()
        differences.append(share.item())
    if not max(differences) <= CLOSE[ours[0].dtype]:
        raise SystemExit(
            f"{name}: its numbers differ from ours by {max(differences):.1e} of the largest; "
            "nothing is timed"
        )


def timed(*steps: Callable, rounds: int = ROUNDS) -> list[float]:
    """Return each step's median over interleaved rounds, in seconds."""
    seconds: list[list[float]] = [[] for _ in steps]
    for _ in range(rounds):
        for each, spent in zip(steps, seconds, strict=True):
            start = time.perf_counter()
            each()
            stop = time.perf_counter()
            spent.append(stop - start)
    return [median(each) for each in seconds]


def compare(S: int, checkout: Path | None, rounds: int = ROUNDS) -> dict[str, float]:
    """Time each peer, in times of ours, its numbers compared first; and our softmax, in ms."""
    # A generator of its own: building a layer draws from torch's.
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(STREAMS, BLOCK, WIDTH, generator=generator)
    past = torch.randn(S, STREAMS, WIDTH, generator=generator)
    ratios = {}
    for name, peer in peers(checkout).items():
        exact_x = x[:CHECKED].double()
        exact_past = past[:, :CHECKED].double()
        made, ours = step_of_ours(S, peer.choices, exact_x, exact_past)
        theirs = step_of_peer(made, peer.attend, exact_x, exact_past)
        assert_alike(f"{name}, S = {S}", ours(), theirs())

        made, ours = step_of_ours(S, peer.choices, x, past)
        theirs = step_of_peer(made, peer.attend, x, past)
        one, other = timed(ours, theirs, rounds=rounds)
        ratios.setdefault("ours, softmax: ms", 1000 * one)
        ratios[name] = other / one
    ratios["flex_attention, forward"] = compare_flex(S, x, past, generator, rounds)
    return ratios


@torch.no_grad()
def compare_flex(S: int, x: Tensor, past: Tensor, generator, rounds: int) -> float:
    """Time flex_attention forward, in times of ours."""
    made, _ = step_of_ours(S, {}, x, past)
    width = WIDTH // HEADS
    q = torch.randn(STREAMS, HEADS, BLOCK, width, generator=generator)
    k = torch.randn(STREAMS, HEADS, S + BLOCK, width, generator=generator)
    v = torch.randn(STREAMS, HEADS, S + BLOCK, width, generator=generator)
    table = made.position.table
    ours = partial(by_engine, made, q, k, v, table)
    theirs = partial(flex, q, k, v, table)
    assert_alike(f"flex, S = {S}", [ours()], [theirs()])
    one, other = timed(ours, theirs, rounds=rounds)
    return other / one


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
    print_row("", [f"S = {S}" for S in columns])
    print_row("-" * 24, ["---" for _ in columns])
    for name in columns[options.spans[0]]:
        numbers = [f"{column[name]:.1f}" for column in columns.values()]
        print_row(name, numbers)


def print_row(name: str, cells: list[str]) -> None:
    """Print a row of a Markdown table."""
    print(f"| {name:24} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
