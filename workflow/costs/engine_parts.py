"""Parts of a step that the engine is measured on: one layer's heads, a layer of an encoder, the largest product."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch

from models.attention import CHOICES
from models.attention.choice import Shape
from models.attention.engine.engine import Engine
from models.attention.engine.groups import HeadGroup
from models.attention.layers import SequenceAttention, build_layers
from models.attention.spans.fixed import Fixed
from models.kernels.compiled.dense import Product, multiply
from models.nets.blocks import EncoderBlock
from workflow.plan.scales import Engine as Sizes

PRODUCTS = 10  # in one round: a single one is too short to time
PRODUCTS_BY = ("torch", "compiled")
SENTENCES, WORDS = (32, 64, 128, 256, 512), 1024  # lengths of sentences, and words in a batch
PARSER = {  # the encoder of the laptop scale's parser: width 64, 8 heads
    "full": {"name": "full", "cache": max(SENTENCES)},
    "adaptive": {"name": "adaptive", "limit": 16, "ramp": 4},
}
ATTENTION = {
    "softmax": ("all", {}, "softmax"),
    "top-k, k = 8": ("top_k", {"k": 8}, "softmax"),
    "top-k, k = 64": ("top_k", {"k": 64}, "softmax"),
    "sparsemax": ("all", {}, "sparsemax"),
    "entmax-1.5": ("all", {}, "entmax15"),
    "entmax-alpha": ("all", {}, "entmax_alpha"),
}


@dataclass(frozen=True)
class Case:
    """implementation: engine | definition | anew (nothing cached). A sentence has S words.

    what: step | attention | predict | sentence | product.
    """

    what: str
    name: str
    S: int
    implementation: str = "engine"


def attention(sizes: Sizes, case: Case, device: torch.device, engine: Engine | None = None) -> Callable[[], None]:
    """One layer's heads over a block, S keys a query, forward and backward, projections left out."""
    selection, settings, normaliser = ATTENTION[case.name]
    shape, W, d = Shape(sizes.d_model, sizes.heads), case.S, sizes.d_model // sizes.heads
    choices = CHOICES["selection"][selection](shape, **settings), CHOICES["normaliser"][normaliser](shape)
    choices = [choice.to(device) for choice in choices]
    group = HeadGroup(sizes.heads, W, Fixed(shape, limit=W), *choices, attends_self=False)
    torch.manual_seed(0)
    q = (torch.randn(sizes.batch, sizes.heads, sizes.block, d, device=device) / d**0.5).requires_grad_()
    rows = (W + sizes.block, sizes.batch, sizes.heads, d)
    k, v = (torch.randn(rows, device=device).requires_grad_() for _ in range(2))
    position_keys = torch.randn(d, W, device=device).requires_grad_()
    parameters, dy = [parameter for choice in choices for parameter in choice.parameters()], torch.randn_like(q)
    backend = (engine or Engine()).backend
    name = backend.choose(group, q, v, position_keys)

    def step() -> None:
        y = backend.attend(name, group, q, q, k, v, position_keys, None, parameters)
        torch.autograd.grad(y, (q, k, v, position_keys, *parameters), dy)

    return step


def sentence(sizes: Sizes, case: Case, device: torch.device, engine: Engine | None = None) -> Callable[[], None]:
    """A layer of an encoder reads sentences of S words in both directions, forward and backward."""
    attention = {"span": PARSER[case.name], "selection": {"name": "all"}, "normaliser": {"name": "softmax"}}
    attention |= {"position": {"name": "none"}}
    torch.manual_seed(0)
    (layer,) = build_layers(1, Shape(64, 8), attention, SequenceAttention, reads_itself=True)
    layer.implementation = engine or Engine()
    block, shape = EncoderBlock(layer, 128, 0.0).to(device), (max(1, WORDS // case.S), case.S)
    x = torch.randn(*shape, 64, device=device, requires_grad=True)
    visible, dy = torch.ones(shape, dtype=torch.bool, device=device), torch.randn_like(x)

    def step() -> None:
        block(x, visible).backward(dy)
        block.zero_grad(set_to_none=True)

    return step


def product(sizes: Sizes, case: Case, device: torch.device, engine: Engine | None = None) -> Callable[[], None]:
    """The feed-forward layer's product, the largest of a step: the unit in which the floor is measured."""
    a = torch.randn(sizes.batch * sizes.block, sizes.d_model, device=device)
    b = torch.randn(sizes.d_model, sizes.d_ff, device=device)
    out = torch.empty(len(a), sizes.d_ff, device=device)
    once = partial(multiply, Product(a, b, out)) if case.name == "compiled" else partial(torch.mm, a, b, out=out)

    def run() -> None:
        for _ in range(PRODUCTS):
            once()

    return run


def product_macs(sizes: Sizes) -> int:
    return PRODUCTS * sizes.batch * sizes.block * sizes.d_model * sizes.d_ff
