"""The net that a job asks for."""

from torch import nn

from models.nets import NETS


def build(net: dict, attention: dict, symbols: int) -> nn.Module:
    """Build a net by its name. net, attention: as in job.json; symbols: the size V of the vocabulary."""
    return NETS[net["name"]](symbols, attention, net)
