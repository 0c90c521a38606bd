"""The soft mask of Adaptive Attention Span (section 2.2, equation 4), shared by adaptive and
dynamic spans.

    m(x) = clamp((R + z - (x - 1)) / R, 0, 1)        x = 1 .. S

At z = 0 it keeps R keys (1 at x = 1 down to 1/R at x = R), as in the paper's results and released
code; the printed formula, without the -1, keeps R - 1.
"""

import math

import torch
from torch import Tensor


def log_ramp(x: Tensor, z: Tensor, ramp: int) -> Tensor:
    """Compute log m(x), -inf where m = 0, NaN where z is. Broadcasts x with z.

    In z the gradient is the derivative from the left: it counts the key that has just reached m = 1
    and not the key still at m = 0. For z off the whole numbers the two sides agree.
    """
    unclamped = (ramp + z - (x - 1)) / ramp
    m = unclamped.clamp(0, 1)
    outside = m <= 0
    # log 0 has no gradient: the logarithm is taken of 1 there.
    inside = torch.where(outside, 1, m)
    return inside.log().masked_fill(outside, -math.inf)


def ramp_reach(z: Tensor, ramp: int, limit: int) -> Tensor:
    """Count the keys with m > 0, elementwise in z.

    Where z is NaN they are the nearest R, whose scores then show it.
    """
    # Clamped before it becomes a whole number, which a number that diverges would not fit.
    whole = z.detach().ceil().clamp(-ramp, limit)
    keys = whole.nan_to_num(0.0).long() + ramp
    return keys.clamp(max=limit)
