"""No positions at all: the causal mask is the only source of order (Kazemnejad et al. 2023, NoPE).

score(t, x) = q_t . k_{t - x} / sqrt(dk)

`none` has the same scores, in models that may add positions to their input.
"""

from ._position import Position


class NoPositionsAtAll(Position):
    needs_distance = False
