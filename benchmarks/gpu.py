"""Time training steps and attention on one GPU, ours next to what one would use today.

    python -m benchmarks.gpu [--out gpu.csv] [--minutes 4] [--all] [--released CHECKOUT]
    python -m benchmarks.gpu --device cpu --smoke

1. step: whole training steps of character models, as a run takes them, by kind of graph
2. layer: attention of one layer, forward and backward, by span limit S
3. choice: one layer with each other choice, at S = 512
4. peers: what others compute without position keys: causal, sliding window, entmax
5. seeds: gradients of several seeds at once

What is asked first comes first, and rows are written as they come: what is not begun after the
minutes is left out. Attention is timed after it gave the definition's numbers, output and all
gradients. Candidates take turns in rounds. The times are only of the machine that they were
measured on; those of `--smoke` on a CPU are of sizes that nobody trains, and rehearse the
benchmark.
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
from benchmarks.rounds import Bound, Clock, Race, Row, Step, Table, describe, in_a_graph, run_race
from benchmarks.steps import (
    BACKWARD,
    RAMP,
    SEEDS,
    SIZES,
    SMOKE,
    VARIANTS,
    bound_of,
    flops_of,
    gradients_of_seeds,
    half,
    training_step,
)
from models import library
from models.attention.choice import Shape
from models.attention.engine.equivalence import Case, check_equivalence
from models.attention.formula import attend_block
from models.attention.layers import CHOICES
from models.attention.spans.adaptive import Adaptive
from models.attention.spans.fixed import Fixed
from workflow.training.graphs import KINDS, Kind

CLOSE = 1e-4  # of the largest number, for the released layer in 32 bits
RELEASED = "released adaptive-span"
# z / S of the heads of an adaptive layer: most short, one long, as learned
REACHED = (0.0, 0.001, 0.01, 0.5)
LIMITS = (512, 2048, 128, 8192)  # S of a layer, the most important first
FEW = 8  # k of a selection
BISECTIONS = 24  # of the range of a row's scores
# in place of a CUDA graph, where there is none: what code is generated from
TRACED = (Kind("traced", {"backend": "aot_eager_decomp_partition"}, 0.0),)
# as "compiled", with independent kernels joined
COMBINED = Kind("combined", {"options": {"triton.cudagraphs": True, "combo_kernels": True}}, 0.0)


@dataclass(frozen=True)
class Settings:
    """smoke: tiny sizes. everything: also what takes more than a few minutes."""

    smoke: bool
    everything: bool


# 1. whole training steps


def time_steps(settings: Settings, clock: Clock, table: Table) -> None:
    """Time whole training steps by size and variant, without a graph and with each kind of one."""
    on_gpu = clock.device.type == "cuda"
    kinds = KINDS if on_gpu else TRACED
    if on_gpu and settings.everything:
        kinds += (COMBINED,)
    for size_name, variant in steps_asked(settings):
        size = SMOKE if settings.smoke else SIZES[size_name]
        steps = {}
        for kind in (None, *kinds):
            mode = kind.name if kind else "eager"
            steps["auto", mode] = partial(training_step, size, variant, "auto", kind, clock.device)
        race = Race(
            part="step",
            case=f"{size_name} {variant}",
            bits=16 if on_gpu else 32,
            bound=bound_of(size, variant),
        )
        run_race(race, steps, clock, table)


def steps_asked(settings: Settings) -> list[tuple[str, str]]:
    """List sizes and variants, the most important first."""
    if settings.smoke:
        return [("smoke", variant) for variant in VARIANTS]
    asked = [("5M", variant) for variant in VARIANTS]
    large = ("25M", "85M")
    asked += product(large, ("fixed", "adaptive"))
    if settings.everything:
        asked += product(large, ("top-k", "sparsemax"))
    return asked


# 2. one layer


class Equal:
    """Asks once of each candidate and number type whether it gives the definition's numbers."""

    def __init__(self, candidates: dict[str, Attend], device: torch.device, table: Table):
        self.candidates = candidates
        self.device = device
        self.table = table
        self.found: dict[tuple[str, torch.dtype], bool] = {}

    def __call__(self, name: str, dtype: torch.dtype) -> bool:
        """Say whether it does, and write a row when it is first asked; what differs is no error."""
        if (name, dtype) not in self.found:
            note = "ok"
            try:
                check_spans(self.candidates[name], self.device, dtype)
            # whatever it is, of torch, a compiler or a driver: the candidate is left out
            except Exception as error:
                note = describe(error)
            row = Row("equal", "check_equivalence", 8 * dtype.itemsize, name, note=note)
            self.table.add(row)
            self.found[name, dtype] = note == "ok"
        return self.found[name, dtype]

    def admit_released(self, attend: Attend) -> None:
        """Compare the released layer in its own way: see `difference_of_released`."""
        largest = difference_of_released(attend, self.device)
        self.table.add(Row("equal", "dense at r = q", 32, RELEASED, note=f"{largest:.1e}"))

        def with_own_queries(q, r, *rest, **named) -> Tensor:
            # r has no part in it; autograd asks for a gradient all the same.
            return attend(q, q, *rest, **named) + 0 * r.sum()

        self.candidates[RELEASED] = with_own_queries
        for dtype in (torch.float32, torch.bfloat16):
            self.found[RELEASED, dtype] = largest < CLOSE


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
    def bound(self) -> Bound:
        """Count q k, r p and p v over the keys that heads see, forward and backward.

        And the inputs, read in both passes, the output, and a gradient of each.
        """
        B, h, T, d = self.size
        keys_of_heads = float(self.reach().sum())
        pairs = B * T * keys_of_heads
        # Three products, and a multiplication and an addition for each of their terms.
        forward = 3 * 2 * pairs * d
        of_queries = 3 * B * h * T * d  # q, r and the output
        of_keys = 2 * B * (h * T + keys_of_heads) * d
        touched = 3 * (of_queries + of_keys) * self.dtype.itemsize
        return Bound(forward * (1 + BACKWARD), touched)


