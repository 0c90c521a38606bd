"""Which code computes a net's attention, held to the definition before a run where it is a kernel of its own."""

from collections.abc import Iterable
from contextlib import contextmanager

import torch

from models.attention import definition
from models.attention.engine import backend as dispatch
from models.attention.engine import engine
from models.attention.stream_attention import StreamAttention


def prepare(net, asked: str, device: torch.device, dtype: torch.dtype) -> None:
    """Every attention layer over a stream computes as `asked`: a name of `workflow.config.environment.ENGINES`.

    On a GPU the kernel must first give the definition's numbers for the shapes of this net; else `gate.Mismatch`.
    """
    dispatch.force(asked)
    dispatch.NOTED.clear()
    layers = [layer for layer in net.attentions if isinstance(layer, StreamAttention)]
    for layer in layers:
        layer.way = definition if asked == "definition" else engine
    if device.type == "cuda" and asked in ("auto", "triton"):
        for shape, ramp, attends_self in {
            (one.shape, getattr(one.span, "ramp", None), one.attends_self) for one in layers
        }:
            _hold(shape, ramp, attends_self, device, dtype)


def _hold(shape, ramp: int | None, attends_self: bool, device: torch.device, dtype: torch.dtype) -> None:
    from models.attention.engine import equivalence as gate
    from models.kernels.banded import WIDEST, attend  # triton is not there on every machine

    if max(shape.d_k, shape.d_v) <= WIDEST:
        gate.check(attend, device, dtype, shape=shape, ramp=ramp, attends_self=attends_self)


@contextmanager
def computing(layers: Iterable[StreamAttention], way):
    """These layers compute in another way for a while. way: has `attend`, and `start` where that is asked."""
    before = [(layer, layer.way) for layer in layers]
    for layer, _ in before:
        layer.way = way
    try:
        yield
    finally:
        for layer, one in before:
            layer.way = one


def chosen(net) -> list[str]:
    """What was chosen for what since `prepare`, the most frequent first."""
    if any(layer.way is definition for layer in net.attentions if isinstance(layer, StreamAttention)):
        return ["definition"]
    return [f"{line} ({count})" for line, count in dispatch.told().most_common()]
