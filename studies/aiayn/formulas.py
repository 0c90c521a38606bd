"""The formulas of Attention Is All You Need: parameters and training cost. Plain numbers, no torch.

N layers of encoder and of decoder, d width, h heads, dk and dv widths of key and value, ff inner width, V vocabulary.
"""


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
