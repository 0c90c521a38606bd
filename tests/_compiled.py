"""Compile the kernels for GPUs that need not be there, outside of the interpreter.

Run as `python -m tests._compiled`. The interpreter runs Python; only the compiler says whether
types hold around a loop and tiles fit a program's memory.
"""

import torch
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, compile

from models.kernels import banded, banded_passes
from models.kernels.banded_tiles import NUMBERS
from models.kernels.tuning import TILES, Tile

PASSES = ("forward", "query_gradients", "key_gradients", "position_gradients")
# tensors of the type that is added up in
SUMS = ("lse", "delta", "z", "grad_z", "grad_position_keys")
TYPES = {
    "reach": "*i32",
    "seed": "i64",
    **dict.fromkeys(SUMS, "*fp32"),
    **dict.fromkeys(NUMBERS, "i32"),
}
# bytes of fast memory that a program may ask of an A100 and an H100
SHARED = {80: 163_000, 90: 227_000}


def source(kernel, dtype: str, shapes: dict, absent: tuple[str, ...]) -> ASTSource:
    """Write the kernel's source at its types, with `absent` arguments as None."""
    constants = dict(shapes)
    signature = {}
    aligned = {}
    by_index = {}
    for index, name in enumerate(kernel.arg_names):
        place = (index,)
        if name in absent:
            constants[name] = None
        if name in constants:
            signature[name] = "constexpr"
            by_index[place] = constants[name]
            continue
        kind = TYPES.get(name, f"*{dtype}")
        signature[name] = kind
        if kind.startswith("*"):
            aligned[place] = [["tt.divisibility", 16]]
    return ASTSource(kernel, signature, by_index, aligned)


def compiled(dtype, name: str, width: int, tile: Tile, architecture: int, drop: float, *absent):
    """Compile all passes, and hold the memory that they ask for to what the GPU has."""
    q, v = torch.empty(2, 1, width, dtype=dtype)
    shapes = banded._shapes(q, v, tile) | {"drop": drop}
    options = {}
    for option in ("num_warps", "num_stages"):
        options[option] = shapes.pop(option)
    target = GPUTarget("cuda", architecture, 32)
    for each in PASSES:
        kernel = getattr(banded_passes, each)
        written = source(kernel, name, shapes, absent)
        binary = compile(written, target, options)
        shared = binary.metadata.shared
        assert shared <= SHARED[architecture], (each, architecture, shared)


if __name__ == "__main__":
    wide, *_, narrow = TILES[2]
    first, second = TILES[4]
    compiled(torch.bfloat16, "bf16", 64, wide, 90, 0.1)
    # one tile at least fits an A100 with these
    compiled(torch.bfloat16, "bf16", banded.WIDEST, narrow, 80, 0.1)
    compiled(torch.float32, "fp32", 64, second, 90, 0.1)
    compiled(torch.float32, "fp32", 20, first, 80, 0.0, "z", "grad_z", "ramp")
