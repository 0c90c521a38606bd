"""The definition for a few queries after the other, each time with the keys that these reach.

The scores of a long span do not fit into memory. Of each chunk of queries they are computed once
more in the backward pass, and until then only queries, keys and values are kept. No number is read,
so Python does not wait for a GPU.
"""

from functools import partial

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from ..formula import attend
from ..variant import Variant

CHUNKS = 16  # of the queries of a block, at most


def attend_in_chunks(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    z: Tensor | None,
    choices: Variant,
    *,
    reach: int,
    s: Tensor | None = None,
    drop: float = 0.0,
) -> Tensor:
    """Compute what `formula.attend` does: B h T dv."""
    T = q.size(-2)
    before = k.size(-2) - T
    size = -(-T // CHUNKS)
    compute = partial(attend, choices=choices, reach=reach, drop=drop)
    # sinusoids of Transformer-XL have dropout, too
    draws = drop > 0 or getattr(choices.position, "dropout", 0.0) > 0
    outputs = []
    for start in range(0, T, size):
        own = slice(start, start + size)
        # up to the last query's own; the first keys of a stream are seen from anywhere
        begin = 0 if choices.span.first else max(0, before + start - reach)
        keys = slice(begin, before + start + size)
        # an extent and a scale are of each query, or of all
        z_own = z[..., own, :] if z is not None and z.size(-2) == T else z
        s_own = s if s is None else s[..., own, :]
        y = checkpoint(
            compute,
            q[..., own, :],
            k[..., keys, :],
            v[..., keys, :],
            z_own,
            s=s_own,
            use_reentrant=False,
            preserve_rng_state=draws,
        )
        outputs.append(y)
    return torch.cat(outputs, -2)