def time_layers(equal: Equal, settings: Settings, clock: Clock, table: Table) -> None:
    """Time one layer, forward and backward, by span limit, kind of span and number type."""
    on_gpu = clock.device.type == "cuda"
    size = (1, 2, 16, 16) if settings.smoke else (8, 4, 256, 64)
    for S, span, dtype in layers_asked(settings, on_gpu):
        layer = Layer(
            size=size,
            S=S,
            is_adaptive=span == "adaptive",
            dtype=dtype,
            device=clock.device,
        )
        steps = {}
        for name in equal.candidates:
            # The released layer has the span of all heads in one number.
            is_left_out = name == RELEASED and layer.is_adaptive
            is_late = time.monotonic() > clock.deadline
            if is_left_out or is_late or not equal(name, dtype):
                continue
            make = partial(layer.step_of, equal.candidates[name])
            steps[name, "eager"] = make
            if on_gpu and name not in (*NOT_IN_A_GRAPH, RELEASED):
                steps[name, "recorded"] = partial(graph_of, make)
        race = Race(
            part="layer",
            case=f"S={S} {span}",
            bits=8 * dtype.itemsize,
            bound=layer.bound,
        )
        run_race(race, steps, clock, table)


def layers_asked(settings: Settings, on_gpu: bool) -> list[tuple[int, str, torch.dtype]]:
    """List span limits, kinds of span and number types, the most important first."""
    half, single = torch.bfloat16, torch.float32
    if not on_gpu:
        limits = (24,) if settings.smoke else LIMITS[:1]
        return list(product(limits, ("fixed", "adaptive"), (single,)))
    asked = [(S, "fixed", half) for S in LIMITS]
    asked.append((LIMITS[0], "fixed", single))
    if settings.everything:
        asked += [(S, "adaptive", half) for S in LIMITS]
        asked += list(product(LIMITS[1:], ("fixed",), (single,)))
        asked += list(product(LIMITS, ("adaptive",), (single,)))
    return asked


