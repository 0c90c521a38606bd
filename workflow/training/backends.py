"""Which code computes a net's attention; a kernel is checked against the definition before a run."""

from collections import Counter
from collections.abc import Iterable
from contextlib import contextmanager

import torch

from models.attention.definition import Definition
from models.attention.engine.engine import Engine
from models.attention.stream_attention import StreamAttention


def prepare(net, name: str, device: torch.device, dtype: torch.dtype) -> None:
    """All layers over streams share one implementation. name: one of `workflow.config.environment.BACKENDS`.

    On a GPU the kernel must first give the definition's numbers for the shapes of this net; else
    `equivalence.Mismatch`. ValueError for an unknown name.
    """
    implementation = Definition() if name == "definition" else Engine(name)
    layers = stream_layers(net)
    for layer in layers:
        layer.implementation = implementation
    if device.type == "cuda" and name in ("auto", "triton"):
        settings = {(layer.shape, getattr(layer.span, "ramp", None), layer.attends_self) for layer in layers}
        for shape, ramp, attends_self in settings:
            _check_kernel(shape, ramp, attends_self, device, dtype)


def stream_layers(net) -> list[StreamAttention]:
    return [layer for layer in net.attentions if isinstance(layer, StreamAttention)]


def _check_kernel(shape, ramp: int | None, attends_self: bool, device: torch.device, dtype: torch.dtype) -> None:
    from models.attention.engine.equivalence import check_equivalence
    from models.kernels.banded import WIDEST, attend  # triton is not there on every machine

    if max(shape.d_k, shape.d_v) <= WIDEST:
        check_equivalence(attend, device, dtype, shape=shape, ramp=ramp, attends_self=attends_self)


@contextmanager
def computing(layers: Iterable[StreamAttention], implementation):
    """These layers use another implementation for a while. It has `attend`, and `start` where streams begin."""
    before = [(layer, layer.implementation) for layer in layers]
    for layer, _ in before:
        layer.implementation = implementation
    try:
        yield
    finally:
        for layer, previous in before:
            layer.implementation = previous


def engine_of(net) -> Engine:
    """The engine with which a net computes, or a new one where it computes the definition."""
    engines = [layer.implementation for layer in stream_layers(net) if isinstance(layer.implementation, Engine)]
    return engines[0] if engines else Engine()


def chosen(net) -> list[str]:
    """Which backend computed what since `prepare`, the most frequent first."""
    implementations = {id(layer.implementation): layer.implementation for layer in stream_layers(net)}.values()
    if any(isinstance(implementation, Definition) for implementation in implementations):
        return ["definition"]
    lines: Counter[str] = Counter()
    for engine in implementations:
        lines.update(engine.backend.describe())
    return [f"{line} ({count})" for line, count in lines.most_common()]
