"""Weights of a trained net in one file, and from it the net: safetensors, with what builds the net
in its metadata.

The format holds numbers and text alone: reading it runs no code of a file.
"""

import json
from pathlib import Path

from safetensors import safe_open
from safetensors.torch import save
from torch import Tensor, nn

from .attention.layers import public_class


def pack(state: dict[str, Tensor], symbols: list[str], attention: dict, net: dict) -> bytes:
    """Return the content of a file with the weights of a net.

    symbols: what its V tokens stand for. attention, net: the settings that build it.
    """
    told = {"symbols": symbols, "attention": attention, "net": net}
    whole = {name: tensor.detach().cpu().clone() for name, tensor in state.items()}
    return save(whole, {name: json.dumps(settings) for name, settings in told.items()})


def read(path: Path) -> tuple[nn.Module, list[str]]:
    """Build the net of a file with what `pack` returned -> the net, in evaluation, and its V
    symbols.

    ValueError for a file of something else.
    """
    with safe_open(path, "pt") as file:
        told = {name: json.loads(text) for name, text in (file.metadata() or {}).items()}
        state = {name: file.get_tensor(name) for name in [*file.keys()]}
    if missing := {"symbols", "attention", "net"} - told.keys():
        raise ValueError(
            f"{path}: not a model of this package: its metadata lacks {', '.join(sorted(missing))}"
        )
    kind = public_class(f"{__package__}.nets.{told['net']['name']}")
    net = kind(len(told["symbols"]), told["attention"], told["net"])
    net.load_state_dict(state)
    return net.eval(), told["symbols"]
