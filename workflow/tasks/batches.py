"""Sentence pairs in batches counted in pieces, and their loss (Attention Is All You Need, sections
5.1 and 5.4).

An epoch: all pairs, shuffled, sorted by length, cut into batches of at most `tokens` pieces on
either side, padding included; then the batches are shuffled.

The loss is cross-entropy with smoothed targets. Scores of N pieces over V take most of the memory
of a small model, and more time to read than to compute with. So they are read twice, a few rows at
a time that a CPU's cache holds, and nothing of their size is kept besides their gradient.
"""

import math

import numpy as np
import torch
from torch import Tensor

from workflow.tasks.store import BOS, EOS, PAD
from workflow.training.hardware import in_full, precision
from workflow.training.processes import ALONE, Devices

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
    """Stack targets between <bos> and <eos>, B T + 1.

    Without the last column they are the inputs, without the first what follows them.
    """
    return padded(sentences, (BOS,), (EOS,))


def cut_batches(lengths: np.ndarray, order: np.ndarray, tokens: int) -> list[np.ndarray]:
    """Cut `order`, short pairs first, into batches of a padded size of at most `tokens`.

    lengths: of each pair's longer side. The padded size is the number of pairs times the longest.
    """
    batches = []
    start = 0
    longest = 0
    for position, index in enumerate(order):
        length = int(lengths[index])
        longest = max(longest, length)
        size = (position - start + 1) * longest
        if position > start and size > tokens:
            batches.append(order[start:position])
            start = position
            longest = length
    batches.append(order[start:])
    return batches


class Batches:
    """Batches of training pairs without end; the state brings back the very next batch."""

    def __init__(self, split, tokens: int, seed: int, read=sources):
        """Begin the first epoch. read: makes a tensor of sources, one row each."""
        self.split = split
        self.tokens = tokens
        self.sources = read
        # lengths of source and target, N x 2, each with its end token
        lengths = [
            [len(sentence) + 1 for sentence in side] for side in (split.source, split.target)
        ]
        self.sizes = np.array(lengths).T
        self.generator = torch.Generator().manual_seed(seed)
        self._begin()

    def _begin(self) -> None:
        """Begin an epoch, from the state of the generator as it is now."""
        self.before = self.generator.get_state()
        self.position = 0
        shuffled = torch.randperm(len(self.sizes), generator=self.generator).numpy()
        # sorted by target, then source; pairs of equal lengths stay shuffled
        by_length = np.lexsort(self.sizes[shuffled].T)
        order = shuffled[by_length]
        batches = cut_batches(self.sizes.max(1), order, self.tokens)
        turns = torch.randperm(len(batches), generator=self.generator)
        self.epoch = [batches[turn] for turn in turns]

    def read(self) -> tuple[Tensor, Tensor]:
        """Return the next batch: sources, B N where they are sentences, and targets B T + 1."""
        if self.position == len(self.epoch):
            self._begin()
        pairs = self.epoch[self.position]
        self.position += 1
        read = self.sources([self.split.source[i] for i in pairs])
        written = targets([self.split.target[i] for i in pairs])
        return read, written

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
    """Give (loss, log-loss, weight) of each batch, or of this device's part of it.

    The weight is its share of all the pieces.
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
    parts = []
    if len(batches) % devices.count == 0:
        for source, target in batches[devices.rows(len(batches))]:
            parts.append((source, target, count_pieces(target)))
        return parts
    mine = slice(devices.rank, None, devices.count)
    for source, target in batches:
        rows = len(target[mine])
        kept = mine if rows else slice(1)
        pieces = count_pieces(target) * rows / len(target)
        parts.append((source[kept], target[kept], pieces))
    return parts


def loss(logits: Tensor, following: Tensor, smoothing: float) -> tuple[Tensor, Tensor]:
    """Compute the smoothed loss and the log-loss of logits B T V, in nats.

    Both are means over the pieces that are no padding. A piece's target is 1 - smoothing on the
    piece itself, and the rest evenly on all V. The log-loss has no gradient.
    """
    return _SmoothedLoss.apply(logits.flatten(0, 1), following.flatten(), smoothing)


class _SmoothedLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, following, smoothing):
        is_piece = following != PAD
        weights = in_full(is_piece.to(logits.dtype)) / is_piece.sum()
        of_piece = []  # -log p of the piece that follows
        of_all = []  # -log p of all V, on average
        for rows in _rows(logits):
            logs = in_full(logits[rows]).log_softmax(-1)
            chosen = logs.gather(1, following[rows, None])
            of_piece.append(-chosen[:, 0])
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
            # in place, for the gradient is as large as the logits
            part = torch.softmax(in_full(logits[rows]), -1, out=gradient[rows])
            part.sub_(ctx.smoothing / logits.shape[1])
            less = part.new_full((len(part), 1), ctx.smoothing - 1)
            part.scatter_add_(1, following[rows, None], less)
            part.mul_(slopes[rows, None])
        return gradient.to(logits.dtype), None, None


def _rows(logits: Tensor) -> list[slice]:
    """Cut the rows into those that are read at once: on a CPU as many as its cache holds."""
    count = len(logits)
    if logits.device.type == "cpu":
        count = CACHED // logits.shape[1]
    count = max(1, count)
    return [slice(start, start + count) for start in range(0, len(logits), count)]
