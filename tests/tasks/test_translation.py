"""The task of translation: batches, loss, what is scored; that it learns and comes back."""

import math
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from tests._jobs import TRANSLATORS, bitext, translation
from tests._training import CPU, assert_same, interrupt, run_script, start, train_to_end
from workflow.config.errors import ConfigError
from workflow.costs.trained_net import build_model
from workflow.tasks import batches as loss_of_batches
from workflow.tasks import store as pairs
from workflow.tasks.batches import Batches, cut_batches, loss, losses, sources, targets
from workflow.tasks.sequences import select_fitting
from workflow.tasks.store import BOS, EOS, PAD
from workflow.tasks.translation.runner import TranslationTask
from workflow.training.loop import add_gradients


def test_batches_by_hand():
    """Lengths 2 2 3 4 9 and at most 8 pieces: 2 2 | 3 4 | 9, which alone exceeds a batch."""
    longer = np.array([5, 6])
    shorter = np.array([7])
    rows = [longer, shorter]
    assert sources(rows).tolist() == [
        [5, 6, EOS],
        [7, EOS, PAD],
    ]
    assert targets(rows).tolist() == [
        [BOS, 5, 6, EOS],
        [BOS, 7, EOS, PAD],
    ]
    lengths = np.array([2, 2, 3, 4, 9])
    order = np.arange(5)
    cut = cut_batches(lengths, order, 8)
    found = [batch.tolist() for batch in cut]
    assert found == [[0, 1], [2, 3], [4]]


def test_an_epoch_has_every_pair_once_and_the_next_another_order():
    batches = Batches(bitext().train, 80, seed=1)
    first = np.concatenate(batches.epoch).tolist()
    for _ in range(len(batches.epoch) + 1):
        batches.read()
    second = np.concatenate(batches.epoch).tolist()
    every_pair = list(range(360))
    assert sorted(first) == every_pair
    assert sorted(second) == every_pair
    assert first != second


@pytest.mark.parametrize("numbers", [1, 1 << 20])
def test_the_smoothed_loss_and_its_gradient_are_those_of_torch(numbers, monkeypatch):
    """numbers: how many logits are read at once."""
    monkeypatch.setattr(loss_of_batches, "CACHED", numbers)
    torch.manual_seed(0)
    logits = torch.randn(
        size=(3, 5, 7),
        dtype=torch.float64,
        requires_grad=True,
    )
    following = torch.randint(0, 7, (3, 5))
    following[0, 2:] = PAD
    following[2, 4:] = PAD
    smoothed, log_loss = loss(logits, following, 0.1)
    theirs = cross_entropy(
        logits.flatten(0, 1),
        following.flatten(),
        ignore_index=PAD,
        label_smoothing=0.1,
    )
    assert smoothed.item() == pytest.approx(theirs.item(), rel=1e-12)
    unsmoothed, _ = loss(logits, following, 0.0)
    assert log_loss.item() == pytest.approx(unsmoothed.item(), rel=1e-12)
    (gradient,) = torch.autograd.grad(3 * smoothed, logits)
    (expected,) = torch.autograd.grad(3 * theirs, logits)
    torch.testing.assert_close(gradient, expected, rtol=1e-12, atol=1e-14)
    assert not log_loss.requires_grad


def test_accumulated_batches_weigh_as_much_as_their_pieces():
    small = translation(net={"dropout": 0.0})
    train = bitext().train
    net = build_model(small, CPU, 13)
    steps = []
    for cuts in ([0, 3, 9], [0, 9]):
        net.zero_grad()
        batches = []
        for begin, end in pairwise(cuts):
            inputs = sources(train.source[begin:end])
            outputs = targets(train.target[begin:end])
            batches.append((inputs, outputs))
        by_batch = losses(net, small.training, batches)
        log_loss = add_gradients(net, by_batch)
        gradients = [weight.grad.clone() for weight in net.parameters()]
        steps.append([log_loss, *gradients])
    torch.testing.assert_close(*steps, rtol=1e-3, atol=1e-6)


def test_a_resumed_run_ends_as_one_never_interrupted(tmp_path):
    """Across an epoch's end, with dropout on; the weights kept for the average come back too."""
    small = translation(tokens=600)
    stopped = start(small, tmp_path / "b", bitext())
    interrupt(stopped, step=4)
    resumed = train_to_end(small, tmp_path / "b", bitext())
    whole = train_to_end(small, tmp_path / "a", bitext())
    assert_same(whole, resumed)


def test_a_second_test_is_scored_like_the_first():
    corpus = bitext()
    twice = replace(corpus, second_test=corpus.test)
    small = translation()
    task = TranslationTask(small, twice, CPU)
    net = build_model(small, CPU, len(corpus.symbols))
    task.checkpoints = [net.state_dict()]
    found = task.evaluate(net)
    for name in ("bleu", "bleu_tokenised", "chrf"):
        first = found.metrics[f"test_{name}"]
        second = found.metrics[f"second_test_{name}"]
        assert second == first
    first = found.facts["counts"]
    second = found.facts["second_test_counts"]
    assert second == first


def test_a_sentence_too_long_for_the_model_is_refused_where_it_is_scored():
    corpus = bitext()
    short = translation(net={"max_length": 5})
    with pytest.raises(ConfigError, match="dev .*max_length is 5"):
        TranslationTask(short, corpus, CPU)
    with pytest.raises(ConfigError, match="max_length = 1"):
        select_fitting(corpus, 1)
    with pytest.raises(ConfigError, match="cache = 16 .*max_length = 17"):
        translation(net={"max_length": 17})
    sentence = np.full(99, 4, np.uint16)
    sentences = [sentence] * 20
    long = replace(corpus.test, target=sentences)
    with_long = replace(corpus, second_test=long)
    with pytest.raises(ConfigError, match="target sentence 1 of second_test has 100 pieces"):
        TranslationTask(translation(), with_long, CPU)


def test_a_sentence_too_long_for_the_model_is_left_out_of_train():
    corpus = bitext()
    long = np.full(20, 4, np.uint16)
    train = corpus.train
    count = len(train.source)
    train.source.append(long)
    train.target.append(long[:2])
    without_it = select_fitting(corpus, 20)
    with_it = select_fitting(corpus, 21)
    assert len(without_it.source) == count
    assert len(with_it.source) == count + 1


def test_a_whole_run_is_a_record(tmp_path):
    small = translation(**TRANSLATORS["top_k"])
    record = run_script(small, tmp_path / "run", bitext(), pairs.write)
    assert record.status == "ok"
    first, last = record.curve
    assert first.step == 3
    assert last.step == 6
    scores = {
        "test_bleu",
        "test_bleu_tokenised",
        "test_chrf",
        "dev_bleu_tokenised_every_key",
    }
    assert scores <= record.metrics.keys()
    assert "second_test_bleu" not in record.metrics
    facts = record.facts
    assert len(facts["counts"]) == 20
    counts = Counter()
    for target in bitext().dev.target:
        counts.update(target.tolist())
        counts["<eos>"] += 1
    entropy = 0.0
    for count in counts.values():
        share = count / counts.total()
        entropy -= share * math.log2(share)
    assert facts["symbol_entropy"] == pytest.approx(entropy)
    maps = facts["maps"]
    weights = np.array(maps["cross"]["2"])
    heads, rows, columns = weights.shape
    assert heads == 2
    assert rows == len(maps["target"])
    assert columns == len(maps["source"])
    np.testing.assert_allclose(weights.sum(-1), 1, atol=0.02)
    keys_kept = np.count_nonzero(weights, axis=-1)
    assert keys_kept.max() <= 2
