"""Sentence pairs in batches counted in pieces (Attention Is All You Need, section 5.1).

An epoch: all pairs, shuffled, sorted by length, cut into batches of at most `tokens` pieces on either side, padding
included; then the batches are shuffled.
"""

import numpy as np
import torch
from torch import Tensor

from workflow.tasks.store import BOS, EOS, PAD


def padded(sentences: list[np.ndarray], before: tuple = (), after: tuple = ()) -> Tensor:
    """B N: each sentence between `before` and `after`, padded at its end."""
    rows = [torch.tensor([*before, *map(int, sentence), *after]) for sentence in sentences]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)


def sources(sentences: list[np.ndarray]) -> Tensor:
    """Sources end in <eos>."""
    return padded(sentences, after=(EOS,))


def targets(sentences: list[np.ndarray]) -> Tensor:
    """Targets stand between <bos> and <eos>: without their last column inputs, without their first what follows."""
    return padded(sentences, (BOS,), (EOS,))


def cut_batches(lengths: np.ndarray, order: np.ndarray, tokens: int) -> list[np.ndarray]:
    """`order`, short pairs first, into runs whose padded size, number times longest, is at most `tokens`."""
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
        """read: makes a tensor of sources, one row each."""
        self.split, self.tokens, self.sources = split, tokens, read
        lengths = [(len(s) + 1, len(t) + 1) for s, t in zip(split.source, split.target, strict=True)]
        self.sizes = np.array(lengths)
        self.generator = torch.Generator().manual_seed(seed)
        self._begin()

    def _begin(self) -> None:
        """A new epoch, from the state of the generator as it is now."""
        self.before, self.position = self.generator.get_state(), 0
        shuffled = torch.randperm(len(self.sizes), generator=self.generator).numpy()
        order = shuffled[np.lexsort(self.sizes[shuffled].T)]
        batches = cut_batches(self.sizes.max(1), order, self.tokens)
        self.epoch = [batches[i] for i in torch.randperm(len(batches), generator=self.generator)]

    def read(self) -> tuple[Tensor, Tensor]:
        """Sources, B N where they are sentences, and targets B T + 1."""
        if self.position == len(self.epoch):
            self._begin()
        pairs = self.epoch[self.position]
        self.position += 1
        return self.sources([self.split.source[i] for i in pairs]), targets([self.split.target[i] for i in pairs])

    def state_dict(self) -> dict:
        return {"before": self.before, "position": self.position}

    def load_state_dict(self, state: dict) -> None:
        self.generator.set_state(state["before"].cpu())
        self._begin()
        self.position = state["position"]
