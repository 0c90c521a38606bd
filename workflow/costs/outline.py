"""The engine without its numbers, for the meta device: attention that a device computes in one piece is one operator.

On a CPU with a compiler that is each layer's attention, on a GPU what the Triton kernel takes; all else are torch's
operators, which count themselves. One piece reads queries, keys and values and writes outputs: scores stay where they
are computed, and the backward pass computes them again.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import torch
from torch import Tensor

from models.attention.engine.backend import Backend, kernel_obstacle
from models.attention.engine.compiled import compiled_obstacle
from models.attention.engine.engine import Computed, Engine
from models.attention.engine.key_value_cache import Inputs
from models.attention.engine.partition import head_reaches
from models.attention.engine.queries import BlockQueries
from workflow.costs.operators import Operator, Operators, bytes_of


class _Piece(torch.autograd.Function):
    """One operator forward and one backward, with these multiply-accumulates; all that it reads gets a gradient."""

    @staticmethod
    def forward(ctx, operators, name, shape, forward, backward, *tensors):
        ctx.operators, ctx.name, ctx.macs = operators, name, backward
        y = tensors[0].new_empty(shape)
        ctx.save_for_backward(*tensors, y)
        operators.note(Operator(name, forward, sum(map(bytes_of, (*tensors, y)))))
        return y

    @staticmethod
    def backward(ctx, dy):
        *tensors, y = ctx.saved_tensors
        wanted = zip(tensors, ctx.needs_input_grad[-len(tensors) :], strict=True)
        gradients = [tensor.new_empty(tensor.shape) if needed else None for tensor, needed in wanted]
        moved = sum(map(bytes_of, (*tensors, y, dy, *(each for each in gradients if each is not None))))
        ctx.operators.note(Operator(f"{ctx.name}, backward", ctx.macs, moved))
        return None, None, None, None, None, *gradients


class _OneChunk(torch.autograd.Function):
    """The streams that are computed together, in place of all: the others launch the same operators, `times` in all.

    rest: bytes that the others keep for the backward pass.
    """

    @staticmethod
    def forward(ctx, operators, times, attend, shape, rest, *tensors):
        ctx.operators, ctx.times, ctx.shapes = operators, times, [tensor.shape for tensor in tensors]
        with operators.each(times), torch.enable_grad():
            ctx.parts, ctx.y = attend([tensor.detach().requires_grad_(tensor.requires_grad) for tensor in tensors])
        ctx.rest = tensors[0].new_empty(rest, dtype=torch.uint8)
        return tensors[0].new_empty(shape)

    @staticmethod
    def backward(ctx, dy):
        wanted = [part for part in ctx.parts if part.requires_grad]
        with ctx.operators.each(ctx.times):
            torch.autograd.grad(ctx.y, wanted, dy[: len(ctx.y)])
        gradients = zip(ctx.shapes, ctx.needs_input_grad[-len(ctx.shapes) :], strict=True)
        return *[None] * 5, *(dy.new_empty(shape) if needed else None for shape, needed in gradients)


def pairs(T: int, at_hand: int, reach: int, attends_self: bool) -> int:
    """Queries and keys that meet: T queries, the last of `at_hand` rows, of which each sees `reach` at most."""
    first = at_hand - T + attends_self  # keys that the first query could see
    return sum(min(reach, first + t) for t in range(T))


class OutlineBackend(Backend):
    """on: cpu | cuda, the device that is stood in for."""

    def __init__(self, on: str, operators: Operators):
        super().__init__()
        self.on, self.operators = on, operators

    def takes_layer(self, layer, x: Tensor) -> bool:
        """As on a CPU with this machine's compiler."""
        return self.on == "cpu" and not compiled_obstacle(layer, torch.empty(0))

    def choose(self, group, q: Tensor, v: Tensor, position_keys: Tensor | None) -> str:
        kernel = self.on == "cuda" and not kernel_obstacle(group, position_keys is not None, q.size(-1), v.size(-1))
        return "triton" if kernel else super().choose(group, q, v, position_keys)

    def attend(self, name: str, group, q, r, k, v, position_keys, z, parameters: list) -> Tensor:
        if name != "triton":
            group = replace(group, drop=0.0, on_gpu=self.on == "cuda")
            return self._by_chunks(name, group, q, r, k, v, position_keys, z, parameters)
        met = group.heads * pairs(q.size(2), len(k), group.reach, group.attends_self)
        return self.piece((*q.shape[:3], v.size(-1)), q.size(0) * met, (q, r, k, v, position_keys, z, *parameters))

    def _by_chunks(self, name: str, group, *tensors) -> Tensor:
        """By torch's operators, chunk of streams by chunk; dropout of weights is left out, for it needs a device."""
        (q, r, k, v, position_keys, z, parameters), attend = tensors, super().attend
        together = min(chunk.streams.stop for chunk in group.chunks(q, k) if not chunk.streams.start)
        if together == len(q):
            return attend(name, group, *tensors)
        there = [tensor for tensor in (q, r, k, v, position_keys, z, *parameters) if tensor is not None]

        def attend_one(leaves: list[Tensor]):
            given = iter(leaves)
            whole = [None if tensor is None else next(given) for tensor in (q, r, k, v, position_keys, z)]
            streams = [
                None if x is None else x[:together] if x.dim() == 4 else x for x in (whole[0], whole[1], whole[5])
            ]
            keys = [x[:, :together] for x in whole[2:4]]
            return leaves, attend(name, group, *streams[:2], *keys, whole[4], streams[2], list(given))

        times = -(-len(q) // together)
        rest = (len(q) - together) * group.heads * q.size(2) * group.reach * q.element_size() if group.keep else 0
        return _OneChunk.apply(self.operators, times, attend_one, (*q.shape[:3], v.size(-1)), rest, *there)

    def attend_sequence(self, group, tensors: tuple, visible: Tensor, reads_itself: bool) -> Tensor:
        q, r, k, v, position_keys, z, parameters = tensors
        seen = min(k.size(2), 2 * group.reach - 1) if reads_itself else k.size(2)
        shape = (*q.shape[:3], v.size(-1))
        return self.piece(shape, prod(q.shape[:3]) * seen, (q, r, k, v, position_keys, z, *parameters))

    def piece(self, shape: Sequence[int], met: int, tensors: tuple[Tensor | None, ...]) -> Tensor:
        """Forward s = q k + r p and s v; backward both scores again, and dv, dp, dq, dk, dr, dp."""
        q, r, d_v = tensors[0], tensors[1], shape[-1]
        d_k = q.size(-1) * (1 + (r is not None))
        there = [tensor for tensor in tensors if tensor is not None]
        return _Piece.apply(self.operators, "attention", shape, met * (d_k + d_v), met * (3 * d_k + 2 * d_v), *there)


class Outline(Engine):
    """on: cpu | cuda."""

    def __init__(self, on: str, operators: Operators):
        self.backend = OutlineBackend(on, operators)

    def _attend_layer(self, layer, x: Tensor, past, z: Tensor | None, at_hand: int):
        """As the engine's, whose projections are compiled too: keys and values of each head as far as it sees."""
        (B, T), shape = x.shape[:2], layer.shape
        reaches = [min(reach, at_hand) for reach in head_reaches(layer, z)]
        heads, widest, cache = tuple(range(shape.heads)), max(reaches), Inputs(layer, x, past)
        counts = [min(len(cache.rows), T + reach) for reach in reaches]
        macs = B * shape.d_model * (T * shape.heads * shape.d_k + sum(counts) * (shape.d_k + shape.d_v))
        weights = (layer.query.weight, layer.key.weight, layer.value.weight)
        numbers = B * (T * shape.heads * shape.d_k + sum(counts) * (shape.d_k + shape.d_v))
        operators = self.backend.operators
        projected = _Piece.apply(operators, "projections", (numbers,), macs, 2 * macs, cache.rows, x, *weights)
        q, k, v = projected.split(
            [B * T * shape.heads * shape.d_k, *(B * sum(counts) * d for d in (shape.d_k, shape.d_v))]
        )
        q = q.view(B, T, shape.heads, shape.d_k).transpose(1, 2)
        queries = BlockQueries(layer, q, z, widest, scaled=False)
        _, (q, r, _, _, position_keys, z, parameters) = queries.of(heads, widest, k, v)
        met = B * sum(pairs(T, len(cache.rows), reach, layer.attends_self) for reach in reaches)
        layer.shapes = [Computed(1, *sizes, "compiled") for sizes in zip(reaches, counts, strict=True)]
        y = self.backend.piece((B, shape.heads, T, shape.d_v), met, (q, r, k, v, position_keys, z, *parameters))
        return y.transpose(1, 2), cache.next_past([(heads, widest)])
