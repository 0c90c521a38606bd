"""Inputs for banded attention, and its output and gradients by the kernel and by the definition.

Without a GPU Triton's interpreter runs the kernel, with what version 3.6 gets wrong put right.
"""

from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import torch
import triton.language as tl
from triton.runtime import interpreter

from models.attention import formula
from models.attention.choice import Shape
from models.attention.engine.equivalence import Given
from models.attention.spans._ramp import log_ramp, ramp_reach
from models.kernels import banded, tuning

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
TILE, RAMP = 16, 5


def mend(monkeypatch) -> None:
    """Loop bounds, which numpy 2.4 no longer takes from arrays of one number, and bfloat16.

    The interpreter holds bfloat16 as its 16 bits, would multiply these as whole numbers, and cuts
    32 bits down to them where a GPU rounds to the nearest.
    """
    builder = interpreter.InterpreterBuilder
    patch, dot, cast = interpreter._patch_lang_tensor, builder.create_dot, builder.cast_impl

    def patch_tensor(tensor, scope):
        patch(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))

    def create_dot(self, a, b, *others):
        return dot(self, _widened(a), _widened(b), *others)

    def cast_impl(self, tile, kind):
        if (tile.dtype.scalar, kind.scalar) != (tl.float32, tl.bfloat16):
            return cast(self, tile, kind)
        rounded = torch.tensor(tile.data).bfloat16().view(torch.int16).numpy().view(np.uint16)
        return interpreter.TensorHandle(rounded, tl.bfloat16)

    monkeypatch.setattr(interpreter, "_patch_lang_tensor", patch_tensor)
    monkeypatch.setattr(builder, "create_dot", create_dot)
    monkeypatch.setattr(builder, "cast_impl", cast_impl)


def _widened(tile):
    if tile.dtype.scalar != tl.bfloat16:
        return tile
    return interpreter.TensorHandle(
        (tile.data.astype(np.uint32) << 16).view(np.float32), tl.float32
    )


@contextmanager
def small_tiles(monkeypatch):
    """Compute in several tiles and groups, at sizes that an interpreter can compute."""
    tiles = (tuning.Tile(TILE, warps=4, stages=2),)
    monkeypatch.setattr(tuning, "TILES", dict.fromkeys(tuning.TILES, tiles))
    monkeypatch.setattr(banded, "GROUPS", 4)
    if DEVICE == "cpu":
        mend(monkeypatch)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def drawn(T, K, spans, limit, B=1, *, by_head=False, dk=12, dv=20, seed=0):
    """Draw inputs in 64 bits that ask for gradients, and the reach of each head.

    spans: heads' "z", their "reach", or "z_by_query" with how many heads. by_head: a table of
    position keys for each.
    """
    torch.manual_seed(seed)
    ((kind, values),) = spans.items()
    h = values if kind == "z_by_query" else len(values)
    sizes = {"q": (B, h, T, dk), "r": (B, h, T, dk), "k": (B, h, K, dk), "v": (B, h, K, dv)}
    sizes["position_keys"] = (h, dk, limit) if by_head else (dk, limit)
    inputs = {name: torch.randn(size, dtype=torch.float64) for name, size in sizes.items()}
    if kind == "reach":
        reach = torch.tensor(values)
    elif kind == "z":
        inputs["z"] = torch.tensor(values, dtype=torch.float64).view(h, 1, 1)
        reach = ramp_reach(inputs["z"], RAMP, limit).flatten()
    else:
        # whole numbers among them
        inputs["z"] = torch.randint(4 * (limit - RAMP), (B, h, T, 1)).double() / 4
        reach = ramp_reach(inputs["z"], RAMP, limit).amax((0, 2, 3))
    return {name: tensor.to(DEVICE).requires_grad_() for name, tensor in inputs.items()}, reach.to(
        DEVICE
    )


def by_definition(q, r, k, v, position_keys, z=None, *, reach, attends_self):
    """Compute head by head, since the definition has a single reach."""
    scale = q.size(-1) ** 0.5
    span = SimpleNamespace(
        first=0, log_mask=lambda x, z: None if z is None else log_ramp(x, z, RAMP)
    )
    rest = {
        "span": span,
        "selection": lambda masked: masked,
        "normaliser": lambda kept: kept.softmax(-1),
    }
    heads = []
    for i, far in enumerate(reach.tolist()):
        table = position_keys[i] if position_keys.dim() == 3 else position_keys
        position = Given(Shape(q.size(-1), 1), r[:, [i]] * scale, table)
        choices = SimpleNamespace(position=position, attends_self=attends_self, **rest)
        own_z = None if z is None else z[..., [i], :, :]
        heads.append(
            formula.weights(q[:, [i]] * scale, k[:, [i]], own_z, choices, reach=far) @ v[:, [i]]
        )
    return torch.cat(heads, 1)


def by_kernel(q, r, k, v, position_keys, z=None, *, reach, attends_self, **dropout):
    width, ramp = position_keys.size(-1) - int(reach.max()), None if z is None else RAMP
    nearest = position_keys[..., width:]
    return banded.attend(
        q, r, k, v, nearest, z, reach, ramp=ramp, attends_self=attends_self, **dropout
    )


def results(attend, inputs, reach, attends_self, **dropout):
    """Return the output and the gradients of all inputs, by name."""
    y = attend(**inputs, reach=reach, attends_self=attends_self, **dropout)
    dy = torch.randn(y.shape, dtype=y.dtype, generator=torch.Generator().manual_seed(1)).to(DEVICE)
    return {
        "y": y.detach(),
        **dict(zip(inputs, torch.autograd.grad(y, list(inputs.values()), dy), strict=True)),
    }
