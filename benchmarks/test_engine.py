"""Time every backend against the definition: a forward pass and a training step of a character
model, by span limit S.

    python -m pytest benchmarks/test_engine.py
    --benchmark-group-by=param:bits,param:S,param:span,param:work

On a GPU in 32 bits and in 16. The cases take turns, so that a machine that slows down slows all of
them. A backend is timed only if it gives the definition's numbers.
"""

from functools import cache, partial
from itertools import product

import pytest
import torch
from torch.nn.functional import cross_entropy

from models.attention.engine.backend import BACKENDS
from models.nets.char_lm import CharLM
from workflow.costs.streams import fill_caches
from workflow.training.backends import prepare
from workflow.training.hardware import pick_device, synchronise

LENGTHS = (256, 1024, 4096)
TURNS = 3
ROUNDS = 3
# Of the largest number of a tensor, in 64 bits: in 32 a unit of a relu may flip.
BOUND = 1e-9
CHECKED = 2  # streams that are compared
NET = {
    "name": "char_lm",
    "layers": 2,
    "d_model": 256,
    "heads": 4,
    "d_ff": 1024,
    "dropout": 0.0,
    "attention_dropout": 0.0,
}
BLOCK = 256
STREAMS = 8
SYMBOLS = 200
RAMP = 32
# z / S by layer and head: most short, one long, as learned
REACHED = ((0, 0.001, 0.01, 0.02), (0, 0.001, 0.01, 0.5))
BITS = (32, 16) if torch.cuda.is_available() else (32,)
FORCED = [name for name in reversed(BACKENDS) if name != "auto"]
CASES = list(
    product(range(TURNS), BITS, LENGTHS, ("fixed", "adaptive"), ("forward", "train"), FORCED)
)


def build_net(
    span: str, S: int, backend: str, device: torch.device, dtype: torch.dtype = torch.float32
):
    """Build a model with the same weights whatever computes it; adaptive spans as if learned."""
    torch.manual_seed(0)
    spans = {
        "fixed": {"name": "fixed", "limit": S},
        "adaptive": {"name": "adaptive", "limit": S, "ramp": min(RAMP, S)},
    }
    attention = {
        "span": spans[span],
        "selection": {"name": "all"},
        "normaliser": {"name": "softmax"},
        "position": {"name": "relative", "limit": S},
    }
    net = CharLM(SYMBOLS, attention, NET)
    net = net.to(device, dtype)
    for layer, shares in zip(net.attentions, REACHED, strict=True):
        if span == "adaptive":
            learned = torch.tensor(shares).view(-1, 1, 1)
            layer.span.fraction.data.copy_(learned)
    prepare(net, backend, device, dtype)
    return net


def draw_tokens(device: torch.device) -> torch.Tensor:
    """Draw inputs and targets of a block of every stream."""
    generator = torch.Generator().manual_seed(0)
    tokens = torch.randint(SYMBOLS, (STREAMS, BLOCK + 1), generator=generator)
    return tokens.to(device)


@cache
def find_numbers(span: str, S: int, backend: str, device: torch.device) -> list[torch.Tensor]:
    """Compute the outputs of two blocks and the gradients of all parameters, in 64 bits."""
    net = build_net(span, S, backend, device, torch.float64)
    tokens = draw_tokens(device)[:CHECKED]
    past = net.start(len(tokens))
    first, past = net(tokens[:, :-1], past)
    second, _ = net(tokens[:, 1:], past)
    loss = first.square().mean() + second.square().mean()
    loss.backward()
    gradients = [parameter.grad for parameter in net.parameters()]
    return [first.detach(), second.detach(), *gradients]


def make_step(net, work: str, tokens: torch.Tensor, bits: int):
    """Make a function that does the work once, with caches that are full."""
    trains = work == "train"
    net.train(trains)
    half = partial(torch.autocast, tokens.device.type, torch.bfloat16, enabled=bits == 16)
    with half():
        past = fill_caches(net, tokens[:, :-1])

    def step() -> None:
        nonlocal past
        with torch.set_grad_enabled(trains), half():
            logits, past = net(tokens[:, :-1], past)
        if trains:
            by_token = logits.float().flatten(0, 1)
            loss = cross_entropy(by_token, tokens[:, 1:].flatten())
            total = loss + net.penalty()
            total.backward()
            net.zero_grad(set_to_none=True)
        synchronise(tokens.device)

    return step


@pytest.mark.parametrize("turn, bits, S, span, work, backend", CASES)
def test_engine(benchmark, turn, bits, S, span, work, backend):
    device = pick_device("auto")
    try:
        ours = find_numbers(span, S, backend, device)
    # A backend that this device, or this machine without a compiler, does not have.
    except ValueError as error:
        pytest.skip(str(error))
    theirs = find_numbers(span, S, "definition", device)
    for one, other in zip(ours, theirs, strict=True):
        difference = (one - other).abs().max()
        share = difference / other.abs().max()
        assert share <= BOUND
    benchmark.extra_info.update(turn=turn, bits=bits, S=S, span=span, work=work, backend=backend)
    net = build_net(span, S, backend, device)
    step = make_step(net, work, draw_tokens(device), bits)
    benchmark.pedantic(step, rounds=ROUNDS, warmup_rounds=1)
