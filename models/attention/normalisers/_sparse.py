"""What the members of the alpha-entmax family share.

p = [(alpha - 1) z - tau]_+ ^ (1 / (alpha - 1)),   tau such that sum p = 1
dz = s (g - (s . g) / sum s),   s = p ^ (2 - alpha) on the support      (Peters et al. 2019, proposition 2)
"""

from torch import Tensor

FAR = -2.0  # tau >= max - 1, so a scaled score this far below the maximum is off the support, and -inf may become it


def centre(scaled: Tensor) -> Tensor:
    """Scaled scores with their row's maximum at 0; everything surely off the support at `FAR`."""
    scaled = scaled.float() if scaled.element_size() < 4 else scaled
    return (scaled - scaled.amax(-1, keepdim=True)).clamp(min=FAR)


def through_jacobian(s: Tensor, gradient: Tensor) -> Tensor:
    """The gradient in z from the gradient in p."""
    return s * (gradient - (s * gradient).sum(-1, keepdim=True) / s.sum(-1, keepdim=True))
