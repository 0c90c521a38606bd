"""What the engine is measured on: whole training steps, attention alone, one character more; engine and definition.

Nets are those of the scale's `measure.engine`; adaptive spans are those of the paper's Figure 4, scaled to S. Costs do
not depend on what a text says, so tokens and caches are random.
"""

import csv
from collections.abc import Callable
from pathlib import Path

import torch
from torch.nn.functional import cross_entropy

from models.attention import CHOICES
from models.attention.engine.engine import Engine
from models.attention.engine.groups import head_groups
from models.attention.formula import Definition
from models.kernels.compiled import build as compiled
from models.nets.build import build
from workflow.costs.engine_parts import ATTENTION, PARSER, PRODUCTS_BY, SENTENCES, Case, attention, product, sentence
from workflow.plan.scales import Engine as Sizes

FIGURE4 = Path(__file__).parents[2] / "config" / "published" / "as_fig4_digitised.csv"
PAPER_S, RAMP, SYMBOLS, K = 8192, 32, 200, 8  # K: the paper's k


def cases(sizes: Sizes) -> list[Case]:
    """All that take turns."""
    steps = [(name, implementation) for name in ("fixed", "adaptive") for implementation in ("engine", "definition")]
    by = PRODUCTS_BY if compiled.obstacle() is None else PRODUCTS_BY[:1]
    in_turn = [Case("product", name, 0) for name in by]
    for S in sizes.lengths:
        in_turn += [Case("step", name, S, implementation) for name, implementation in steps]
        in_turn += [Case("step", "top-k", S)]
        in_turn += [Case("attention", name, S) for name in ATTENTION]
    in_turn += [Case("sentence", name, N) for N in SENTENCES for name in PARSER]
    in_turn += [Case("predict", "fixed", sizes.lengths[0]), Case("predict", "adaptive", sizes.far)]
    return [*in_turn, Case("predict", "adaptive", sizes.far, "anew")]


def spans(layers: int, heads: int, S: int) -> list[list[float]]:
    """z by layer and head: as many of the figure's 96 spans as there are heads, evenly from the first, in order."""
    with open(FIGURE4, newline="") as file:
        published = [float(row["span"]) for row in csv.DictReader(file)]
    count = layers * heads
    picked = [published[index * len(published) // count] for index in range(count)]
    z = [max(0.0, span - RAMP) / PAPER_S * S for span in picked]
    return [z[layer * heads : (layer + 1) * heads] for layer in range(layers)]


def net_of(sizes: Sizes, name: str, S: int, implementation: Engine | Definition, device: torch.device):
    """A character model: adaptive, or on a fixed span softmax, top-k or another normaliser by its name."""
    span = {"name": "adaptive", "limit": S, "ramp": min(RAMP, S)}
    span = span if name == "adaptive" else {"name": "fixed", "limit": S}
    selection = {"name": "top_k", "k": K} if name == "top-k" else {"name": "all"}
    normaliser = {"name": name if name in CHOICES["normaliser"] else "softmax"}
    attention = {"span": span, "selection": selection, "normaliser": normaliser}
    attention["position"] = {"name": "relative", "limit": S}
    net = {key: getattr(sizes, key) for key in ("layers", "d_model", "heads", "d_ff")}
    net |= {"name": "char_lm", "dropout": 0.0, "attention_dropout": 0.0}
    torch.manual_seed(0)
    model = build(net, attention, SYMBOLS).to(device)
    for layer, z in zip(model.attentions, spans(sizes.layers, sizes.heads, S), strict=True):
        layer.implementation = implementation
        if name == "adaptive":
            layer.span.fraction.data.copy_(torch.tensor(z).view(-1, 1, 1) / S)
    return model


def full_caches(net, streams: int) -> list:
    """Random caches as long as each layer keeps them."""
    caches = []
    for layer, parts in zip(net.attentions, net.start(streams), strict=True):
        extent = layer.span.extent(None)
        if isinstance(layer.implementation, Definition):
            lengths = [layer.span.cache_length(layer.span.limit)]
        elif layer.training:
            lengths = [layer.span.cache_length(max(layer.span.reach(extent).tolist()))]
        else:
            lengths = [reach for _, reach in head_groups(layer, extent) for _ in range(2)]
        pairs = zip(parts, lengths, strict=True)
        caches.append(tuple(torch.randn(length, *part.shape[1:], device=part.device) for part, length in pairs))
    return caches


def training_step(sizes: Sizes, case: Case, device: torch.device, engine: Engine | None = None) -> Callable[[], None]:
    """Forward and backward, all gradients dropped again. engine: which computes it, unless the definition does."""
    implementation = Definition() if case.implementation == "definition" else engine or Engine()
    net = net_of(sizes, case.name, case.S, implementation, device).train()
    tokens, past = _tokens(sizes.batch, sizes.block + 1, device), full_caches(net, sizes.batch)

    def step() -> None:
        nonlocal past
        logits, past = net(tokens[:, :-1], past)
        (cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten()) + net.penalty()).backward()
        net.zero_grad(set_to_none=True)

    return step


def prediction(sizes: Sizes, case: Case, device: torch.device, engine: Engine | None = None) -> Callable[[], None]:
    """One character more of one stream; anew: from the S characters before it, nothing cached."""
    net = net_of(sizes, case.name, case.S, engine or Engine(), device).eval()
    anew = case.implementation == "anew"
    tokens = _tokens(1, case.S if anew else 1, device)
    past = net.start(1) if anew else full_caches(net, 1)

    @torch.no_grad()
    def step() -> None:
        nonlocal past
        _, after = net(tokens, past)
        past = past if anew else after

    return step


def work_of(sizes: str, case: Case, device: str, engine: Engine) -> Callable[[], None]:
    """The function that does a case's work once. sizes: as JSON. engine: counts what computed attention."""
    parsed, on = Sizes.model_validate_json(sizes), torch.device(device)
    return KINDS[case.what](parsed, case, on, engine)


def _tokens(batch: int, length: int, device: torch.device) -> torch.Tensor:
    return torch.randint(SYMBOLS, (batch, length), generator=torch.Generator().manual_seed(0)).to(device)


KINDS = {
    "step": training_step,
    "predict": prediction,
    "attention": attention,
    "sentence": sentence,
    "product": product,
}
