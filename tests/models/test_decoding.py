"""Beam search against a plain search of each sentence, and cases worked out by hand."""

import math
from dataclasses import dataclass

import pytest
import torch

from models.decoding import beam
from tests._models import LONGEST, PLAIN, translator
from tests.models.test_encoder_decoder import sentences

PAD = 0
BOS = 1
EOS = 2


def wild(seed=0):
    """Make a model that has learned nothing but is sure of itself, so that sentences differ."""
    model = translator(PLAIN, seed, tie_embeddings=False).eval()
    model.output.weight.data.mul_(6)
    for block in model.decoder:
        block.attention.out.weight.data.mul_(6)  # what was written before the last word counts
    return model


def log_probabilities(model, source, target: list[int]) -> list[float]:
    with torch.no_grad():
        logits = model(source, torch.tensor([[BOS, *target]]))
    return logits[0, -1].log_softmax(-1).tolist()


def plain_beam(model, source, width, alpha, max_length):
    """Search for one sentence, reading every prefix anew and never stopping early."""
    beams = [(0.0, 0.0, [])]  # score, sum of log-probabilities, target
    finished = []
    for step in range(1, max_length + 1):
        extended = []
        for score, so_far, target in beams:
            if target[-1:] == [EOS]:
                extended.append((score, so_far, target))
                continue
            steps = log_probabilities(model, source, target)
            end = len(steps) if step < max_length else EOS + 1
            for token in range(EOS, end):
                total = so_far + steps[token]
                score = total / ((5 + step) / 6) ** alpha
                extended.append((score, total, [*target, token]))
        beams = sorted(extended, reverse=True)[:width]
        for score, _, target in beams:
            if target[-1] == EOS:
                finished.append((score, target))
    _, best = max(finished)
    return best[:-1]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("width, alpha", [(1, 0.0), (2, 0.0), (3, 0.6)])
def test_a_beam_equals_the_plain_search_of_each_sentence(width, alpha, seed):
    model = wild(seed)
    source = sentences((9, 5, 7))
    targets = beam(model, source, width=width, alpha=alpha, max_length=10)
    for row, target in zip(source, targets, strict=True):
        alone = row[row != PAD][None]
        assert target == plain_beam(model, alone, width, alpha, 10)


@dataclass
class Written:
    """What each row has written: R T, and B N of the sources."""

    written: torch.Tensor
    visible: torch.Tensor

    def rows(self, index):
        return Written(self.written[index], self.visible)

    def sentences(self, index):
        by_sentence = self.written.unflatten(0, (len(self.visible), -1))
        return Written(by_sentence[index].flatten(0, 1), self.visible[index])


class Scripted(torch.nn.Module):
    """A model whose next token depends on what was written alone; it counts its steps."""

    max_length = 100

    def __init__(self, otherwise: dict, table: dict):
        super().__init__()
        self.otherwise = otherwise
        self.table = table
        self.steps = 0

    def encode(self, source):
        nothing = torch.empty(len(source), 0, dtype=torch.long)
        return Written(nothing, source != PAD)

    def step(self, tokens, state):
        self.steps += 1
        written = torch.cat([state.written, tokens[:, None]], 1)
        logits = torch.full((len(tokens), 6), -math.inf)
        for row, read in zip(logits, written.tolist(), strict=True):
            after_bos = tuple(read[1:])
            for token, p in self.table.get(after_bos, self.otherwise).items():
                row[token] = math.log(p)
        return logits, Written(written, state.visible)


# a hypothesis that ends early, .5, beats a longer one of .5 x .9 x .9 = .405
EARLY = {
    (): {3: 0.5, 4: 0.5},
    (3,): {EOS: 1.0},
    (4,): {5: 0.9, EOS: 0.1},
    (4, 5): {EOS: 0.9, 3: 0.1},
}
RESERVED = {(): {PAD: 0.5, BOS: 0.3, 3: 0.2}, (3,): {PAD: 0.9, EOS: 0.1}}
SOURCES = torch.tensor([[3, 3, EOS], [EOS, 0, 0]])


@pytest.mark.parametrize(
    "table, width, alpha, target",
    [
        (EARLY, 2, 0.0, [3]),
        (EARLY, 2, 3.0, [4, 5]),  # its length makes up for it
        (RESERVED, 2, 0.6, [3]),  # pad and bos are never written
    ],
)
def test_by_hand(table, width, alpha, target):
    model = Scripted({EOS: 1.0}, table)
    assert beam(model, SOURCES[:1], width=width, alpha=alpha, max_length=9) == [target]


def test_it_stops_when_no_unfinished_hypothesis_can_win():
    model = Scripted({3: 1.0}, {(): {EOS: 0.9, 3: 0.1}})
    assert beam(model, SOURCES[:1], width=2, alpha=0.0, max_length=60) == [[]]
    assert model.steps == 1


@pytest.mark.parametrize(
    "max_length, tokens",
    [
        (1, [1, 1]),
        (7, [7, 7]),
        (100, [53, 51]),
    ],
)
def test_at_its_limit_a_sentence_has_only_eos_left(max_length, tokens):
    """The limit is the source's 3 tokens or 1, and 50 more, or `max_length`; eos is one of them."""
    model = Scripted({3: 0.9, EOS: 0.1}, {})
    targets = beam(model, SOURCES, width=1, alpha=0.0, max_length=max_length)
    assert targets == [[3] * (count - 1) for count in tokens]
    assert model.steps == max(tokens)


@pytest.mark.parametrize(
    "width, alpha, max_length",
    [
        (0, 0.6, 9),
        (1, -0.1, 9),
        (1, 0.6, 0),
        (1, 0.6, LONGEST + 1),
    ],
)
def test_what_cannot_be_searched_is_refused(width, alpha, max_length):
    with pytest.raises(ValueError, match="max_length"):
        beam(wild(), sentences(), width=width, alpha=alpha, max_length=max_length)
