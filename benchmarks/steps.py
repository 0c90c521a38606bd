"""Whole training steps of character models, one by one and several seeds at a time."""

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.func import functional_call, grad, stack_module_state, vmap

from benchmarks.rounds import Bound, Step
from models.attention.engine.window import SPARE, next_power_of_two
from models.attention.formula import Definition
from models.kernels.compiled import build
from models.nets.char_lm import CharLM
from workflow.costs.streams import fill_caches
from workflow.training.backends import prepare
from workflow.training.graphs import Kind, graph_of
from workflow.training.optimisers import Adam

SYMBOLS = 256
RAMP = 32
BACKWARD = 2  # a backward pass computes twice what the forward pass does
SEEDS = 5  # as many as a configuration of the suite is judged by
# What an update moves of each parameter of 4 bytes: read in both passes, its gradient written and
# read, and itself and Adam's two averages read and written.
MOVED_BY_UPDATE = 4 * (2 + 2 + 6)


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


SMOKE = Size(2, 32, 2, 64, 4, 16, 16)
SIZES = {
    "5M": Size(6, 256, 4, 1024, 32, 128, 512),  # scale small
    "25M": Size(8, 512, 8, 2048, 32, 512, 512),
    "85M": Size(12, 768, 12, 3072, 16, 512, 1024),
}


@dataclass(frozen=True)
class Variant:
    """What is chosen on some axes for a span limit S, and how many keys a query then sees."""

    choices: Callable[[int], dict] = field(repr=False)
    keys: Callable[[int], int] = field(repr=False, default=lambda S: S)


def _adaptive(S: int) -> dict:
    return {"span": {"name": "adaptive", "limit": S, "ramp": min(RAMP, S)}}


VARIANTS = {
    "fixed": Variant(lambda S: {}),
    # Adaptive spans begin at z = 0: heads see their ramp.
    "adaptive": Variant(_adaptive, lambda S: min(RAMP, S)),
    "top-k": Variant(lambda S: {"selection": {"name": "top_k", "k": 8}}),
    "sparsemax": Variant(lambda S: {"normaliser": {"name": "sparsemax"}}),
}


def model_of(size: Size, variant: str, device: torch.device) -> CharLM:
    """Build a model without dropout, in training."""
    S = size.limit
    attention = {
        "span": {"name": "fixed", "limit": S},
        "selection": {"name": "all"},
        "normaliser": {"name": "softmax"},
        "position": {"name": "relative", "limit": S},
    }
    settings = {
        "layers": size.layers,
        "d_model": size.width,
        "heads": size.heads,
        "d_ff": size.hidden,
        "dropout": 0.0,
        "attention_dropout": 0.0,
    }
    chosen = attention | VARIANTS[variant].choices(S)
    return CharLM(SYMBOLS, chosen, settings).to(device).train()


@dataclass(frozen=True)
class Batch:
    """Characters B T, those that follow them, and full caches."""

    inputs: Tensor
    targets: Tensor
    past: list


def batch_of(model: CharLM, size: Size, device: torch.device) -> Batch:
    tokens = torch.randint(SYMBOLS, (size.streams, size.block + 1), device=device)
    inputs = tokens[:, :-1]
    with torch.no_grad(), half(device):
        filled = fill_caches(model, inputs)
    # Copied: every step reads the same caches, and a graph needs them where they are.
    past = []
    for parts in filled:
        copies = [part.detach().clone() for part in parts]
        past.append(tuple(copies))
    return Batch(inputs, tokens[:, 1:], past)


def half(device: torch.device):
    """Compute products in 16 bits on a GPU."""
    return torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda")


def loss_of(logits: Tensor, targets: Tensor) -> Tensor:
    by_token = logits.float().flatten(0, 1)
    return F.cross_entropy(by_token, targets.flatten())


def training_step(
    size: Size, variant: str, backend: str, kind: Kind | None, device: torch.device
) -> Step:
    """Make a whole update at a rate of 0, with full caches. kind: of graph, or None."""
    torch.manual_seed(0)
    model = model_of(size, variant, device)
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    prepare(model, backend, device, dtype)
    batch = batch_of(model, size, device)
    optimiser = Adam(list(model.parameters()), lr=0.0, clip=1.0)
    forward = model
    if kind is not None:
        # as many keys as training would compute: see `Window`
        reached = VARIANTS[variant].keys(size.limit)
        keys = min(size.limit, next_power_of_two(reached + SPARE))
        forward = graph_of(model, kind, size.layers * (keys,))

    def step() -> None:
        with half(device):
            logits, _ = forward(batch.inputs, batch.past)
        loss = loss_of(logits, batch.targets) + model.penalty()
        loss.backward()
        optimiser.step()
        optimiser.forget_gradients()

    return step


def gradients_of_seeds(size: Size, device: torch.device, stacked: bool) -> Step:
    """Make a step that computes the gradients of `SEEDS` models with a fixed span.

    They read the same block. stacked: all at once, as one model with one more axis; otherwise one
    after the other, without a graph. The step returns the gradients by name, one row each seed.
    """
    torch.manual_seed(0)
    models = [model_of(size, "fixed", device) for _ in range(SEEDS)]
    batch = batch_of(models[0], size, device)
    definition = Definition()
    for model in models:
        model.requires_grad_(False)
        for layer in model.attentions:
            layer.implementation = definition
    base = models[0]

    def loss(parameters: dict[str, Tensor]) -> Tensor:
        with half(device):
            logits, _ = functional_call(base, parameters, (batch.inputs, batch.past))
        return loss_of(logits, batch.targets)

    parameters, _ = stack_module_state(models)
    alone = [dict(model.named_parameters()) for model in models]

    # vmap knows nothing of the compiled library
    @build.without()
    def one_by_one() -> dict[str, Tensor]:
        every = [grad(loss)(each) for each in alone]
        return {name: torch.stack([each[name] for each in every]) for name in every[0]}

    @build.without()
    def at_once() -> dict[str, Tensor]:
        return vmap(grad(loss))(parameters)

    return at_once if stacked else one_by_one


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
    output = own * SYMBOLS * size.width
    of_layer = projections + feed_forward + attention
    macs = size.layers * of_layer + output
    return 2 * macs * (1 + BACKWARD)


def bytes_of(size: Size) -> float:
    """Count the bytes that a step must move: parameters, and the inputs of all products.

    The inputs are in 16 bits, written once and read in both passes. Scores are not counted: they
    need not leave the chip.
    """
    of_layer = 4 * size.width**2 + 2 * size.width * size.hidden
    parameters = size.layers * of_layer + 2 * SYMBOLS * size.width
    own = size.streams * size.block
    seen = size.streams * (size.block + size.limit)
    # of a layer: its input, queries, outputs and the middle of the feed-forward layer; keys, values
    # and what they are projected from
    numbers = own * (5 * size.width + size.hidden) + 3 * seen * size.width
    passes = 3
    return parameters * MOVED_BY_UPDATE + 2 * passes * size.layers * numbers


def bound_of(size: Size, variant: str) -> Bound:
    keys = VARIANTS[variant].keys(size.limit)
    return Bound(flops=flops_of(size, keys), bytes=bytes_of(size))
