"""The formulas of Adaptive Attention Span: parameters and MACs from model sizes. No torch.

L layers, d width, h heads, dh head width, ff feed-forward width, S span, V vocabulary size.
"""

from workflow.tasks.formula import mac


def feed_forward_share(L: int, d: int, ff: int, S: float) -> float:
    """Fraction of the MACs (`mac`) in the feed-forward layers (section 3: 62 % at S = 256)."""
    return L * 2 * d * ff / mac(L, d, ff, S)


def attention_share(L: int, d: int, ff: int, S: float) -> float:
    """Fraction of the MACs (`mac`) in the attention layers, including projections (section 3: 82 %
    at S = 8192).
    """
    return L * (4 * d**2 + 2 * S * d) / mac(L, d, ff, S)


def score_and_value_share(L: int, d: int, ff: int, S: float) -> float:
    """Fraction of the MACs (`mac`) that grows with the span: the products with keys and values."""
    return L * 2 * S * d / mac(L, d, ff, S)


def as_params(V: int, d: int, h: int, L: int, S: int, ff: int, adaptive: bool = True) -> int:
    """Parameters of an adaptive-span model: embedding, output layer, one position table, L layers,
    one z per head.
    """
    layer = 4 * d**2 + 2 * d * ff + ff + d + 4 * d + (h if adaptive else 0)
    return 2 * V * d + V + d // h * S + L * layer


def txl_params(V: int, d: int, h: int, dh: int, L: int, ff: int) -> int:
    """Parameters of Transformer-XL: tied embedding and bias, u and v, L layers with a matrix W_r
    each.
    """
    return V * d + V + 2 * h * dh + L * (5 * d * h * dh + 2 * d * ff + ff + d + 4 * d)


def alrfou_params(L: int, d: int = 512, ff: int = 2048) -> int:
    """Parameters of the model of Al-Rfou et al. in training: a position table and two classifiers
    per layer.
    """
    return L * (4 * d**2 + 2 * d * ff + ff + d + 4 * d) + L * 512 * d + L * 2 * d * 256 + 256 * d


def saving(L: int, d: int, ff: int, S: float, fixed: float) -> float:
    """Fraction of the MACs (`mac`) of a fixed span that a mean span S saves (section 3: up to 70
    %).
    """
    return 1 - mac(L, d, ff, S) / mac(L, d, ff, fixed)


def span(S: float) -> float:
    """A span that equals its limit S."""
    return S
