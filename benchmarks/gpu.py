"""Time attention and whole training steps on one GPU, ours next to what one would use today.

    python -m benchmarks.gpu [--out gpu.csv] [--minutes 9] [--released CHECKOUT]
    python -m benchmarks.gpu --device cpu --smoke

1. equal: each candidate against the definition, output and all gradients; what differs is not timed
2. layer: attention of one layer, forward and backward, by span limit S
3. peers: what others compute without position keys: causal, sliding window, entmax
4. step: whole training steps of character models, by backend

Candidates take turns in rounds. The times are only of the machine that they were measured on; those
of `--smoke` on a CPU are of sizes that nobody trains, and rehearse the benchmark.
"""

import argparse
import math
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import create_block_mask

from benchmarks.attention_candidates import (
    NOT_IN_A_GRAPH,
    ON_CPU,
    ON_GPU,
    Attend,
    compiled_flex,
    dense,
    released,
)
from benchmarks.rounds import Clock, Race, Row, Step, Table, describe, in_a_graph, run_race
from models.attention.choice import Shape
from models.attention.engine.equivalence import Case, check_equivalence
from models.attention.spans.adaptive import Adaptive
from models.attention.spans.fixed import Fixed
from models.nets.char_lm import CharLM
from workflow.costs.streams import fill_caches
from workflow.training.backends import prepare
from workflow.training.optimisers import Adam

# FLOPs per second of an H100 SXM without sparsity (NVIDIA's data sheet)
PEAK = {torch.bfloat16: 989e12, torch.float32: 67e12}
RAMP = 32
BACKWARD = 2  # a backward pass computes twice what the forward pass does
CLOSE = 1e-4  # of the largest number, for the released layer in 32 bits
RELEASED = "released adaptive-span"
# z / S of the heads of an adaptive layer: most short, one long, as learned
REACHED = (0.0, 0.001, 0.01, 0.5)


@dataclass(frozen=True)
class Size:
    """A character model. block: characters of a stream in one step. limit: S."""

    layers: int
    width: int
    heads: int
    hidden: int
    streams: int
    block: int
    limit: int


SMOKE = {"smoke": Size(2, 32, 2, 64, 4, 16, 16)}
SIZES = {
    "5M as scale small": Size(6, 256, 4, 1024, 32, 128, 512),
    "27M": Size(8, 512, 8, 2048, 32, 512, 512),
    "124M": Size(12, 768, 12, 3072, 16, 512, 1024),
}


# 1. equality


def find_equal(
    candidates: dict[str, Attend], device: torch.device, table: Table
) -> set[tuple[str, torch.dtype]]:
    """Return the candidates and number types that give the definition's numbers."""
    equal = set()
    for name, twin in candidates.items():
        for dtype in (torch.float32, torch.bfloat16):
            note = "ok"
            try:
                check_spans(twin, device, dtype)
                equal.add((name, dtype))
            # Whatever it is, of torch, a compiler or a driver: the candidate is left out.
            except Exception as error:
                note = describe(error)
            row = Row(
                part="equal",
                case="check_equivalence",
                bits=8 * dtype.itemsize,
                candidate=name,
                note=note,
            )
            table.add(row)
    return equal


def check_spans(twin: Attend, device: torch.device, dtype: torch.dtype) -> None:
    """Raise `Mismatch` unless a candidate equals the definition, with a ramp and without."""
    shape = Shape(128, 2, 64, 64)
    for span, ramp in ((Fixed, None), (Adaptive, 8)):
        case = Case(shape, span, ramp, attends_self=False)
        check_equivalence(twin, device.type, dtype, case)


def difference_of_released(attend: Attend, device: torch.device) -> float:
    """Compare the released layer with `dense` at r = q, output and gradients.

    `check_equivalence` has reaches and queries that the released layer has not. Returns the largest
    difference as a share of the largest number.
    """
    torch.manual_seed(0)
    B = 2
    h = 2
    T = 16
    S = 24
    d = 16
    draw = partial(torch.randn, device=device, requires_grad=True)
    q = draw(B, h, T, d)
    k = draw(B, h, S + T, d)
    v = draw(B, h, S + T, d)
    keys = draw(d, S)
    reach = torch.full((h,), S, device=device)
    results = []
    for candidate in (dense, attend):
        y = candidate(
            q,
            q,  # r = q
            k,
            v,
            keys,
            None,
            reach,
            ramp=None,
            attends_self=False,
        )
        gradients = torch.autograd.grad(y.square().sum(), (q, k, v, keys))
        results.append([y, *gradients])
    differences = []
    for ours, theirs in zip(*results, strict=True):
        largest = (ours - theirs).abs().max()
        share = largest / ours.abs().max()
        differences.append(share.item())
    # `max` would pass over a NaN that is not the first.
    if not all(map(math.isfinite, differences)):
        return math.nan
    return max(differences)


