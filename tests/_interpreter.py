"""Triton's interpreter on the CPU, with what version 3.6 gets wrong put right for the length of a test."""

import numpy as np
import triton.language as tl
from triton.runtime import interpreter


def mend(monkeypatch) -> None:
    """Loop bounds, which numpy 2.4 no longer takes from arrays of one number, and products of bfloat16.

    The interpreter holds bfloat16 as its 16 bits and would multiply these as whole numbers.
    """
    patch, dot = interpreter._patch_lang_tensor, interpreter.InterpreterBuilder.create_dot

    def patch_tensor(tensor, scope):
        patch(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))

    def create_dot(self, a, b, *others):
        return dot(self, _widened(a), _widened(b), *others)

    monkeypatch.setattr(interpreter, "_patch_lang_tensor", patch_tensor)
    monkeypatch.setattr(interpreter.InterpreterBuilder, "create_dot", create_dot)


def _widened(tile):
    if tile.dtype.scalar != tl.bfloat16:
        return tile
    return interpreter.TensorHandle((tile.data.astype(np.uint32) << 16).view(np.float32), tl.float32)