def graph_of(make: Callable[[], Step]) -> Step:
    return in_a_graph(make())


# 3. the other choices


def time_choices(settings: Settings, clock: Clock, table: Table) -> None:
    """Time a layer with each choice of each axis, its projections included, in training."""
    on_gpu = clock.device.type == "cuda"
    kinds = KINDS if on_gpu else TRACED
    B, T, width, heads, S = (2, 16, 32, 2, 16) if settings.smoke else (32, 128, 256, 4, LIMITS[0])
    # of the softmax layer with a fixed span: what a choice adds is its cost
    own = B * T
    seen = B * (T + S)
    macs = (2 * own + 2 * seen) * width**2 + 2 * own * S * width
    bound = Bound(2 * macs * (1 + BACKWARD))
    for axis, choices in CHOICES.items():
        for name, choice in choices.items():
            setting = {"name": name, **choice.example}
            for key, letter in choice.from_grid.items():
                setting[key] = S if letter == "S" else FEW
            chosen = {"span": {"name": "fixed", "limit": S}} | {axis: setting}
            make = partial(choice_step, chosen, (B, T, width, heads, S), clock.device)
            steps = {(f"{axis} {name}", "eager"): partial(make, None)}
            for kind in kinds:
                steps[f"{axis} {name}", kind.name] = partial(make, kind)
            race = Race("choice", f"B{B} T{T} S={S}", 16 if on_gpu else 32, bound)
            run_race(race, steps, clock, table)


def choice_step(
    chosen: dict, sizes: tuple[int, ...], device: torch.device, kind: Kind | None
) -> Step:
    """Make a step that computes the output and all gradients of a layer. sizes: B T d h S."""
    B, T, width, heads, S = sizes
    torch.manual_seed(0)
    layer = library.layer(width, heads, **chosen).to(device).train()
    x = torch.randn(B, T, width, device=device, requires_grad=True)
    inputs = torch.randn(S, B, width, device=device)
    wanted = [x, *layer.parameters()]

    def attend(x: Tensor, inputs: Tensor) -> Tensor:
        y, _ = attend_block(layer, x, (inputs,), S)
        return y

    if kind:
        attend = torch.compile(attend, fullgraph=True, dynamic=False, **kind.options)

    def step() -> None:
        torch.compiler.cudagraph_mark_step_begin()
        with half(device):
            y = attend(x, inputs)
        torch.autograd.grad(y.float().square().sum(), wanted, allow_unused=True)

    return step


# 4. what others compute without position keys


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


