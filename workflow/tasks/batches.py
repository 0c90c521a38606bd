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
from torch.nn.utils.rnn import pad_sequence

from workflow.tasks.store import BOS, EOS, PAD
from workflow.training.hardware import in_full, precision, send
from workflow.training.processes import ALONE, Devices

CACHED = 1 << 17  # numbers that half of a small CPU's cache holds
MOST_NATS = 709.0  # whose exponential a number still holds


def padded(sentences: list[np.ndarray], before: tuple = (), after: tuple = ()) -> Tensor:
    """Stack sentences as rows B N, each between `before` and `after` and padded at its end."""
    rows = []
    for sentence in sentences:
        tokens = map(int, sentence)
        row = torch.tensor([*before, *tokens, *after])
        rows.append(row)
    return pad_sequence(rows, batch_first=True, padding_value=PAD)


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
        # with padding: every pair takes as much as the longest
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
        source_lengths = [len(sentence) + 1 for sentence in split.source]
        target_lengths = [len(sentence) + 1 for sentence in split.target]
        self.sizes = np.array([source_lengths, target_lengths]).T
        self.generator = torch.Generator()
        self.generator.manual_seed(seed)
        self._begin()

    def _begin(self) -> None:
        """Begin an epoch, from the state of the generator as it is now."""
        self.before = self.generator.get_state()
        self.position = 0
        count = len(self.sizes)
        shuffled = torch.randperm(count, generator=self.generator)
        shuffled = shuffled.numpy()
        # sorted by target, then source; pairs of equal lengths stay shuffled
        sizes = self.sizes[shuffled]
        by_length = np.lexsort(sizes.T)
        order = shuffled[by_length]
        longer_sides = self.sizes.max(1)
        batches = cut_batches(longer_sides, order, self.tokens)
        count = len(batches)
        turns = torch.randperm(count, generator=self.generator)
        self.epoch = [batches[turn] for turn in turns]

    def read(self) -> tuple[Tensor, Tensor]:
        """Return the next batch: sources, B N where they are sentences, and targets B T + 1."""
        if self.position == len(self.epoch):
            self._begin()
        pairs = self.epoch[self.position]
        self.position += 1
        source = [self.split.source[pair] for pair in pairs]
        target = [self.split.target[pair] for pair in pairs]
        return self.sources(source), targets(target)

    def state_dict(self) -> dict:
        return {"before": self.before, "position": self.position}

    def load_state_dict(self, state: dict) -> None:
        before = state["before"].cpu()
        self.generator.set_state(before)
        self._begin()
        self.position = state["position"]


def perplexity(nats: float) -> float:
    """Compute the perplexity per piece, infinite where it is more than a number can hold."""
    if nats > MOST_NATS:
        return math.inf
    return math.exp(nats)


def count_pieces(target: Tensor) -> int:
    """Count the pieces of targets B T + 1 that are to be predicted: all but <bos> and padding."""
    to_predict = target[:, 1:]
    is_piece = to_predict != PAD
    return int(is_piece.sum())


def losses(net, training, batches: list[tuple[Tensor, Tensor]], devices: Devices = ALONE):
    """Give (loss, log-loss, weight) of each batch, or of this device's part of it.

    The weight is its share of all the pieces. batches: on the CPU, which counts their pieces.
    """
    device = next(net.parameters()).device
    total = 0
    for _, target in batches:
        total += count_pieces(target)
    for source, target, pieces in share(batches, devices):
        # a mean over its own pieces becomes one over its share
        times = count_pieces(target) / pieces if pieces else 1
        source = send(source, device)
        target = send(target, device)
        # from each piece the next one is predicted
        given = target[:, :-1]
        following = target[:, 1:]
        with precision(training, device):
            logits = net(source, given)
        smoothed, log_loss = loss(logits, following, training.smoothing)
        weight = devices.count * pieces / total
        yield smoothed * times, log_loss * times, weight


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
    count = len(batches)
    if count % devices.count == 0:
        own_batches = batches[devices.rows(count)]
        for source, target in own_batches:
            pieces = count_pieces(target)
            parts.append((source, target, pieces))
        return parts
    # every N-th, for neighbours are about as long
    own_rows = slice(devices.rank, None, devices.count)
    for source, target in batches:
        rows = len(target[own_rows])
        kept = own_rows if rows else slice(1)
        pieces = count_pieces(target) * rows / len(target)
        part = (source[kept], target[kept], pieces)
        parts.append(part)
    return parts


def loss(logits: Tensor, following: Tensor, smoothing: float) -> tuple[Tensor, Tensor]:
    """Compute the smoothed loss and the log-loss of logits B T V, in nats.

    Both are means over the pieces that are no padding. A piece's target is 1 - smoothing on the
    piece itself, and the rest evenly on all V. The log-loss has no gradient.
    """
    rows = logits.flatten(0, 1)  # N V
    pieces = following.flatten()  # N
    return _SmoothedLoss.apply(rows, pieces, smoothing)


class _SmoothedLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, following, smoothing):
        is_piece = following != PAD
        ones = is_piece.to(logits.dtype)
        weights = in_full(ones) / is_piece.sum()
        of_piece = []  # -log p of the piece that follows
        of_all = []  # -log p of all V, on average
        for rows in _rows(logits):
            scores = in_full(logits[rows])
            logs = scores.log_softmax(-1)
            right = following[rows, None]
            chosen = logs.gather(1, right)
            of_piece.append(-chosen[:, 0])
            of_all.append(-logs.mean(-1))
        weighted = torch.cat(of_piece) * weights
        log_loss = weighted.sum()
        weighted = torch.cat(of_all) * weights
        even = weighted.sum()
        ctx.save_for_backward(logits, following, weights)
        ctx.smoothing = smoothing
        ctx.mark_non_differentiable(log_loss)
        smoothed = (1 - smoothing) * log_loss + smoothing * even
        return smoothed, log_loss

    @staticmethod
    def backward(ctx, slope, _):
        """Compute softmax(logits) less the smoothed target, for each piece."""
        logits, following, weights = ctx.saved_tensors
        # softmax - target, row by row
        slopes = weights * slope
        gradient = torch.empty_like(in_full(logits))
        symbols = logits.shape[1]
        for rows in _rows(logits):
            # in place, for the gradient is as large as the logits
            scores = in_full(logits[rows])
            part = torch.softmax(scores, -1, out=gradient[rows])
            # the target: smoothing / V on every piece, 1 - smoothing more on the right one
            part.sub_(ctx.smoothing / symbols)
            shape = (len(part), 1)
            less = part.new_full(shape, ctx.smoothing - 1)
            right = following[rows, None]
            part.scatter_add_(1, right, less)
            part.mul_(slopes[rows, None])
        return gradient.to(logits.dtype), None, None


def _rows(logits: Tensor) -> list[slice]:
    """Cut the rows into those that are read at once: on a CPU as many as its cache holds."""
    total = len(logits)
    count = total
    if logits.device.type == "cpu":
        symbols = logits.shape[1]
        count = CACHED // symbols
    count = max(1, count)
    starts = range(0, total, count)
    return [slice(start, start + count) for start in starts]
