"""The scores as they are.

s(t) = 1
"""

from ._score_scale import ScoreScale


class NoScale(ScoreScale):
    pass
