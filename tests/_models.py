"""Small models for tests: every combination of choices, at sizes worked out by hand."""

from itertools import combinations as combinations_of
from itertools import cycle, product

import torch

from models.attention import layers
from models.attention.choice import Shape
from models.attention.formula import Definition
from models.attention.layers import CHOICES, StreamAttention, public_class

LONGEST = 24  # tokens of a sentence
PLAIN = {
    "span": {"name": "full", "cache": LONGEST},
    "selection": {"name": "all"},
    "normaliser": {"name": "softmax"},
    "position": {"name": "none"},
}
FIXED = PLAIN | {
    "span": {"name": "fixed", "limit": 8},
    "position": {"name": "relative", "limit": 8},
}
SIZES = {
    "name": "char_lm",
    "layers": 2,
    "d_model": 12,
    "heads": 3,
    "d_ff": 16,
    "dropout": 0.0,
    "attention_dropout": 0.0,
}
SEQ2SEQ = SIZES | {
    "name": "seq2seq",
    "d_k": None,
    "d_v": None,
    "norm": "post",
    "positional_encoding": "sinusoid",
    "max_length": LONGEST,
    "tie_embeddings": True,
}


def example(axis: str, name: str) -> dict:
    """Return the choice with the settings that its own file gives as an example."""
    return {"name": name, **CHOICES[axis][name].example}


def _combine() -> list[dict]:
    """Combine all choices of the other axes, with one score scale after the other."""
    *others, scales = CHOICES.values()
    combinations = []
    for names, scale in zip(product(*others), cycle(scales), strict=False):
        by_axis = zip(CHOICES, (*names, scale), strict=True)
        combinations.append({axis: example(axis, name) for axis, name in by_axis})
    return combinations


def _pairs_of(attention: dict) -> set:
    names = [(axis, choice["name"]) for axis, choice in attention.items()]
    return set(combinations_of(sorted(names), 2))


def _covering(combinations: list[dict]) -> list[dict]:
    """Pick combinations among which any two choices of two axes meet."""
    pairs = [_pairs_of(each) for each in combinations]
    missing = set().union(*pairs)
    picked = []
    while missing:
        new = [len(each & missing) for each in pairs]
        best = new.index(max(new))
        missing -= pairs[best]
        picked.append(combinations[best])
    return picked


COMBINATIONS = _combine()
PAIRS = _covering(COMBINATIONS)


def label(attention: dict) -> str:
    return "-".join(choice["name"] for choice in attention.values())


def draw(*shape: int, seed: int | None = None) -> torch.Tensor:
    """Draw numbers in 64 bits, the same for the same shape."""
    generator = torch.Generator().manual_seed(sum(shape) if seed is None else seed)
    return torch.randn(shape, dtype=torch.float64, generator=generator)


def build_choices(attention: dict, shape: Shape) -> list:
    """Build the choices of a layer, the same for the same attention."""
    torch.manual_seed(0)
    choices = layers.build_choices(attention, shape)
    return [choices[axis] for axis in CHOICES]


def build(net: dict, attention: dict, symbols: int):
    """Build a model by its name; net, attention: as in job.json."""
    return public_class(f"models.nets.{net['name']}")(symbols, attention, net)


def make(attention: dict, net: str = "char_lm", symbols: int = 11, **sizes):
    """Make a model in 64 bits whose learned spans have moved away from where they start."""
    torch.manual_seed(0)
    return _moved(build({**SIZES, "name": net, **sizes}, attention, symbols).double())


def translator(attention: dict, seed: int = 0, **sizes):
    """Make an encoder-decoder in the same way; full spans cache a whole sentence."""
    torch.manual_seed(seed)
    attention = {"apply_to": ("encoder", "decoder", "cross"), **attention}
    if attention["span"]["name"] == "full":
        attention["span"] = PLAIN["span"]
    return _moved(build({**SEQ2SEQ, **sizes}, attention, 11).double())


def _moved(model):
    for name, parameter in model.named_parameters():
        if name.endswith("span.fraction"):
            parameter.data.uniform_(0, 0.6)
        elif name.endswith("span.bias"):
            parameter.data.fill_(-1.0)
        elif name.endswith("span.weight"):
            parameter.data.normal_(0, 0.5)
        elif name.endswith("normaliser.a"):
            parameter.data.normal_()
    return model


def by_definition(model):
    """Let a model compute the dense definition, nothing trimmed; return it."""
    for layer in model.attentions:
        if isinstance(layer, StreamAttention):
            layer.implementation = Definition()
    return model


def read(model, tokens, block: int):
    """Read a stream block by block; return its logits: B N V."""
    past = model.start(tokens.size(0))
    parts = []
    with torch.set_grad_enabled(model.training):
        for tokens_of_block in tokens.split(block, 1):
            logits, past = model(tokens_of_block, past)
            parts.append(logits)
    return torch.cat(parts, 1)


def with_gradients(model, logits) -> dict[str, torch.Tensor]:
    """Return the logits, and every parameter's gradient of a sum that weighs them differently."""
    model.zero_grad()
    direction = torch.linspace(-1, 1, logits.numel()).view_as(logits)
    loss = (logits * direction.to(logits)).sum() + model.penalty()
    loss.backward()
    found = {"the output": logits.detach()}
    for name, parameter in model.named_parameters():
        found[name] = parameter.grad
    return found