def adasplash_rows(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Weigh whole rows of scores by the package's kernel for entmax-1.5."""
    from adasplash import triton_entmax15

    scores = causal_scores(q, k, -1e4).float()
    weights = triton_entmax15(scores.flatten(0, -2)).view_as(scores)
    return weights.to(v.dtype) @ v


def top_k(threshold_of: Callable[[Tensor], Tensor], q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attend to the keys with a score of at least a row's threshold, which has no gradient."""
    scores = causal_scores(q, k, -math.inf).float()
    threshold = threshold_of(scores.detach())
    kept = scores.masked_fill(scores < threshold, -math.inf)
    return kept.softmax(-1).to(v.dtype) @ v


def compiled_top_k(threshold_of: Callable[[Tensor], Tensor]) -> Callable:
    return torch.compile(partial(top_k, threshold_of), dynamic=False)


def by_sorting(scores: Tensor) -> Tensor:
    """Return the `FEW`th largest of each row: .. 1."""
    return scores.topk(FEW, dim=-1).values[..., -1:]


def by_bisection(scores: Tensor) -> Tensor:
    """Return a number that `FEW` numbers of each row reach, or more where they are nearly alike."""
    seen = scores > -math.inf
    low = scores.masked_fill(~seen, math.inf).amin(-1, keepdim=True)
    high = scores.amax(-1, keepdim=True)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        is_reached = (scores >= middle).sum(-1, keepdim=True) >= FEW
        low = torch.where(is_reached, middle, low)
        high = torch.where(is_reached, high, middle)
    return low


def sliding_window(window: int) -> Callable:
    from local_attention import LocalAttention  # where it is installed; else a row says so

    layer = LocalAttention(window_size=window, causal=True, look_backward=1, autopad=True)
    return layer.to("cuda")


def time_peers(settings: Settings, clock: Clock, table: Table) -> None:
    """Time what others compute, in 16 bits."""
    B = 8
    h = 8
    d = 64
    for length in (512, 4096) if settings.everything else (512,):
        makers = {
            "FA2 causal (sdpa)": lambda: flash,
            "flex window 256": partial(window_of, length, clock.device),
            "local-attention 256": partial(sliding_window, 256),
            "adasplash": lambda: adasplash,
            "entmax package": lambda: entmax_package,
            "entmax15 (ours)": lambda: our_entmax,
            "entmax15 (ours, compiled)": lambda: torch.compile(our_entmax, dynamic=False),
            "adasplash, rows": lambda: adasplash_rows,
            "top-k (sorting, compiled)": partial(compiled_top_k, by_sorting),
            "top-k (bisection, compiled)": partial(compiled_top_k, by_bisection),
        }
        steps = {}
        size = (B, h, length, d)
        for name, make in makers.items():
            steps[name, "eager"] = partial(peer_step, make, size, clock.device)
        # Of a causal mask half of all pairs, in two products.
        pairs = B * h * length * length / 2
        forward = 2 * 2 * pairs * d
        race = Race(
            part="peers",
            case=f"B{B} h{h} L={length} d{d} causal",
            bits=16,
            bound=Bound(forward * (1 + BACKWARD)),
        )
        run_race(race, steps, clock, table)


def peer_step(make: Callable[[], Callable], size: tuple[int, ...], device: torch.device) -> Step:
    attend = make()
    draw = partial(torch.randn, size, device=device, dtype=torch.bfloat16)
    inputs = [draw(requires_grad=True) for _ in range(3)]
    dy = draw()

    def step() -> None:
        y = attend(*inputs)
        torch.autograd.grad(y, inputs, dy)

    return step


# 5. several seeds


def time_seeds(settings: Settings, clock: Clock, table: Table) -> None:
    """Time the gradients of several seeds of one model: one after the other, and stacked."""
    on_gpu = clock.device.type == "cuda"
    size = SMOKE if settings.smoke else SIZES["5M"]
    steps = {}
    for name, stacked in (("one by one", False), ("stacked", True)):
        steps[name, "eager"] = partial(gradients_of_seeds, size, clock.device, stacked)
    race = Race(
        part="seeds",
        case=f"{'smoke' if settings.smoke else '5M'} fixed, {SEEDS} seeds",
        bits=16 if on_gpu else 32,
        bound=Bound(SEEDS * flops_of(size, size.limit)),
    )
    run_race(race, steps, clock, table)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("gpu.csv"))
    parser.add_argument(
        "--minutes", type=float, default=4, help="what is not begun then is left out"
    )
    parser.add_argument("--all", action="store_true", help="also what takes longer")
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
    settings = Settings(options.smoke, options.all)
    with closing(Table(options.out)) as table:
        equal = Equal(dict(ON_GPU if device.type == "cuda" else ON_CPU), device, table)
        if options.released:
            equal.admit_released(released(options.released))
        time_steps(settings, clock, table)
        time_layers(equal, settings, clock, table)
        time_choices(settings, clock, table)
        if device.type == "cuda":
            time_peers(settings, clock, table)
        time_seeds(settings, clock, table)
        seconds = time.monotonic() - began
        end = Row("end", f"{seconds:.0f} s", note=torch.__version__)
        table.add(end)


if __name__ == "__main__":
    main()
