"""Small nets for tests: every combination of choices, at sizes worked out by hand."""

from itertools import combinations as combinations_of
from itertools import product

import torch

from models.attention.formula import Definition
from models.attention.layers import CHOICES, StreamAttention, public_class

NET = {
    "name": "char_lm",
    "layers": 2,
    "d_model": 12,
    "heads": 3,
    "d_ff": 16,
    "dropout": 0.0,
    "attention_dropout": 0.0,
}
SOFTMAX = {"name": "softmax"}
LONGEST = 24  # tokens of a sentence
SEQ2SEQ = {
    **NET,
    "name": "seq2seq",
    "d_k": None,
    "d_v": None,
    "norm": "post",
    "positional_encoding": "sinusoid",
}
SEQ2SEQ |= {"max_length": LONGEST, "tie_embeddings": True}


def example(axis: str, name: str) -> dict:
    """Return the choice with the settings that its own file gives as an example."""
    return {"name": name, **CHOICES[axis][name].example}


NAMED = [dict(zip(CHOICES, names, strict=True)) for names in product(*CHOICES.values())]
COMBINATIONS = [{axis: example(axis, name) for axis, name in names.items()} for names in NAMED]


def covering(combinations: list[dict]) -> list[dict]:
    """Pick combinations among which any two choices of two axes meet."""
    pairs_of = [
        set(combinations_of(sorted((axis, each["name"]) for axis, each in c.items()), 2))
        for c in combinations
    ]
    missing, picked = set().union(*pairs_of), []
    while missing:
        best = max(range(len(combinations)), key=lambda index: len(pairs_of[index] & missing))
        missing -= pairs_of[best]
        picked.append(combinations[best])
    return picked


PAIRS = covering(COMBINATIONS)


def label(attention: dict) -> str:
    return "-".join(choice["name"] for choice in attention.values())


def build(net: dict, attention: dict, symbols: int):
    """Build a net by its name; net, attention: as in job.json."""
    return public_class(f"models.nets.{net['name']}")(symbols, attention, net)


def make(attention: dict, net: str = "char_lm", symbols: int = 11, seed: int = 0, **sizes):
    """Make a net in 64 bits whose learned spans have moved away from where they start."""
    torch.manual_seed(seed)
    return _moved(build({**NET, "name": net, **sizes}, attention, symbols).double())


def translator(
    attention: dict,
    apply_to=("encoder", "decoder", "cross"),
    symbols: int = 11,
    seed: int = 0,
    **sizes,
):
    """Make an encoder-decoder net in the same way; full spans cache a whole sentence."""
    torch.manual_seed(seed)
    span = attention["span"]
    span = {**span, "cache": LONGEST} if span["name"] == "full" else span
    attention = {**attention, "span": span, "apply_to": apply_to}
    return _moved(build({**SEQ2SEQ, **sizes}, attention, symbols).double())


def _moved(net):
    for name, parameter in net.named_parameters():
        if name.endswith("span.fraction"):
            parameter.data.uniform_(0, 0.6)
        elif name.endswith("span.bias"):
            parameter.data.fill_(-1.0)
        elif name.endswith(("span.weight", "normaliser.a")):
            parameter.data.normal_(0, 0.5 if name.endswith("weight") else 1.0)
    return net


def by_definition(net):
    """Let a net compute the dense definition, nothing trimmed; return it."""
    for layer in net.attentions:
        if isinstance(layer, StreamAttention):
            layer.implementation = Definition()
    return net


def with_gradients(net, logits) -> dict[str, torch.Tensor]:
    """Return the logits and, by name, the gradient of every parameter of a sum that weighs each
    logit differently.
    """
    net.zero_grad()
    direction = torch.linspace(-1, 1, logits.numel()).view_as(logits).to(logits)
    ((logits * direction).sum() + net.penalty()).backward()
    return {
        "the output": logits.detach(),
        **{name: parameter.grad for name, parameter in net.named_parameters()},
    }


def assert_same(ours: dict, oracle: dict, atol: float = 1e-9) -> None:
    """Compare tensors by name; the message names the first that differs."""
    assert set(ours) == set(oracle)
    for name, expected in oracle.items():
        torch.testing.assert_close(
            ours[name], expected, rtol=1e-9, atol=atol, msg=lambda m, n=name: f"{n}: {m}"
        )


def read(net, tokens, block: int):
    """Read a stream block by block; return its logits: B N V."""
    past, parts = net.start(tokens.size(0)), []
    with torch.set_grad_enabled(net.training):
        for tokens_of_block in tokens.split(block, 1):
            logits, past = net(tokens_of_block, past)
            parts.append(logits)
    return torch.cat(parts, 1)
