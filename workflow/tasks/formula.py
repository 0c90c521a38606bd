"""The multiply-adds of a net of characters by the formula of Adaptive Attention Span, which every
record holds.

One FLOP of that paper is one multiply-add per predicted character; the position term, the output
layer, softmax and norms are not counted, and keys and values of the past are taken as stored.
"""


def mac(L: int, d: int, ff: int, S: float) -> float:
    """Compute the #FLOPS columns of Adaptive Attention Span, Tables 1 and 2; S is the average
    span.
    """
    # In one expression, which the page of formulas shows: projections, feed-forward layer, scores
    # and values.
    return L * (4 * d**2 + 2 * d * ff + 2 * S * d)