# 2. one layer


@dataclass(frozen=True)
class Layer:
    """Inputs of one layer's attention with S keys before a block. size: B, h, T, d."""

    size: tuple[int, int, int, int]
    S: int
    is_adaptive: bool
    dtype: torch.dtype
    device: torch.device

    def step_of(self, attend: Attend) -> Step:
        """Make a step that computes the output and all gradients."""
        B, h, T, d = self.size
        K = self.S + T
        torch.manual_seed(0)
        draw = partial(torch.randn, device=self.device, dtype=self.dtype)
        q = draw(B, h, T, d) / 8
        r = draw(B, h, T, d) / 8
        k = draw(B, h, K, d)
        v = draw(B, h, K, d)
        position_keys = draw(d, self.S)
        dy = draw(B, h, T, d)
        inputs = [q, r, k, v, position_keys]
        z = self._spans()
        wanted = inputs if z is None else [*inputs, z]
        for tensor in wanted:
            tensor.requires_grad_()
        ramp = None
        if z is not None:
            ramp = min(RAMP, self.S)
        reach = self.reach()

        def step() -> None:
            y = attend(*inputs, z, reach, ramp=ramp, attends_self=False)
            torch.autograd.grad(y, wanted, dy)

        return step

    def _spans(self) -> Tensor | None:
        if not self.is_adaptive:
            return None
        _, h, _, _ = self.size
        shares = torch.tensor(REACHED[:h], device=self.device)
        z = shares * self.S
        return z.view(-1, 1, 1)

    def reach(self) -> Tensor:
        """Return the keys that each head sees."""
        z = self._spans()
        if z is None:
            _, h, _, _ = self.size
            return torch.full((h,), self.S, device=self.device)
        # The keys with m > 0: z rounded up, and the ramp behind it.
        reached = z.ceil().long() + min(RAMP, self.S)
        return reached.clamp(max=self.S).flatten()

    @property
    def flops(self) -> float:
        """Count q k, r p and p v over the keys that heads see, forward and backward."""
        B, _, T, d = self.size
        keys_of_heads = float(self.reach().sum())
        pairs = B * T * keys_of_heads
        # Three products, and a multiplication and an addition for each of their terms.
        forward = 3 * 2 * pairs * d
        return forward * (1 + BACKWARD)


def time_layers(
    candidates: dict[str, Attend],
    equal: set[tuple[str, torch.dtype]],
    smoke: bool,
    clock: Clock,
    table: Table,
) -> None:
    """Time one layer, forward and backward, by span limit, kind of span and number type."""
    on_gpu = clock.device.type == "cuda"
    dtypes = (torch.bfloat16, torch.float32) if on_gpu else (torch.float32,)
    size = (1, 2, 16, 16) if smoke else (8, 4, 256, 64)
    limits = (24,) if smoke else (256, 1024, 4096)
    for S, span, dtype in product(limits, ("fixed", "adaptive"), dtypes):
        layer = Layer(
            size=size,
            S=S,
            is_adaptive=span == "adaptive",
            dtype=dtype,
            device=clock.device,
        )
        steps = {}
        for name, attend in candidates.items():
            # The released layer has the span of all heads in one number.
            is_left_out = name == RELEASED and layer.is_adaptive
            if is_left_out or (name, dtype) not in equal:
                continue
            make = partial(layer.step_of, attend)
            steps[name, "eager"] = make
            if on_gpu and name not in (*NOT_IN_A_GRAPH, RELEASED):
                steps[name, "graph"] = partial(graph_of, make)
        race = Race(
            part="layer",
            case=f"S={S} {span}",
            bits=8 * dtype.itemsize,
            flops=layer.flops,
            peak=PEAK[dtype],
        )
        run_race(race, steps, clock, table)


