"""The formulas of Attention Is All You Need: parameters and training cost. No torch.

N layers of encoder and decoder, d width, h heads, dk and dv key and value width, ff feed-forward
width, V vocabulary.
"""


def aiayn_params(N: int, d: int, ff: int, h: int, dk: int, dv: int, V: int) -> int:
    """Parameters of a Transformer (Table 3): encoder and decoder layers and one shared embedding of
    V rows.
    """
    attention = 2 * d * h * dk + 2 * d * h * dv
    feed_forward = 2 * d * ff + ff + d
    return (
        N * (attention + feed_forward + 4 * d) + N * (2 * attention + feed_forward + 6 * d) + V * d
    )


def train_cost(seconds: float, gpus: int, flops_per_s: float = 9.5e12) -> float:
    """Training cost (Table 2): time × GPUs × sustained single-precision FLOP/s."""
    return seconds * gpus * flops_per_s


def ratio(part: float, whole: float) -> float:
    """Ratio of two published training costs (section 6.1: less than 1/4)."""
    return part / whole
