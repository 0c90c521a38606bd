"""The papers' closed formulas: parameters and multiply-accumulates from a model's sizes. Plain numbers, no torch.

L layers, d width, h heads, dh head width, ff inner width, S span, V vocabulary, N layers of encoder and of decoder.
One FLOP of Adaptive Attention Span is one multiply-accumulate per predicted character; the position term, the output
layer, softmax and norms are not counted, and keys and values of the past are taken as stored.
"""


def mac(L: int, d: int, ff: int, S: float) -> float:
    """The #FLOPS columns of Adaptive Attention Span, Tables 1 and 2; S is the average span."""
    return L * (4 * d**2 + 2 * d * ff + 2 * S * d)


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


def aiayn_params(N: int, d: int, ff: int, h: int, dk: int, dv: int, V: int) -> int:
    """Attention Is All You Need, Table 3: encoder and decoder layers and one shared embedding of V rows."""
    attention = 2 * d * h * dk + 2 * d * h * dv
    feed_forward = 2 * d * ff + ff + d
    return N * (attention + feed_forward + 4 * d) + N * (2 * attention + feed_forward + 6 * d) + V * d


def train_cost(seconds: float, gpus: int, flops_per_s: float = 9.5e12) -> float:
    """Attention Is All You Need, Table 2: time x GPUs x sustained single-precision speed."""
    return seconds * gpus * flops_per_s


def ratio(part: float, whole: float) -> float:
    """One printed cost over another (Attention Is All You Need, section 6.1: less than 1/4)."""
    return part / whole


def saving(L: int, d: int, ff: int, S: float, fixed: float) -> float:
    """How much of `mac` at the fixed span a mean span S saves (section 3: up to 70 %)."""
    return 1 - mac(L, d, ff, S) / mac(L, d, ff, fixed)


def span(S: float) -> float:
    """A span that the setting itself fixes."""
    return S


FORMULAS = {
    formula.__name__: formula
    for formula in (
        mac,
        feed_forward_share,
        attention_share,
        saving,
        span,
        as_params,
        txl_params,
        alrfou_params,
        aiayn_params,
        train_cost,
        ratio,
    )
}
