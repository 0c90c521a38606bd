"""Contiguous streams, read and scored block by block (Adaptive Attention Span, section 3).

the corpus, cut into B streams      abcdefgh|ijklmnop       B = 2
a step reads T characters of each   abc      ijk            T = 3, inputs
and predicts the ones after them    bcd      jkl            targets
the next step reads on              def      lmn            what came before is in the layers'
caches
"""

import math

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from models.attention.engine.caches import streams as select_streams
from models.attention.variant import Past
from workflow.config.errors import ConfigError
from workflow.training.hardware import in_full, precision, send
from workflow.training.processes import ALONE, Devices


def cut(tokens: np.ndarray, streams: int) -> Tensor:
    """Cut tokens into streams B N/B, one after the other; the remainder is dropped."""
    length = len(tokens) // streams
    kept = tokens[: length * streams].astype(np.int64)
    return torch.from_numpy(kept).view(streams, length)


class Streams:
    """Blocks of the training corpus.

    After a pass, the next starts at a random offset below T with empty caches. devices: each reads
    its part of the streams.
    """

    def __init__(
        self,
        tokens: np.ndarray,
        batch: int,
        block: int,
        seed: int,
        device: torch.device,
        devices: Devices = ALONE,
    ):
        self.data = cut(tokens, batch)
        self.block = block
        self.position = 0
        self.device = device
        self.rows = devices.rows(batch)
        self.generator = torch.Generator()
        self.generator.manual_seed(seed)

    def read(self) -> tuple[Tensor, Tensor, bool]:
        """Return inputs (B T), targets (B T), and whether the streams begin anew.

        Then caches must be emptied.
        """
        # the character after a block must be there too, as its last target
        last = self.data.size(1) - self.block
        begins = self.position >= last
        if begins:
            offset = torch.randint(self.block, (), generator=self.generator)
            self.position = int(offset)
        end = self.position + self.block
        piece = self.data[self.rows, self.position : end + 1]
        piece = send(piece, self.device)
        self.position = end
        inputs = piece[:, :-1]
        targets = piece[:, 1:]
        return inputs, targets, begins

    def state_dict(self) -> dict:
        return {"position": self.position, "generator": self.generator.get_state()}

    def load_state_dict(self, state: dict) -> None:
        self.position = state["position"]
        self.generator.set_state(state["generator"].cpu())


def loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Compute the mean negative log-likelihood in nats."""
    scores = in_full(logits.flatten(0, 1))
    return cross_entropy(scores, targets.flatten())


def losses(net, training, inputs: Tensor, targets: Tensor, past: list[Past]):
    """Give (loss, log-loss, weight) of streams (B T) in `accumulate` parts; return new caches."""
    parts = training.accumulate
    size = len(inputs) // parts
    caches = []
    for part in range(parts):
        rows = slice(part * size, (part + 1) * size)
        # each part goes on with the caches of its own streams
        own_past = select_streams(past, rows)
        with precision(training, inputs.device):
            logits, after = net(inputs[rows], own_past)
        caches.append(after)
        log_loss = loss(logits, targets[rows])
        yield log_loss, log_loss, 1 / parts
    if parts == 1:
        return caches[0]
    return [_join(layer) for layer in zip(*caches, strict=True)]


def _join(caches: tuple[Past, ...]) -> Past:
    """Join a layer's caches of a few streams each into one of all streams."""
    # a cache is a few tensors, time first and streams second
    by_tensor = zip(*caches, strict=True)
    return tuple(torch.cat(parts, 1) for parts in by_tensor)


def bits(nats: float) -> float:
    """Convert nats to bits: per character, or per byte where the corpus is bytes."""
    return nats / math.log(2)


@torch.no_grad()
def score_text(
    net, tokens: np.ndarray, *, streams: int, block: int, limit: int = 0
) -> tuple[float, int]:
    """Compute bpc on the first `limit` tokens (0: all), and count the characters scored.

    Caches are carried along. The first character of each stream is not predicted and an incomplete
    last block is left out: of 5,000,000 characters in 8 streams and blocks of 512, 4,997,120 count.
    A plain mean of block means, as released.
    """
    read = tokens[:limit] if limit else tokens
    data = cut(read, streams)
    device = next(net.parameters()).device
    last = data.size(1) - block
    starts = range(0, last, block)
    if not starts:
        fewer = f"fewer than one block of {block} in {streams} streams"
        raise ConfigError(f"{len(tokens)} characters to score are {fewer}")
    was_training = net.training
    total = 0.0  # nats
    net.eval()
    past = net.start(streams)
    for start in starts:
        # B T + 1: inputs, and targets one character later
        piece = data[:, start : start + block + 1]
        piece = piece.to(device)
        logits, past = net(piece[:, :-1], past)
        mean = loss(logits, piece[:, 1:])
        total += mean.item()
    net.train(was_training)
    blocks = len(starts)
    scored = blocks * streams * block
    return bits(total / blocks), scored
