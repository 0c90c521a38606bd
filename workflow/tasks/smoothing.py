"""The loss of sequences: cross-entropy with smoothed targets (Attention Is All You Need, section 5.4).

Scores of N pieces over V take most of the memory of a small net, and more time to read than to compute with. So they
are read twice, a few rows at a time that a CPU's cache holds, and nothing of their size is kept besides their gradient.
"""

import torch
from torch import Tensor

from workflow.training.update import in_full

CACHED = 1 << 17  # numbers; half of a small cache


def smoothed_loss(logits: Tensor, following: Tensor, smoothing: float, padding: int) -> tuple[Tensor, Tensor]:
    """Smoothed loss and log-loss in nats of logits N V, means over the pieces `following` N that are no padding.

    Of a piece's target 1 - smoothing lies on the piece and the rest evenly on all V. The log-loss has no gradient.
    """
    return _SmoothedLoss.apply(logits, following, smoothing, padding)


class _SmoothedLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, following, smoothing, padding):
        is_piece = following != padding
        weights = in_full(is_piece.to(logits.dtype)) / is_piece.sum()
        of_piece, of_all = [], []  # -log p of the piece that follows, and of all V on average
        for rows in _rows(logits):
            logs = in_full(logits[rows]).log_softmax(-1)
            of_piece.append(-logs.gather(1, following[rows, None])[:, 0])
            of_all.append(-logs.mean(-1))
        log_loss = (torch.cat(of_piece) * weights).sum()
        even = (torch.cat(of_all) * weights).sum()
        ctx.save_for_backward(logits, following, weights)
        ctx.smoothing = smoothing
        ctx.mark_non_differentiable(log_loss)
        return (1 - smoothing) * log_loss + smoothing * even, log_loss

    @staticmethod
    def backward(ctx, slope, _):
        """softmax(logits) less the smoothed target, for each piece."""
        logits, following, weights = ctx.saved_tensors
        slopes = weights * slope
        gradient = torch.empty_like(in_full(logits))
        for rows in _rows(logits):
            part = torch.softmax(in_full(logits[rows]), -1, out=gradient[rows])
            part.sub_(ctx.smoothing / logits.shape[1])
            part.scatter_add_(1, following[rows, None], part.new_full((len(part), 1), ctx.smoothing - 1))
            part.mul_(slopes[rows, None])
        return gradient.to(logits.dtype), None, None, None


def _rows(logits: Tensor) -> list[slice]:
    """Rows that are read at once: on a CPU as many as its cache holds."""
    count = len(logits) if logits.device.type != "cpu" else max(1, CACHED // logits.shape[1])
    return [slice(start, start + count) for start in range(0, len(logits), max(1, count))]