def graph_of(make: Callable[[], Step]) -> Step:
    return in_a_graph(make())


# 3. what others compute without position keys


def causal_scores(q: Tensor, k: Tensor, masked: float) -> Tensor:
    """Score the keys up to each query's own, `masked` elsewhere: B h T T."""
    d = q.size(-1)
    scores = q @ k.mT / math.sqrt(d)
    length = scores.size(-1)
    every_pair = torch.ones(length, length, dtype=torch.bool, device=q.device)
    seen = every_pair.tril()
    return scores.masked_fill(~seen, masked)


def flash(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def window_of(length: int, device: torch.device, window: int = 256) -> Callable:
    """Make flex_attention over the last `window` keys up to each query's own."""

    def seen(b, h, i, j):
        return (i >= j) & (i - j < window)

    mask = create_block_mask(seen, None, None, length, length, device=device)
    return partial(compiled_flex, block_mask=mask)


def entmax_package(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    import entmax

    # The package sorts scores, and -inf would give NaN.
    scores = causal_scores(q, k, -1e4)
    weights = entmax.entmax15(scores.float(), dim=-1)
    return weights.to(v.dtype) @ v


def our_entmax(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    from models.attention.normalisers.entmax15 import _Entmax15

    scores = causal_scores(q, k, -math.inf)
    weights = _Entmax15.apply(scores)
    return weights.to(v.dtype) @ v


def adasplash(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    from adasplash import adasplash as attend  # where it is installed; else a row says so

    return attend(q, k, v)


def time_peers(clock: Clock, table: Table) -> None:
    """Time what others compute, in 16 bits."""
    B = 8
    h = 8
    d = 64
    for length in (512, 4096):
        peers = {
            "FA2 causal (sdpa)": flash,
            "flex window 256": window_of(length, clock.device),
            "adasplash": adasplash,
            "entmax package": entmax_package,
            "entmax15 (ours)": our_entmax,
        }
        steps = {}
        size = (B, h, length, d)
        for name, attend in peers.items():
            steps[name, "eager"] = partial(peer_step, attend, size, clock.device)
        # Of a causal mask half of all pairs, in two products.
        pairs = B * h * length * length / 2
        forward = 2 * 2 * pairs * d
        race = Race(
            part="peers",
            case=f"B{B} h{h} L={length} d{d} causal",
            bits=16,
            flops=forward * (1 + BACKWARD),
            peak=PEAK[torch.bfloat16],
        )
        run_race(race, steps, clock, table)


def peer_step(attend: Callable, size: tuple[int, ...], device: torch.device) -> Step:
    draw = partial(torch.randn, size, device=device, dtype=torch.bfloat16)
    inputs = [draw(requires_grad=True) for _ in range(3)]
    dy = draw()

    def step() -> None:
        y = attend(*inputs)
        torch.autograd.grad(y, inputs, dy)

    return step


# 4. whole training steps


def training_step(size: Size, backend: str, span: str, mode: str, device: torch.device) -> Step:
    """Make a whole update at a rate of 0, with full caches. mode: see `Row`."""
    torch.manual_seed(0)
    on_gpu = device.type == "cuda"
    spans = {
        "fixed": {"name": "fixed", "limit": size.limit},
        "adaptive": {"name": "adaptive", "limit": size.limit, "ramp": min(RAMP, size.limit)},
    }
    attention = {
        "span": spans[span],
        "selection": {"name": "all"},
        "normaliser": {"name": "softmax"},
        "position": {"name": "relative", "limit": size.limit},
    }
    settings = {
        "layers": size.layers,
        "d_model": size.width,
        "heads": size.heads,
        "d_ff": size.hidden,
        "dropout": 0.0,
        "attention_dropout": 0.0,
    }
    model = CharLM(256, attention, settings).to(device)
    model.train()
    prepare(model, backend, device, torch.bfloat16 if on_gpu else torch.float32)
    tokens = torch.randint(256, (size.streams, size.block + 1), device=device)
    inputs = tokens[:, :-1]
    targets = tokens[:, 1:]
    cast = partial(torch.autocast, device.type, torch.bfloat16, enabled=on_gpu)
    with torch.no_grad(), cast():
        filled = fill_caches(model, inputs)
    # Copied: every step reads the same caches, and a graph needs them where they are.
    past = []
    for parts in filled:
        copies = [part.detach().clone() for part in parts]
        past.append(tuple(copies))
    optimiser = Adam(list(model.parameters()), lr=0.0, clip=1.0)

    def loss() -> Tensor:
        with cast():
            logits, _ = model(inputs, past)
        by_token = logits.float().flatten(0, 1)
        return F.cross_entropy(by_token, targets.flatten())

    if mode.startswith("compiled"):
        loss = torch.compile(loss, dynamic=False)

    def step() -> None:
        total = loss() + model.penalty()
        total.backward()
        optimiser.step()
        optimiser.forget_gradients()

    if mode.endswith("graph"):
        return in_a_graph(step)
    return step


def flops_of(size: Size, keys: int) -> float:
    """Count the FLOPs of one step whose queries see so many keys."""
    own = size.streams * size.block
    seen = size.streams * (size.block + size.limit)
    # Queries and outputs of the block; keys and values of the cache, too.
    of_block = 2 * own * size.width**2
    of_all = 2 * seen * size.width**2
    projections = of_block + of_all
    feed_forward = 2 * own * size.width * size.hidden
    attention = 3 * own * keys * size.width
    output = own * 256 * size.width
    of_layer = projections + feed_forward + attention
    macs = size.layers * of_layer + output
    return 2 * macs * (1 + BACKWARD)


def time_steps(smoke: bool, clock: Clock, table: Table) -> None:
    """Time whole training steps by size, span, backend and mode."""
    on_gpu = clock.device.type == "cuda"
    modes = [("definition", "eager")]
    if on_gpu:
        modes.append(("auto", "eager"))
        for mode in ("compiled", "compiled graph", "graph"):
            modes.append(("definition", mode))
    sizes = SMOKE if smoke else SIZES
    for (name, size), span in product(sizes.items(), ("fixed", "adaptive")):
        steps = {}
        for backend, mode in modes:
            step = partial(training_step, size, backend, span, mode, clock.device)
            steps[backend, mode] = step
        # Adaptive spans begin at z = 0: heads see their ramp.
        keys = size.limit if span == "fixed" else min(RAMP, size.limit)
        race = Race(
            part="step",
            case=f"{name} {span}",
            bits=16 if on_gpu else 32,
            flops=flops_of(size, keys),
            peak=PEAK[torch.bfloat16],
        )
        run_race(race, steps, clock, table)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("gpu.csv"))
    parser.add_argument(
        "--minutes", type=float, default=9, help="what is not begun then is left out"
    )
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--smoke", action="store_true", help="tiny sizes and two rounds")
    parser.add_argument(
        "--released", type=Path, help="a checkout of facebookresearch/adaptive-span"
    )
    options = parser.parse_args(argv)

    began = time.monotonic()
    device = torch.device(options.device)
    clock = Clock(
        device=device,
        rounds=2 if options.smoke else 15,
        repeat=1 if options.smoke else 5,
        deadline=began + 60 * options.minutes,
    )
    with closing(Table(options.out)) as table:
        time_all(options, clock, table)
        seconds = time.monotonic() - began
        end = Row("end", f"{seconds:.0f} s", note=torch.__version__)
        table.add(end)


def time_all(options: argparse.Namespace, clock: Clock, table: Table) -> None:
    """Write the rows of all parts."""
    device = clock.device
    candidates = dict(ON_GPU if device.type == "cuda" else ON_CPU)
    equal = find_equal(candidates, device, table)
    if options.released:
        attend = released(options.released)
        largest = difference_of_released(attend, device)
        table.add(Row("equal", "dense at r = q", 32, RELEASED, note=f"{largest:.1e}"))

        def with_own_queries(q, r, *rest, **named) -> Tensor:
            # r has no part in it; autograd asks for a gradient all the same.
            return attend(q, q, *rest, **named) + 0 * r.sum()

        candidates[RELEASED] = with_own_queries
        if largest < CLOSE:
            equal |= {(RELEASED, dtype) for dtype in PEAK}
    time_layers(candidates, equal, options.smoke, clock, table)
    if device.type == "cuda":
        time_peers(clock, table)
    time_steps(options.smoke, clock, table)


if __name__ == "__main__":
    main()
