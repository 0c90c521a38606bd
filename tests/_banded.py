"""Kernels in small tiles, on a GPU or in Triton's interpreter, what it gets wrong put right."""

from contextlib import contextmanager

import numpy as np
import torch
import triton.language as tl
from triton.runtime import interpreter

from models.kernels import banded, tuning

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
TILE = 16


def mend(monkeypatch) -> None:
    """Loop bounds, which numpy 2.4 no longer takes from arrays of one number, and bfloat16.

    Version 3.6 holds bfloat16 as its 16 bits, would multiply these as whole numbers, and cuts 32
    bits down to them where a GPU rounds to the nearest.
    """
    builder = interpreter.InterpreterBuilder
    patch = interpreter._patch_lang_tensor
    dot = builder.create_dot
    cast = builder.cast_impl

    def patch_tensor(tensor, scope):
        patch(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))

    def create_dot(self, a, b, *others):
        return dot(self, _widened(a), _widened(b), *others)

    def cast_impl(self, tile, kind):
        if (tile.dtype.scalar, kind.scalar) != (tl.float32, tl.bfloat16):
            return cast(self, tile, kind)
        rounded = torch.tensor(tile.data).bfloat16().view(torch.int16)
        return interpreter.TensorHandle(rounded.numpy().view(np.uint16), tl.bfloat16)

    monkeypatch.setattr(interpreter, "_patch_lang_tensor", patch_tensor)
    monkeypatch.setattr(builder, "create_dot", create_dot)
    monkeypatch.setattr(builder, "cast_impl", cast_impl)


def _widened(tile):
    if tile.dtype.scalar != tl.bfloat16:
        return tile
    widened = (tile.data.astype(np.uint32) << 16).view(np.float32)
    return interpreter.TensorHandle(widened, tl.float32)


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
