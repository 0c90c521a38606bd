"""Attention of some heads over a band of keys, forward and backward by hand.

    s = q k^T + r p^T     content and position; r p^T has a column for each distance x = W .. 1
    P = rows(s)           mask, select, normalise
    y = P v

    dv = P^T dy    dP = dy v^T    ds = rows'(dP)
    dq = ds k      dk = ds^T q    dr = ds p    dp = r^T ds

Autograd would compute the same. By hand, the scores of a chunk are made in reused memory, nothing is copied to skew
them, and the weights are either kept for the backward pass or computed again.
"""

import torch
from torch import Tensor

from models.attention.engine.chunks import Chunk, band
from models.attention.engine.head_groups import HeadGroup, chunk_extent
from models.attention.engine.rows import rows_for
from models.attention.engine.scratch import SCRATCH
from models.kernels.no_double_backward import no_double_backward


def scores(chunk: Chunk, q: Tensor, r: Tensor | None, k: Tensor, position_keys: Tensor | None, out: Tensor) -> Tensor:
    """s of one chunk into `out`, n c (W + c - 1); columns off the band hold what no query may see."""
    q, k = chunk.of_queries(q), chunk.of_keys(k).transpose(1, 2)
    if chunk.missing:
        out[..., : chunk.missing] = 0.0
        out[..., chunk.missing :] = q @ k
    else:
        torch.bmm(q, k, out=out)
    if position_keys is not None:
        r, position_keys = chunk.of_queries(r), position_keys[..., -chunk.window :]
        if position_keys.dim() == 2:
            by_position = SCRATCH.take("by_position", (*r.shape[:2], chunk.window), r)
            torch.mm(r.flatten(0, 1), position_keys, out=by_position.flatten(0, 1))
            band(out, chunk.window).add_(by_position)
        else:
            chunk.by_head(band(out, chunk.window)).add_(chunk.by_head(r) @ position_keys)
    return out


def forward(group: HeadGroup, q, r, k, v, position_keys, z, parameters) -> tuple[Tensor, list]:
    """y: B g T dv, and for each chunk its weights and what its rows save, or None where nothing is kept."""
    B, g, T, _ = q.shape
    rows, y, stored = rows_for(group), q.new_zeros(B, T, g, v.size(-1)).transpose(1, 2), []
    for number, chunk in enumerate(group.chunks(q, k)):
        P = q.new_empty(chunk.shape(g)) if group.keep else SCRATCH.take("scores", chunk.shape(g), q)
        scores(chunk, q, r, k, position_keys, P)
        saved = rows.forward(P, chunk, chunk_extent(z, chunk), parameters)
        stored.append((P, saved) if group.keep else None)
        factors = group.dropout_factors(number, P)
        dropped = P if factors is None else P * factors
        y[chunk.streams, :, chunk.queries] = chunk.by_head(torch.bmm(dropped[..., chunk.missing :], chunk.of_keys(v)))
    return y, stored


class _Banded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, group, q, r, k, v, position_keys, z, *parameters):
        y, stored = forward(group, q, r, k, v, position_keys, z, parameters)
        ctx.group, ctx.count = group, len(parameters)
        ctx.rows_saved = [None if pair is None else pair[1] for pair in stored]
        weights = [pair[0] for pair in stored if pair is not None]
        ctx.save_for_backward(q, r, k, v, position_keys, z, *parameters, *weights)  # freed with the graph
        return y

    @staticmethod
    @no_double_backward
    def backward(ctx, dy):
        q, r, k, v, position_keys, z, *others = ctx.saved_tensors
        parameters, weights = others[: ctx.count], iter(others[ctx.count :])
        gradients = Gradients(ctx.group, q, r, k, v, position_keys, z, parameters)
        for number, (chunk, saved) in enumerate(zip(ctx.group.chunks(q, k), ctx.rows_saved, strict=True)):
            gradients.add(number, chunk, (next(weights), saved) if ctx.group.keep else None, dy)
        return None, *gradients.of_tensors, *gradients.of_parameters


