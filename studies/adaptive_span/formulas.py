"""The formulas of Adaptive Attention Span: parameters and multiply-adds from a net's sizes. Plain numbers, no torch.

L layers, d width, h heads, dh head width, ff inner width, S span, V vocabulary.
"""

from workflow.tasks.formula import mac


def feed_forward_share(L: int, d: int, ff: int, S: float) -> float:
    """Share of `mac` in the feed-forward layers (section 3: 62 % at S = 256)."""
    return L * 2 * d * ff / mac(L, d, ff, S)


def attention_share(L: int, d: int, ff: int, S: float) -> float:
    """Share of `mac` in the attention layers, projections included (section 3: 82 % at S = 8192)."""
    return L * (4 * d**2 + 2 * S * d) / mac(L, d, ff, S)


def score_and_value_share(L: int, d: int, ff: int, S: float) -> float:
    """Share of `mac` that grows with the span: the products with keys and values."""
    return L * 2 * S * d / mac(L, d, ff, S)


def as_params(V: int, d: int, h: int, L: int, S: int, ff: int, adaptive: bool = True) -> int:
    """Adaptive Attention Span: embeddings, output, one position table, L layers, one z per head if adaptive."""
    layer = 4 * d**2 + 2 * d * ff + ff + d + 4 * d + (h if adaptive else 0)
    return 2 * V * d + V + d // h * S + L * layer


def txl_params(V: int, d: int, h: int, dh: int, L: int, ff: int) -> int:
    """Transformer-XL: a tied embedding, its bias, u and v, L layers with a matrix W_r each."""
    return V * d + V + 2 * h * dh + L * (5 * d * h * dh + 2 * d * ff + ff + d + 4 * d)


def alrfou_params(L: int, d: int = 512, ff: int = 2048) -> int:
    """Al-Rfou et al. in training: a position table and two classifiers in every layer."""
    return L * (4 * d**2 + 2 * d * ff + ff + d + 4 * d) + L * 512 * d + L * 2 * d * 256 + 256 * d


def saving(L: int, d: int, ff: int, S: float, fixed: float) -> float:
    """How much of `mac` at the fixed span a mean span S saves (section 3: up to 70 %)."""
    return 1 - mac(L, d, ff, S) / mac(L, d, ff, fixed)


def span(S: float) -> float:
    """A span that the setting itself fixes."""
    return S
