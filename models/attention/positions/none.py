"""No position in the score: a net adds it to its input, or does without (Attention Is All You Need,
section 3.5).

score(t, x) = q_t . k_{t - x}
"""

from ._position import Position


class NoPosition(Position):
    needs_distance = False