class Gradients:
    """Gradients of a group of heads, added up chunk by chunk."""

    def __init__(self, group: HeadGroup, q, r, k, v, position_keys, z, parameters):
        self.group, self.rows, self.parameters = group, rows_for(group), parameters
        self.q, self.r, self.k, self.v, self.position_keys, self.z = q, r, k, v, position_keys, z
        self.dq, self.dk, self.dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
        self.dr, self.dposition_keys, self.dz = (
            None if tensor is None else torch.zeros_like(tensor) for tensor in (r, position_keys, z)
        )
        self.of_parameters = [torch.zeros_like(parameter) for parameter in parameters]

    @property
    def of_tensors(self) -> tuple:
        """In the order of the arguments of `attend_band`."""
        return self.dq, self.dr, self.dk, self.dv, self.dposition_keys, self.dz

    def add(self, number: int, chunk: Chunk, stored: tuple | None, dy: Tensor) -> None:
        """What chunk `number` contributes. stored: its weights and what its rows saved; None: they are made again."""
        z = chunk_extent(self.z, chunk)
        if stored is None:
            P = SCRATCH.take("scores", chunk.shape(self.group.heads), self.q)
            scores(chunk, self.q, self.r, self.k, self.position_keys, P)
            saved = self.rows.forward(P, chunk, z, self.parameters)
        else:
            P, saved = stored
        factors = self.group.dropout_factors(number, P)
        dropped = P if factors is None else P * factors
        dy, dP = chunk.of_queries(dy), SCRATCH.take("gradient", P.shape, P)
        self._add_to_keys(chunk, self.dv, dropped[..., chunk.missing :], dy)
        self._of_weights(chunk, dy, dP)
        if factors is not None:
            dP.mul_(factors)
        self._add_to_choices(chunk, self.rows.backward(saved, P, dP, chunk, z, self.parameters))
        self._add_to_products(chunk, dP)

    def _of_weights(self, chunk: Chunk, dy: Tensor, dP: Tensor) -> None:
        """dP = dy v^T, in place."""
        v, missing = chunk.of_keys(self.v).transpose(1, 2), chunk.missing
        if missing:
            dP[..., :missing] = 0.0
            dP[..., missing:] = dy @ v
        else:
            torch.bmm(dy, v, out=dP)

    def _add_to_products(self, chunk: Chunk, ds: Tensor) -> None:
        """From ds of a chunk the gradients of q, k, r and the position keys."""
        self.dq[chunk.streams, :, chunk.queries] = chunk.by_head(ds[..., chunk.missing :] @ chunk.of_keys(self.k))
        self._add_to_keys(chunk, self.dk, ds[..., chunk.missing :], chunk.of_queries(self.q))
        if self.position_keys is None:
            return
        W, r = chunk.window, chunk.of_queries(self.r)
        position_keys, dposition_keys = self.position_keys[..., -W:], self.dposition_keys[..., -W:]
        ds = SCRATCH.take("scores", (*ds.shape[:2], W), ds).copy_(band(ds, W))
        self.dr[chunk.streams, :, chunk.queries] = chunk.by_head(ds) @ position_keys.transpose(-1, -2)
        if position_keys.dim() == 2:
            dposition_keys.addmm_(r.flatten(0, 1).T, ds.flatten(0, 1))
        else:
            dposition_keys += chunk.by_head(r.transpose(1, 2) @ ds).sum(0)

    def _add_to_keys(self, chunk: Chunk, gradient: Tensor, weights: Tensor, queries: Tensor) -> None:
        """weights^T queries, n k d, onto the chunk's keys of `gradient`."""
        shape = (len(weights), weights.size(-1), queries.size(-1))
        product = torch.bmm(weights.transpose(1, 2), queries, out=SCRATCH.take("keys", shape, queries))
        chunk.of_keys(gradient).add_(product)

    def _add_to_choices(self, chunk: Chunk, gradients: list) -> None:
        """Gradients of one chunk in z and the choices' parameters."""
        dz, *others = gradients
        if dz is not None and dz.dim() == 4:
            self.dz[chunk.streams, :, chunk.queries] = dz
        elif dz is not None:
            self.dz += dz
        for total, gradient in zip(self.of_parameters, others, strict=False):
            total += gradient if gradient is not None else 0.0


def attend_band(group: HeadGroup, q, r, k, v, position_keys, z, parameters: list) -> Tensor:
    """y: B g T dv of a block of queries.

    q, r: B g T dk, content and position queries, over sqrt(dk); r is None without position keys. k: K B g dk and
    v: K B g dv, contiguous, the last T the block's own. position_keys: dk W or g dk W, W at least the group's reach,
    the last column x = 1. z: the span's extent. parameters: of selection and normaliser, for these heads.
    """
    if torch.is_grad_enabled():
        return _Banded.apply(group, q, r, k, v, position_keys, z, *parameters)
    return forward(group, q, r, k, v, position_keys, z, parameters)[0]
