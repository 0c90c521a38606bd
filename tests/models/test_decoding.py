"""Beam search against exhaustive search, argmax step by step, and cases worked out by hand."""

import math
from itertools import product
from types import SimpleNamespace

import pytest
import torch

from models.decoding import beam
from tests._nets import LONGEST, translator
from tests.models.test_encoder_decoder import PLAIN, sentences

PAD, BOS, EOS = 0, 1, 2


def wild(symbols=11, seed=0, **sizes):
    """A net that has learned nothing but is sure of itself, so that sentences differ."""
    net = translator(PLAIN, symbols=symbols, seed=seed, tie_embeddings=False, **sizes).eval()
    net.output.weight.data.mul_(6)
    for block in net.decoder:
        block.attention.out.weight.data.mul_(6)  # what was written before the last word counts
    return net


def log_p(net, source, target):
    """log P of a whole target (with eos) for one source of 1 N."""
    read = torch.tensor([[BOS, *target[:-1]]])
    with torch.no_grad():
        steps = net(source, read)[0].log_softmax(-1)
    return steps[torch.arange(len(target)), torch.tensor(target)].sum().item()


def score(net, source, target, alpha):
    return log_p(net, source, target) / ((5 + len(target)) / 6) ** alpha


def every_target(symbols, max_length):
    for count in range(max_length):
        for tokens in product(range(3, symbols), repeat=count):
            yield [*tokens, EOS]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0])
@pytest.mark.parametrize("symbols", [4, 5])
def test_a_beam_as_wide_as_the_space_finds_the_best_of_all(symbols, alpha, seed):
    net, source = wild(symbols, seed), torch.tensor([[3, 3, 2, 0], [3, 2, 0, 0]])
    targets = beam(net, source, width=32, alpha=alpha, max_length=4)
    for row, target in zip(source, targets, strict=True):
        best = max(every_target(symbols, 4), key=lambda words, row=row: score(net, row[None], words, alpha))
        assert target == best[:-1]


@pytest.mark.parametrize("seed", range(4))
def test_a_beam_of_one_is_the_argmax_at_every_step(seed):
    net, source = wild(seed=seed), sentences((9, 5, 7))
    targets = beam(net, source, width=1, alpha=0.0, max_length=12)
    for row, target in zip(source, targets, strict=True):
        read = [BOS]
        while read[-1] != EOS and len(read) < 12:
            with torch.no_grad():
                logits = net(row[None], torch.tensor([read]))[0, -1]
            logits[:2] = -math.inf
            read.append(logits.argmax().item())
        assert target == [token for token in read[1:] if token != EOS]


@pytest.mark.parametrize("width", [1, 3])
def test_sentences_are_translated_alike_alone_and_together(width):
    net, source = wild(seed=3), sentences((9, 5, 7, 1))
    together = beam(net, source, width=width, alpha=0.6, max_length=LONGEST)
    for row, target in zip(source, together, strict=True):
        alone = row[row != 0][None]
        assert beam(net, alone, width=width, alpha=0.6, max_length=LONGEST) == [target]
    assert len({tuple(target) for target in together}) > 1


def plain_beam(net, source, width, alpha, max_length):
    """The same search in words: one sentence, nothing kept, never stopped early."""
    beams, best = [(0.0, 0.0, [])], (-math.inf, None)
    for step in range(1, max_length + 1):
        extended = [hypothesis for hypothesis in beams if hypothesis[2][-1:] == [EOS]]
        for _, so_far, target in (hypothesis for hypothesis in beams if hypothesis[2][-1:] != [EOS]):
            with torch.no_grad():
                steps = net(source, torch.tensor([[BOS, *target]]))[0, -1].log_softmax(-1).tolist()
            for token in [EOS] if step == max_length else range(EOS, len(steps)):
                total = so_far + steps[token]
                extended.append((total / ((5 + step) / 6) ** alpha, total, [*target, token]))
        beams = sorted(extended, reverse=True)[:width]
        best = max([best, *((score, target) for score, _, target in beams if target[-1] == EOS)])
    return best[1][:-1]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("width, alpha", [(2, 0.0), (3, 0.6), (5, 1.5)])
def test_a_beam_equals_the_plain_search(width, alpha, seed):
    net, source = wild(seed=seed), sentences((9, 5, 7))
    targets = beam(net, source, width=width, alpha=alpha, max_length=10)
    assert targets == [plain_beam(net, row[row != 0][None], width, alpha, 10) for row in source]


