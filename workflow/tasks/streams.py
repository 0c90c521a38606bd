"""Contiguous streams, read and scored block by block (Adaptive Attention Span, section 3).

the corpus, cut into B streams      abcdefgh|ijklmnop       B = 2
a step reads T characters of each   abc      ijk            T = 3, inputs
and predicts the ones after them    bcd      jkl            targets
the next step reads on              def      lmn            what came before is in the layers' memories
"""

import math

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from models.attention.engine.stream_cache import Past
from models.attention.engine.stream_cache import streams as of_streams
from workflow.config.errors import ConfigError
from workflow.training.gradients import precision


def cut(tokens: np.ndarray, streams: int) -> Tensor:
    """Row b holds the b-th slice of floor(N / B) tokens; the remainder is dropped."""
    length = len(tokens) // streams
    return torch.from_numpy(tokens[: length * streams].astype(np.int64)).view(streams, length)


class Streams:
    """Blocks of training text. After a pass, the next starts at a random offset below T with empty memories."""

    def __init__(self, tokens: np.ndarray, batch: int, block: int, seed: int, device: torch.device):
        self.data, self.block, self.position = cut(tokens, batch), block, 0
        if self.data.size(1) <= 2 * block:
            raise ConfigError(
                f"the training text gives {self.data.size(1)} characters to each of {batch} streams; "
                f"block T = {block} needs more than {2 * block}"
            )
        self.device = device
        self.generator = torch.Generator().manual_seed(seed)

    def read(self) -> tuple[Tensor, Tensor, bool]:
        """Inputs (B T), targets (B T), and whether the memories must be emptied first."""
        anew = self.position >= self.data.size(1) - self.block
        if anew:
            self.position = int(torch.randint(self.block, (), generator=self.generator))
        piece = self.data[:, self.position : self.position + self.block + 1].to(self.device)
        self.position += self.block
        return piece[:, :-1], piece[:, 1:], anew

    def state_dict(self) -> dict:
        return {"position": self.position, "generator": self.generator.get_state()}

    def load_state_dict(self, state: dict) -> None:
        self.position = state["position"]
        self.generator.set_state(state["generator"].cpu())


def loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean negative log-likelihood in nats."""
    return cross_entropy(logits.flatten(0, 1).float(), targets.flatten())


def losses(net, training, inputs: Tensor, targets: Tensor, past: list[Past]):
    """The streams of a batch (B T) in `accumulate` parts: (loss, log-loss, weight); the new memories."""
    parts, size, kept = training.accumulate, training.batch // training.accumulate, []
    for part in range(parts):
        rows = slice(part * size, (part + 1) * size)
        with precision(training, inputs.device):
            logits, after = net(inputs[rows], of_streams(past, rows))
        kept.append(after)
        here = loss(logits, targets[rows])
        yield here, here, 1 / parts
    return kept[0] if parts == 1 else [_together(layer) for layer in zip(*kept, strict=True)]


def _together(parts: tuple[Past, ...]) -> Past:
    """A layer's memory of all streams, from those of a few streams each."""
    return tuple(torch.cat(memories, 1) for memories in zip(*parts, strict=True))


def bits(nats: float) -> float:
    """Per character (per byte where the corpus is bytes)."""
    return nats / math.log(2)


@torch.no_grad()
def evaluate(net, tokens: np.ndarray, *, streams: int, block: int, limit: int = 0) -> tuple[float, int]:
    """bpc and the number of characters scored, on the first `limit` tokens (0: all), memories carried along.

    The first character of each stream is not predicted and an incomplete last block is left out: of 5,000,000
    characters in 8 streams and blocks of 512, 4,997,120 count. A plain mean of block means, as released.
    """
    data = cut(tokens[:limit] if limit else tokens, streams)
    device = next(net.parameters()).device
    starts = range(0, data.size(1) - block, block)
    if not starts:
        raise ConfigError(
            f"{len(tokens)} characters to evaluate are fewer than one block of {block} in {streams} streams"
        )
    before, total = net.training, 0.0
    net.eval()
    past = net.start(streams)
    for start in starts:
        piece = data[:, start : start + block + 1].to(device)
        logits, past = net(piece[:, :-1], past)
        total += loss(logits, piece[:, 1:]).item()
    net.train(before)
    return bits(total / len(starts)), len(starts) * streams * block
