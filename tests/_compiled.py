"""Compiles the kernels for a GPU that need not be there: python -m tests._compiled, outside of the
interpreter.

The interpreter runs Python; only the compiler says whether types hold around a loop and tiles fit a
program's memory.
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
# bytes of fast memory that a program may ask of an A100 and an H100
SHARED = {80: 163_000, 90: 227_000}


def source(kernel, dtype: str, shapes: dict, absent: tuple[str, ...]) -> ASTSource:
    """Write the kernel's source at its types; `absent` arguments are None, which triton compiles
    in.
    """
    constants = shapes | {name: None for name in kernel.arg_names if name in absent}
    types = {
        "reach": "*i32",
        **dict.fromkeys(SUMS, "*fp32"),
        **dict.fromkeys(NUMBERS, "i32"),
        "seed": "i64",
    }
    signature = {
        n: "constexpr" if n in constants else types.get(n, f"*{dtype}") for n in kernel.arg_names
    }
    by_index = {(kernel.arg_names.index(name),): value for name, value in constants.items()}
    aligned = {
        (i,): [["tt.divisibility", 16]]
        for i, n in enumerate(kernel.arg_names)
        if signature[n][0] == "*"
    }
    return ASTSource(kernel, signature, by_index, aligned)


def compiled(
    dtype: torch.dtype, name: str, width: int, tile: Tile, architecture: int, drop: float, *absent
) -> None:
    shapes = banded._shapes(*torch.empty(2, 1, width, dtype=dtype), tile) | {"drop": drop}
    options = {option: shapes.pop(option) for option in ("num_warps", "num_stages")}
    for kernel in (getattr(banded_passes, each) for each in PASSES):
        binary = compile(
            source(kernel, name, shapes, absent), GPUTarget("cuda", architecture, 32), options
        )
        shared = binary.metadata.shared
        assert shared <= SHARED[architecture], (kernel.__name__, architecture, shared)


if __name__ == "__main__":
    (wide, *_, narrow), (first, second) = TILES[2], TILES[4]
    compiled(torch.bfloat16, "bf16", 64, wide, 90, 0.1)
    # one tile at least fits an A100 with these
    compiled(torch.bfloat16, "bf16", banded.WIDEST, narrow, 80, 0.1)
    compiled(torch.float32, "fp32", 64, second, 90, 0.1)
    compiled(torch.float32, "fp32", 20, first, 80, 0.0, "z", "grad_z", "ramp")
