"""Weights of a trained model in one file, and from it the model: safetensors, with what builds the
model in its metadata.

The format holds numbers and text alone: reading it runs no code of a file.
"""

import json
from pathlib import Path

from safetensors import safe_open
from safetensors.torch import save
from torch import Tensor, nn

from .attention.layers import public_class


def pack(state: dict[str, Tensor], symbols: list[str], attention: dict, net: dict) -> bytes:
    """Return the content of a file with the weights of a model.

    symbols: what its V tokens stand for. attention, net: the settings that build it.
    """
    metadata = {
        "symbols": json.dumps(symbols),
        "attention": json.dumps(attention),
        "net": json.dumps(net),
    }
    # Cloned, because the format refuses one matrix under two names, as tied embeddings are.
    copies = {}
    for name, tensor in state.items():
        copies[name] = tensor.detach().cpu().clone()
    return save(copies, metadata)


def read(path: Path) -> tuple[nn.Module, list[str]]:
    """Build the model of a file with what `pack` returned -> the model, in evaluation, and its V
    symbols.

    ValueError for a file of something else.
    """
    with safe_open(path, "pt") as file:
        metadata = file.metadata() or {}
        names = list(file.keys())
        state = {name: file.get_tensor(name) for name in names}
    missing = {"symbols", "attention", "net"} - metadata.keys()
    if missing:
        names = ", ".join(sorted(missing))
        raise ValueError(f"{path}: not a model of this package: its metadata lacks {names}")
    symbols = json.loads(metadata["symbols"])
    attention = json.loads(metadata["attention"])
    settings = json.loads(metadata["net"])
    kind = public_class(f"{__package__}.nets.{settings['name']}")
    model = kind(len(symbols), attention, settings)
    model.load_state_dict(state)
    return model.eval(), symbols
