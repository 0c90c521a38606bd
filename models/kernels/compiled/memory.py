"""Addresses that C gets: none without a check that the tensor is what C reads or writes there.

C adds strides to an address and knows nothing of where the memory ends. So the strides that it gets
are those of the very tensor whose address it gets, and the sizes are compared with the tensor's
here.
"""

import torch
from torch import Tensor


def address(name: str, x: Tensor, shape: tuple[int, ...], dtype: torch.dtype) -> int:
    """Return where the numbers of x begin.

    ValueError unless x has this shape and type, on the CPU.
    """
    as_expected = x.shape == shape and x.dtype == dtype and x.is_cpu
    if not as_expected or x.is_neg():  # neg: a sign that torch has not written yet
        raise ValueError(
            f"compiled code needs {name} of shape {tuple(shape)}, {dtype}, on the CPU; "
            f"got {tuple(x.shape)}, {x.dtype}, on {x.device}"
        )
    return x.data_ptr()


def address_of_row(name: str, x: Tensor, shape: tuple[int, ...], dtype: torch.dtype) -> int:
    """Return the address of x as `address` does; ValueError where x is not contiguous."""
    start = address(name, x, shape, dtype)
    if not x.is_contiguous():
        raise ValueError(
            f"compiled code needs {name} to be contiguous; "
            f"shape {tuple(x.shape)}, strides {x.stride()}"
        )
    return start


def rows_contiguous(x: Tensor | None) -> Tensor | None:
    """Return x, copied where the numbers of its last axis are not next to one another."""
    if x is None:
        return None
    side_by_side = x.size(-1) <= 1 or x.stride(-1) == 1
    if side_by_side and not x.is_neg():
        return x
    return x.resolve_neg().contiguous()
