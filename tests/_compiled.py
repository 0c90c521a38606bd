"""Compile the kernels for GPUs that need not be there, outside of the interpreter.

    python -m tests._compiled

The interpreter runs Python; only the compiler says whether types hold around a loop, and every tile
fits a program's memory and registers.
"""

import re
import subprocess
import tempfile
from itertools import product

import torch
from triton import knobs
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
NAMES = {80: "sm_80", 90: "sm_90a"}
# bytes of a thread's numbers that its registers do not hold: a few numbers, which the assembler
# leaves over now and then even in programs that use half of the registers
SPILLED = 48


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
        spilled = spilled_bytes(binary.asm["ptx"], architecture)
        assert spilled <= SPILLED, (each, tile, width, architecture, spilled)


def spilled_bytes(ptx: str, architecture: int) -> int:
    """Assemble a program and return how many bytes of its numbers lie in memory."""
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(ptx)
        file.flush()
        assembler = knobs.nvidia.ptxas.path
        target = f"--gpu-name={NAMES[architecture]}"
        command = [assembler, "-v", target, file.name, "-o", "/dev/null"]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    (stored,) = re.findall(r"(\d+) bytes spill stores", said)
    return int(stored)


if __name__ == "__main__":
    kinds = ((torch.bfloat16, "bf16"), (torch.float32, "fp32"))
    # the narrow one is no power of two
    for (dtype, name), width, architecture in product(kinds, (20, 64, banded.WIDEST), SHARED):
        for tile in TILES[dtype.itemsize]:
            compiled(dtype, name, width, tile, architecture, 0.1)
            # a fixed span without dropout is another program
            compiled(dtype, name, width, tile, architecture, 0.0, "z", "grad_z", "ramp")
