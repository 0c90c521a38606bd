"""From the scores of a chunk to its weights, P = normalise(select(s + log m)), and back.

`SoftmaxRows` computes the softmax of all keys in place and masks the ramp alone. `AutogradRows` leaves every other
choice to autograd. Scores are n c (W + c - 1), n = streams x heads; what lies off the band comes out as 0.
"""

import math
from contextlib import contextmanager
from functools import lru_cache

import torch
from torch import Tensor, nn

from models.attention.engine.chunks import Chunk, band
from models.attention.engine.head_groups import HeadGroup
from models.attention.normalisers.softmax import Softmax
from models.attention.selections.all import All


@lru_cache(maxsize=32)
def _triangles(c: int, dtype: torch.dtype, device: torch.device) -> tuple[Tensor, Tensor]:
    """-inf on the keys that row i of a chunk cannot see: those too far (j < i), those to come (j > i + W - 1)."""
    off = torch.full((c, c), -math.inf, dtype=dtype, device=device)
    return off.tril(-1), off.triu(1)


def _distances(chunk: Chunk, flat: int, device) -> Tensor:
    """x = W .. flat + 1, the columns of the band whose mask is not surely 1."""
    return torch.arange(chunk.window, min(flat, chunk.window), -1, device=device)


@contextmanager
def substituted(parameters: tuple[Tensor, ...], *choices: nn.Module):
    """The choices compute with these parameters, those of some heads, in place of their own.

    (`torch.func.functional_call` cannot be traced.) One thread at a time may compute with a layer.
    """
    if not parameters:
        yield
        return
    modules = [module for choice in choices for module in choice.modules()]
    owners = [(module, name) for module in modules for name in module._parameters]
    before = [module._parameters[name] for module, name in owners]
    try:
        for (module, name), parameter in zip(owners, parameters, strict=True):
            module._parameters[name] = parameter
        yield
    finally:
        for (module, name), parameter in zip(owners, before, strict=True):
            module._parameters[name] = parameter


def mask(scores: Tensor, chunk: Chunk, span, flat: int, z: Tensor | None) -> None:
    """Adds log m to the scores, in place; the nearest `flat` keys surely have m = 1. -inf off the band.

    A first query that sees nothing keeps the column x = 1, which has no value: it gives 0.
    """
    c, W, missing = chunk.c, chunk.window, chunk.missing
    x = _distances(chunk, flat, scores.device)
    log_m = span.log_mask(x, z) if len(x) else None
    if log_m is not None:
        chunk.by_head(band(scores, W))[..., : len(x)] += log_m
    too_far, to_come = _triangles(c, scores.dtype, scores.device)
    scores[..., :c] += too_far
    scores[..., W - 1 :] += to_come
    if missing:
        scores[..., :missing] = -math.inf
    if chunk.blind:
        scores[:, 0, missing - 1] = 0.0


class SoftmaxRows:
    """All keys, softmax."""

    def __init__(self, span, flat: int):
        self.span, self.flat = span, flat

    def forward(self, scores: Tensor, chunk: Chunk, z: Tensor | None, parameters: list) -> None:
        """Scores become weights in place; nothing is saved for `backward`."""
        mask(scores, chunk, self.span, self.flat, z)
        torch.softmax(scores, -1, out=scores)

    def backward(self, saved: None, P: Tensor, dP: Tensor, chunk: Chunk, z: Tensor | None, parameters: list) -> list:
        """dP becomes ds in place; the gradients of z and the parameters."""
        torch.ops.aten._softmax_backward_data.out(dP, P, -1, P.dtype, grad_input=dP)
        x = _distances(chunk, self.flat, P.device)
        if z is None or not z.requires_grad or not len(x):
            return [None]
        with torch.enable_grad():
            z = z.detach().requires_grad_()
            log_m = self.span.log_mask(x, z)
        ds = chunk.by_head(band(dP, chunk.window))[..., : len(x)].sum_to_size(log_m.shape)
        return list(torch.autograd.grad(log_m, z, ds))


def weights(group: HeadGroup, s: Tensor, chunk: Chunk, z: Tensor | None, parameters: list) -> Tensor:
    """normalise(select(s + log m)) of a band's own columns, b g c W: as the formula says it."""
    x = _distances(chunk, 0, s.device)
    log_m = group.span.log_mask(x, z)
    s = s if log_m is None else s + log_m
    if chunk.missing:
        visible = torch.arange(chunk.keys.stop - chunk.c + 1, chunk.keys.stop + 1, device=s.device)[:, None]
        # a query that sees no key keeps x = 1, a column without a value
        s = s.masked_fill(x > visible.clamp(min=1), -math.inf)
    with substituted(parameters, group.selection, group.normaliser):
        return group.normaliser(group.selection(s))


class AutogradRows:
    """Any span, selection and normaliser, through autograd on the band's own columns."""

    def __init__(self, group: HeadGroup):
        self.group = group

    def forward(self, scores: Tensor, chunk: Chunk, z: Tensor | None, parameters: list):
        """Scores become weights in place; returns what `backward` needs: scores, leaves (z, parameters), weights."""
        W = chunk.window
        leaves = [
            None if tensor is None else tensor.detach().requires_grad_(tensor.requires_grad)
            for tensor in (z, *parameters)
        ]
        with torch.enable_grad():
            s = chunk.by_head(band(scores, W)).clone().requires_grad_()
            p = weights(self.group, s, chunk, leaves[0], leaves[1:])
        scores.zero_()
        chunk.by_head(band(scores, W)).copy_(p.detach())
        return s, leaves, p

    def backward(self, saved, P: Tensor, dP: Tensor, chunk: Chunk, z: Tensor | None, parameters: list) -> list:
        """As `SoftmaxRows.backward`, from what `forward` returned."""
        s, leaves, p = saved
        learned = [leaf for leaf in leaves if leaf is not None and leaf.requires_grad]
        dp = chunk.by_head(band(dP, chunk.window)).to(p.dtype, memory_format=torch.contiguous_format)
        ds, *gradients = torch.autograd.grad(p, [s, *learned], dp, retain_graph=True)
        dP.zero_()
        chunk.by_head(band(dP, chunk.window)).copy_(ds)
        gradients = iter(gradients)
        return [next(gradients) if leaf is not None and leaf.requires_grad else None for leaf in leaves]


def is_plain_softmax(selection: nn.Module, normaliser: nn.Module) -> bool:
    """Whether weights are the softmax of all keys, which has a backward pass of its own."""
    return type(selection) is All and type(normaliser) is Softmax


def rows_for(group: HeadGroup) -> SoftmaxRows | AutogradRows:
    """How a group's scores become weights."""
    if is_plain_softmax(group.selection, group.normaliser):
        return SoftmaxRows(group.span, group.flat)
    return AutogradRows(group)
