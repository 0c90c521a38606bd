"""Sentence pairs in batches counted in pieces, and their loss (Attention Is All You Need, sections
5.1 and 5.4).

An epoch: all pairs, shuffled, sorted by length, cut into batches of at most `tokens` pieces on
either side, padding included; then the batches are shuffled.

The loss is cross-entropy with smoothed targets. Scores of N pieces over V take most of the memory
of a small net, and more time to read than to compute with. So they are read twice, a few rows at a
time that a CPU's cache holds, and nothing of their size is kept besides their gradient.
"""

import math

import numpy as np
import torch
from torch import Tensor

from workflow.tasks.store import BOS, EOS, PAD
from workflow.training.devices import ALONE, Devices
from workflow.training.precision import in_full, precision

CACHED = 1 << 17  # numbers that half of a small CPU's cache holds
MOST_NATS = 709.0  # whose exponential a number still holds


def padded(sentences: list[np.ndarray], before: tuple = (), after: tuple = ()) -> Tensor:
    """Stack sentences as rows B N, each between `before` and `after` and padded at its end."""
    rows = [torch.tensor([*before, *map(int, sentence), *after]) for sentence in sentences]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)


def sources(sentences: list[np.ndarray]) -> Tensor:
    """Stack sources as rows B N, each with <eos> at its end."""
    return padded(sentences, after=(EOS,))


def targets(sentences: list[np.ndarray]) -> Tensor:
    """Stack targets between <bos> and <eos>: inputs without the last column, what follows without
    the first.
    """
    return padded(sentences, (BOS,), (EOS,))


def cut_batches(lengths: np.ndarray, order: np.ndarray, tokens: int) -> list[np.ndarray]:
    """Cut `order`, short pairs first, into batches whose padded size, pairs times the longest, is
    at most `tokens`.
    """
    batches, start, longest = [], 0, 0
    for position, index in enumerate(order):
        longest = max(longest, int(lengths[index]))
        if position > start and (position - start + 1) * longest > tokens:
            batches.append(order[start:position])
            start, longest = position, int(lengths[index])
    return [*batches, order[start:]]


class Batches:
    """Batches of training pairs without end; the state brings back the very next batch."""

    def __init__(self, split, tokens: int, seed: int, read=sources):
        """Begin the first epoch. read: makes a tensor of sources, one row each."""
        self.split, self.tokens, self.sources = split, tokens, read
        self.sizes = np.array(
            [(len(s) + 1, len(t) + 1) for s, t in zip(split.source, split.target, strict=True)]
        )
        self.generator = torch.Generator().manual_seed(seed)
        self._begin()

    def _begin(self) -> None:
        """Begin an epoch, from the state of the generator as it is now."""
        self.before, self.position = self.generator.get_state(), 0
        shuffled = torch.randperm(len(self.sizes), generator=self.generator).numpy()
        order = shuffled[np.lexsort(self.sizes[shuffled].T)]
        batches = cut_batches(self.sizes.max(1), order, self.tokens)
        self.epoch = [batches[i] for i in torch.randperm(len(batches), generator=self.generator)]

    def read(self) -> tuple[Tensor, Tensor]:
        """Return the sources of the next batch, B N where they are sentences, and its targets B T +
        1.
        """
        if self.position == len(self.epoch):
            self._begin()
        pairs = self.epoch[self.position]
        self.position += 1
        return self.sources([self.split.source[i] for i in pairs]), targets(
            [self.split.target[i] for i in pairs]
        )

    def state_dict(self) -> dict:
        return {"before": self.before, "position": self.position}

    def load_state_dict(self, state: dict) -> None:
        self.generator.set_state(state["before"].cpu())
        self._begin()
        self.position = state["position"]


def perplexity(nats: float) -> float:
    """Compute the perplexity per piece, infinite where it is more than a number can hold."""
    return math.inf if nats > MOST_NATS else math.exp(nats)


def count_pieces(target: Tensor) -> int:
    """Count the pieces of targets B T + 1 that are to be predicted: all but <bos> and padding."""
    return int((target[:, 1:] != PAD).sum())


def losses(net, training, batches: list[tuple[Tensor, Tensor]], devices: Devices = ALONE):
    """Give (loss, log-loss, weight) of each batch, or of this device's part: weight is its share of
    all the pieces.
    """
    total = sum(count_pieces(target) for _, target in batches)
    for source, target, pieces in share(batches, devices):
        with precision(training, source.device):
            logits = net(source, target[:, :-1])
        smoothed, log_loss = loss(logits, target[:, 1:], training.smoothing)
        # a mean over its own pieces becomes one over its share
        times = count_pieces(target) / pieces if pieces else 1
        yield smoothed * times, log_loss * times, devices.count * pieces / total


def share(
    batches: list[tuple[Tensor, Tensor]], devices: Devices
) -> list[tuple[Tensor, Tensor, float]]:
    """Take this device's part of an update's batches: (sources, targets, pieces).

    Whole batches where all devices get as many, else every N-th sentence of each batch, padded as
    the batch is. pieces: of a batch; of some of its sentences what as many have on average, so that
    a penalty, a mean over sentences and their padding, is shared like the loss. 0 where a batch has
    too few: a device then reads one that does not count.
    """
    if len(batches) % devices.count == 0:
        return [
            (source, target, count_pieces(target))
            for source, target in batches[devices.rows(len(batches))]
        ]
    parts = []
    for source, target in batches:
        mine = slice(devices.rank, None, devices.count)
        rows = len(target[mine])
        kept = mine if rows else slice(1)
        parts.append((source[kept], target[kept], count_pieces(target) * rows / len(target)))
    return parts


def loss(logits: Tensor, following: Tensor, smoothing: float) -> tuple[Tensor, Tensor]:
    """Compute the smoothed loss and the log-loss, in nats, of logits B T V: means over the pieces
    that are no padding.

    A piece's target is 1 - smoothing on the piece itself, and the rest evenly on all V. The
    log-loss has no gradient.
    """
    return _SmoothedLoss.apply(logits.flatten(0, 1), following.flatten(), smoothing)


class _SmoothedLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, following, smoothing):
        is_piece = following != PAD
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
        """Compute softmax(logits) less the smoothed target, for each piece."""
        logits, following, weights = ctx.saved_tensors
        slopes = weights * slope
        gradient = torch.empty_like(in_full(logits))
        for rows in _rows(logits):
            part = torch.softmax(in_full(logits[rows]), -1, out=gradient[rows])
            part.sub_(ctx.smoothing / logits.shape[1])
            part.scatter_add_(
                1, following[rows, None], part.new_full((len(part), 1), ctx.smoothing - 1)
            )
            part.mul_(slopes[rows, None])
        return gradient.to(logits.dtype), None, None


def _rows(logits: Tensor) -> list[slice]:
    """Cut the rows into those that are read at once: on a CPU as many as its cache holds."""
    count = len(logits) if logits.device.type != "cpu" else max(1, CACHED // logits.shape[1])
    return [slice(start, start + count) for start in range(0, len(logits), max(1, count))]
