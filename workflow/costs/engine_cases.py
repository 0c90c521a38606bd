"""What the engine is measured on: whole training steps, attention alone, one character more; engine and definition.

Nets are those of `Engine` in the scale; adaptive spans stand where the paper's Figure 4 has them, scaled to S. Costs do
not depend on what a text says, so tokens and memories are random.
"""

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.nn.functional import cross_entropy

from models.attention import NORMALISERS, SELECTIONS, definition
from models.attention.choice import Shape
from models.attention.engine import backend as dispatch
from models.attention.engine import engine
from models.attention.engine.head_groups import HeadGroup
from models.attention.spans.fixed import Fixed
from models.nets import build
from workflow.plan.scales import Engine

FIGURE4 = Path(__file__).parents[2] / "config" / "published" / "as_fig4_digitised.csv"
PAPER_S, RAMP, SYMBOLS, K = 8192, 32, 200, 8  # K: the paper's k
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
    """what: step | attention | predict | product. way: engine | definition | anew."""

    what: str
    name: str
    S: int
    way: str = "engine"


def cases(how: Engine) -> list[Case]:
    """All that takes turns."""
    found = [Case("product", "feed-forward", 0)]
    for S in how.lengths:
        found += [Case("step", name, S, way) for name in ("fixed", "adaptive") for way in ("engine", "definition")]
        found += [Case("step", "top-k", S)]
        found += [Case("attention", name, S) for name in ATTENTION]
    found += [Case("predict", "fixed", how.lengths[0]), Case("predict", "adaptive", how.far)]
    return [*found, Case("predict", "adaptive", how.far, "anew")]


def spans(how: Engine, S: int) -> list[list[float]]:
    """z by layer and head: as many of the figure's 96 spans as there are heads, evenly from the first, in order."""
    with open(FIGURE4, newline="") as file:
        read = [float(row["span"]) for row in csv.DictReader(file)]
    count = how.layers * how.heads
    picked = [read[index * len(read) // count] for index in range(count)]
    z = [max(0.0, span - RAMP) / PAPER_S * S for span in picked]
    return [z[layer * how.heads : (layer + 1) * how.heads] for layer in range(how.layers)]


def net_of(how: Engine, name: str, S: int, way: str, device: torch.device):
    """A character model: adaptive, or on a fixed span softmax, top-k or another normaliser by its name."""
    span = (
        {"name": "adaptive", "limit": S, "ramp": min(RAMP, S)} if name == "adaptive" else {"name": "fixed", "limit": S}
    )
    selection = {"name": "top_k", "k": K} if name == "top-k" else {"name": "all"}
    normaliser = {"name": name if name in NORMALISERS else "softmax"}
    attention = {"span": span, "selection": selection, "normaliser": normaliser}
    attention["position"] = {"name": "relative", "limit": S}
    sizes = {key: getattr(how, key) for key in ("layers", "d_model", "heads", "d_ff")}
    torch.manual_seed(0)
    net = build({"name": "char_lm", "dropout": 0.0, "attention_dropout": 0.0, **sizes}, attention, SYMBOLS).to(device)
    for layer, z in zip(net.attentions, spans(how, S), strict=True):
        if name == "adaptive":
            layer.span.fraction.data.copy_(torch.tensor(z).view(-1, 1, 1) / S)
        if way == "definition":
            layer.way = definition
    return net


def memories(net, streams: int) -> list:
    """As long as each layer keeps them."""
    found = []
    for layer, parts in zip(net.attentions, net.start(streams), strict=True):
        reaches = layer.span.reach(layer.span.extent(None)).tolist()
        if layer.way is definition:
            lengths = [layer.span.cache_length(layer.span.limit)]
        elif layer.training:
            lengths = [layer.span.cache_length(max(reaches))]
        else:
            lengths = [reach for _, reach in engine.buckets(layer, layer.span.extent(None)) for _ in range(2)]
        pairs = zip(parts, lengths, strict=True)
        found.append(tuple(torch.randn(length, *part.shape[1:], device=part.device) for part, length in pairs))
    return found


def training_step(how: Engine, case: Case, device: torch.device) -> Callable[[], None]:
    """Forward and back, all gradients dropped again."""
    net = net_of(how, case.name, case.S, case.way, device).train()
    tokens, past = _tokens(how.batch, how.block + 1, device), memories(net, how.batch)

    def step() -> None:
        nonlocal past
        logits, past = net(tokens[:, :-1], past)
        (cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten()) + net.penalty()).backward()
        net.zero_grad(set_to_none=True)

    return step


def prediction(how: Engine, case: Case, device: torch.device) -> Callable[[], None]:
    """One character more of one stream; anew: from the S characters before it, nothing remembered."""
    net = net_of(how, case.name, case.S, "engine", device).eval()
    anew = case.way == "anew"
    tokens = _tokens(1, case.S if anew else 1, device)
    past = net.start(1) if anew else memories(net, 1)

    @torch.no_grad()
    def step() -> None:
        nonlocal past
        _, after = net(tokens, past)
        past = past if anew else after

    return step


def attention(how: Engine, case: Case, device: torch.device) -> Callable[[], None]:
    """One layer's heads over a block, S keys a query, forward and back, projections left out."""
    selection, settings, normaliser = ATTENTION[case.name]
    shape, W, d = Shape(how.d_model, how.heads), case.S, how.d_model // how.heads
    choices = SELECTIONS[selection](shape, **settings), NORMALISERS[normaliser](shape)
    choices = [choice.to(device) for choice in choices]
    bucket = HeadGroup(how.heads, W, Fixed(shape, limit=W), *choices, W, attends_self=False)
    torch.manual_seed(0)
    q = (torch.randn(how.batch, how.heads, how.block, d, device=device) / d**0.5).requires_grad_()
    k, v = (torch.randn(W + how.block, how.batch, how.heads, d, device=device).requires_grad_() for _ in range(2))
    position_keys = torch.randn(d, W, device=device).requires_grad_()
    parameters, dy = [one for choice in choices for one in choice.parameters()], torch.randn_like(q)
    name = dispatch.choose(bucket, q, v, position_keys, None)

    def step() -> None:
        y = dispatch.attend_bucket(name, bucket, q, q, k, v, position_keys, None, parameters)
        torch.autograd.grad(y, (q, k, v, position_keys, *parameters), dy)

    return step


def product(how: Engine, device: torch.device) -> Callable[[], None]:
    """The feed-forward layer's product, the largest of a step: what the floor is measured in."""
    a, b = (
        torch.randn(how.batch * how.block, how.d_model, device=device),
        torch.randn(how.d_model, how.d_ff, device=device),
    )
    out = torch.empty(len(a), how.d_ff, device=device)

    def run() -> None:
        for _ in range(PRODUCTS):
            torch.mm(a, b, out=out)

    return run


PRODUCTS = 10  # in one round: a single one is too short to time


def product_macs(how: Engine) -> int:
    return PRODUCTS * how.batch * how.block * how.d_model * how.d_ff


def made(how: str, case: Case, device: str) -> Callable[[], None]:
    """The function that does a cell's work once. how: `Engine` as JSON."""
    read, on = Engine.model_validate_json(how), torch.device(device)
    if case.what == "product":
        return product(read, on)
    return {"step": training_step, "predict": prediction, "attention": attention}[case.what](read, case, on)


def _tokens(batch: int, length: int, device: torch.device) -> torch.Tensor:
    return torch.randint(SYMBOLS, (batch, length), generator=torch.Generator().manual_seed(0)).to(device)
