"""Sharper scores where attention is spread, at test time alone (Velickovic et al. 2025).

    s(t) = max(1, -0.037 H^4 + 0.481 H^3 - 2.3 H^2 + 4.917 H - 1.791) where H > 0.5, else 1

H is the entropy of softmax(z) in nats. `published` takes these coefficients from the highest power
down; `ascending` from the lowest up, as the code released with ASEntmax does: from H = 2.3 on it
then does nothing.
"""

from typing import Literal

import torch
from torch import Tensor

from ..choice import Shape
from ._score_scale import ScoreScale

COEFFICIENTS = (-0.037, 0.481, -2.3, 4.917, -1.791)
LEAST_ENTROPY = 0.5  # below it the scores stay as they are


class AdaptiveTemperature(ScoreScale):
    def __init__(
        self,
        shape: Shape,
        *,
        order: Literal["published", "ascending"] = "published",
    ):
        super().__init__(shape)
        self.coefficients = COEFFICIENTS if order == "published" else COEFFICIENTS[::-1]

    @property
    def changes_scores(self) -> bool:
        return not self.training

    def of_scores(self, masked: Tensor) -> Tensor:
        if self.training:
            return masked
        p = masked.softmax(-1)
        H = torch.special.entr(p).sum(-1, keepdim=True)
        value = torch.zeros_like(H)
        for coefficient in self.coefficients:  # Horner
            value = value * H + coefficient
        s = torch.where(H > LEAST_ENTROPY, value.clamp(min=1), 1.0)
        # 0 * -inf would be NaN; s is at least 1, so a key that is not seen stays so.
        return masked * s
