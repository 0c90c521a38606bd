"""Triton's interpreter on the CPU, with what version 3.6 gets wrong put right for the length of a test."""

import numpy as np
import torch
import triton.language as tl
from triton.runtime import interpreter


def mend(monkeypatch) -> None:
    """Loop bounds, which numpy 2.4 no longer takes from arrays of one number, and bfloat16.

    The interpreter holds bfloat16 as its 16 bits, would multiply these as whole numbers, and cuts 32 bits down to them
    where a GPU rounds to the nearest.
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
    return interpreter.TensorHandle((tile.data.astype(np.uint32) << 16).view(np.float32), tl.float32)