class Scripted:
    """Stands for a net: the next token's log-probabilities depend on what was written alone."""

    max_length, training = 100, False

    def __init__(self, table: dict, otherwise: dict):
        self.table, self.otherwise, self.steps = table, otherwise, 0

    def eval(self):
        return self

    def train(self, mode):
        return self

    def encode(self, source):
        return Written(torch.empty(len(source), 0, dtype=torch.long), source != PAD)

    def step(self, tokens, state):
        self.steps += 1
        written = torch.cat([state.written, tokens[:, None]], 1)
        logits = torch.full((len(tokens), 6), -math.inf)
        for row, read in zip(logits, written.tolist(), strict=True):
            for token, p in self.table.get(tuple(read[1:]), self.otherwise).items():
                row[token] = math.log(p)
        return logits, Written(written, state.visible)


class Written(SimpleNamespace):
    def __init__(self, written, visible):
        super().__init__(written=written, visible=visible)

    def rows(self, index):
        return Written(self.written[index], self.visible)

    def sentences(self, index):
        beams = len(self.written) // len(self.visible)
        rows = (index[:, None] * beams + torch.arange(beams)).flatten()
        return Written(self.written[rows], self.visible[index])


SOURCE = torch.tensor([[3, 3, EOS]])


def test_a_finished_hypothesis_competes_with_unfinished_ones():
    """Width 2, by hand. `3` ends at once with .5 x 1; `4` goes on with .5 and ends after 5 with .5 x .9 x .9 = .405.

    With alpha = 0 the early end, .5, wins and nothing can beat it; with alpha = 3 the length makes up for .405.
    """
    table = {(): {3: 0.5, 4: 0.5}, (3,): {EOS: 1.0}, (4,): {5: 0.9, EOS: 0.1}, (4, 5): {EOS: 0.9, 3: 0.1}}
    assert beam(Scripted(table, {EOS: 1.0}), SOURCE, width=2, alpha=0.0, max_length=9) == [[3]]
    assert beam(Scripted(table, {EOS: 1.0}), SOURCE, width=2, alpha=3.0, max_length=9) == [[4, 5]]


def test_a_beam_of_one_takes_the_likelier_step_and_a_wider_one_the_likelier_sentence():
    table = {(): {3: 0.6, 4: 0.4}, (3,): {3: 0.36, 4: 0.34, 5: 0.3}, (4,): {EOS: 1.0}}
    assert beam(Scripted(table, {EOS: 1.0}), SOURCE, width=1, alpha=0.0, max_length=9) == [[3, 3]]
    assert beam(Scripted(table, {EOS: 1.0}), SOURCE, width=2, alpha=0.0, max_length=9) == [[4]]


def test_beams_that_change_rows_keep_what_they_have_read():
    """Width 2, by hand: `3` .6 and `4` .4 become `4 5` .4 and `3 3` .33, each on the other's row."""
    table = {(): {3: 0.6, 4: 0.4}, (3,): {3: 0.55, 5: 0.45}, (4,): {5: 1.0}, (3, 5): {4: 1.0}, (4, 3): {4: 1.0}}
    assert beam(Scripted(table, {EOS: 1.0}), SOURCE, width=2, alpha=0.0, max_length=9) == [[4, 5]]


def test_it_stops_when_no_unfinished_hypothesis_can_win():
    table = {(): {EOS: 0.9, 3: 0.1}}
    net = Scripted(table, {3: 1.0})
    assert beam(net, SOURCE, width=2, alpha=0.0, max_length=60) == [[]]
    assert net.steps == 1


@pytest.mark.parametrize("max_length, tokens", [(1, 1), (7, 7), (100, 53)])
def test_at_the_limit_only_eos_is_left(max_length, tokens):
    """The limit is the source's 3 tokens and 50 more, or `max_length`; eos is one of them."""
    net = Scripted({}, {3: 0.9, EOS: 0.1})
    assert beam(net, SOURCE, width=1, alpha=0.0, max_length=max_length) == [[3] * (tokens - 1)]
    assert net.steps == tokens


def test_each_sentence_has_its_own_limit():
    source = torch.tensor([[3, 3, EOS], [EOS, 0, 0]])
    targets = beam(Scripted({}, {3: 0.9, EOS: 0.1}), source, width=1, alpha=0.0, max_length=100)
    assert [len(target) for target in targets] == [52, 50]


def test_pad_and_bos_are_never_written():
    net = Scripted({(): {0: 0.5, 1: 0.3, 3: 0.2}}, {0: 0.9, EOS: 0.1})
    assert beam(net, SOURCE, width=2, alpha=0.6, max_length=9) == [[3]]


def test_the_mode_of_the_net_is_what_it_was():
    net = wild().train()
    beam(net, sentences(), width=1, alpha=0.0, max_length=5)
    assert net.training


@pytest.mark.parametrize("width, alpha, max_length", [(0, 0.6, 9), (1, -0.1, 9), (1, 0.6, 0), (1, 0.6, LONGEST + 1)])
def test_what_cannot_be_searched_is_refused(width, alpha, max_length):
    with pytest.raises(ValueError, match="max_length"):
        beam(wild(), sentences(), width=width, alpha=alpha, max_length=max_length)
