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
TURNS, ROUNDS = 3, 3
# of the largest number of a tensor, in 64 bits: in 32 a unit of a relu may flip; streams
BOUND, CHECKED = 1e-9, 2
NET = {
    "name": "char_lm",
    "layers": 2,
    "d_model": 256,
    "heads": 4,
    "d_ff": 1024,
    "dropout": 0.0,
    "attention_dropout": 0.0,
}
BLOCK, STREAMS, SYMBOLS, RAMP = 256, 8, 200, 32
# z / S by layer and head: most short, one long, as learned
REACHED = ((0, 0.001, 0.01, 0.02), (0, 0.001, 0.01, 0.5))
BITS = (32, 16) if torch.cuda.is_available() else (32,)
CASES = [
    *product(
        range(TURNS),
        BITS,
        LENGTHS,
        ("fixed", "adaptive"),
        ("forward", "train"),
        BACKENDS[::-1][:-1],
    )
]


def build_net(
    span: str, S: int, backend: str, device: torch.device, dtype: torch.dtype = torch.float32
):
    """Build a net with the same weights whatever computes it, and its learned spans where it has
    them.
    """
    torch.manual_seed(0)
    spans = {
        "fixed": {"name": "fixed", "limit": S},
        "adaptive": {"name": "adaptive", "limit": S, "ramp": min(RAMP, S)},
    }
    attention = {
        "span": spans[span],
        "selection": {"name": "all"},
        "normaliser": {"name": "softmax"},
    }
    net = CharLM(SYMBOLS, attention | {"position": {"name": "relative", "limit": S}}, NET).to(
        device, dtype
    )
    for layer, shares in zip(net.attentions, REACHED, strict=True):
        if span == "adaptive":
            layer.span.fraction.data.copy_(torch.tensor(shares).view(-1, 1, 1))
    prepare(net, backend, device, dtype)
    return net


def draw_tokens(device: torch.device) -> torch.Tensor:
    """Draw inputs and targets of a block of every stream."""
    return torch.randint(
        SYMBOLS, (STREAMS, BLOCK + 1), generator=torch.Generator().manual_seed(0)
    ).to(device)


@cache
def find_numbers(span: str, S: int, backend: str, device: torch.device) -> list[torch.Tensor]:
    """Compute the outputs of two blocks and the gradients of all parameters, in 64 bits."""
    net, tokens = build_net(span, S, backend, device, torch.float64), draw_tokens(device)[:CHECKED]
    first, past = net(tokens[:, :-1], net.start(len(tokens)))
    second, _ = net(tokens[:, 1:], past)
    (first.square().mean() + second.square().mean()).backward()
    return [
        each.detach()
        for each in (first, second, *(parameter.grad for parameter in net.parameters()))
    ]


def make_step(net, work: str, tokens: torch.Tensor, bits: int):
    """Make a function that does the work once, with caches that are full."""
    net.train(work == "train")
    half = partial(torch.autocast, tokens.device.type, torch.bfloat16, enabled=bits == 16)
    with half():
        past = fill_caches(net, tokens[:, :-1])

    def step() -> None:
        nonlocal past
        with torch.set_grad_enabled(work == "train"), half():
            logits, past = net(tokens[:, :-1], past)
        if work == "train":
            (
                cross_entropy(logits.float().flatten(0, 1), tokens[:, 1:].flatten()) + net.penalty()
            ).backward()
            net.zero_grad(set_to_none=True)
        synchronise(tokens.device)

    return step


@pytest.mark.parametrize("turn, bits, S, span, work, backend", CASES)
def test_engine(benchmark, turn, bits, S, span, work, backend):
    device = pick_device("auto")
    try:
        ours, theirs = (find_numbers(span, S, name, device) for name in (backend, "definition"))
    except (
        ValueError
    ) as error:  # a backend that this device, or this machine without a compiler, has not
        pytest.skip(str(error))
    apart = [
        ((one - other).abs().max() / other.abs().max()).item()
        for one, other in zip(ours, theirs, strict=True)
    ]
    assert not [each for each in apart if not each <= BOUND]
    benchmark.extra_info.update(turn=turn, bits=bits, S=S, span=span, work=work, backend=backend)
    step = make_step(build_net(span, S, backend, device), work, draw_tokens(device), bits)
    benchmark.pedantic(step, rounds=ROUNDS, warmup_rounds=1)
