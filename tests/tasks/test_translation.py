"""The task of translation: batches, loss, scores, averaged weights; that it learns, repeats itself
and comes back.
"""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests._jobs import TRANSLATORS, bitext, translation
from tests._training import CPU, assert_same, interrupt, run_script, start, train_to_end
from workflow.config.errors import ConfigError
from workflow.costs import sentences
from workflow.costs.trained_net import build_model
from workflow.tasks import batches as loss_of_batches
from workflow.tasks import store as pairs
from workflow.tasks.batches import Batches, cut_batches, loss, losses, perplexity, sources, targets
from workflow.tasks.sequences import average, select_fitting
from workflow.tasks.store import BOS, EOS, PAD
from workflow.tasks.translation import runner
from workflow.tasks.translation.runner import TranslationTask
from workflow.training.loop import add_gradients


def test_sources_end_and_targets_begin_and_end():
    sentences = [np.array([5, 6], np.uint16), np.array([7], np.uint16)]
    assert sources(sentences).tolist() == [[5, 6, EOS], [7, EOS, PAD]]
    assert targets(sentences).tolist() == [[BOS, 5, 6, EOS], [BOS, 7, EOS, PAD]]


def test_batches_hold_no_more_than_their_pieces_padding_included():
    """Lengths 2 2 3 4 9 and at most 8 pieces: 2 2 | 3 4 | 9, which alone exceeds a batch."""
    cut = cut_batches(np.array([2, 2, 3, 4, 9]), np.arange(5), 8)
    assert [batch.tolist() for batch in cut] == [[0, 1], [2, 3], [4]]


def test_an_epoch_has_every_pair_once_and_the_next_another_order():
    batches = Batches(bitext().train, 80, seed=1)
    epochs = []
    for _ in range(2):
        epochs.append([index for batch in batches.epoch for index in batch])
        for _ in range(len(batches.epoch) + (len(epochs) == 1)):
            batches.read()
    assert all(sorted(epoch) == list(range(360)) for epoch in epochs) and epochs[0] != epochs[1]


def test_label_smoothing_by_hand():
    """Probabilities .75 and .25, the second is right: log-loss -ln .25; smoothed .9 of it, .1 of
    the mean of both.
    """
    logits = torch.tensor([[[0.75, 0.25], [0.1, 0.9]]]).log()
    following = torch.tensor([[1, PAD]])
    smoothed, log_loss = loss(logits, following, 0.1)
    assert log_loss.item() == pytest.approx(-math.log(0.25))
    mean = -(math.log(0.75) + math.log(0.25)) / 2
    assert smoothed.item() == pytest.approx(0.9 * -math.log(0.25) + 0.1 * mean)


@pytest.mark.parametrize("numbers", [1, 1 << 20])
def test_the_smoothed_loss_and_its_gradient_are_those_of_torch_however_many_rows_are_read_at_once(
    numbers, monkeypatch
):
    monkeypatch.setattr(loss_of_batches, "CACHED", numbers)
    torch.manual_seed(0)
    logits = torch.randn(3, 5, 7, dtype=torch.float64, requires_grad=True)
    following = torch.randint(0, 7, (3, 5))
    following[0, 2:], following[2, 4:] = PAD, PAD
    mine, log_loss = loss(logits, following, 0.1)
    rows = {"target": following.flatten(), "ignore_index": PAD, "label_smoothing": 0.1}
    theirs = torch.nn.functional.cross_entropy(logits.flatten(0, 1), **rows)
    assert mine.item() == pytest.approx(theirs.item(), rel=1e-12)
    assert log_loss.item() == pytest.approx(loss(logits, following, 0.0)[0].item(), rel=1e-12)
    (gradient,) = torch.autograd.grad(3 * mine, logits)
    (expected,) = torch.autograd.grad(3 * theirs, logits)
    torch.testing.assert_close(gradient, expected, rtol=1e-12, atol=1e-14)
    assert not log_loss.requires_grad


def test_accumulated_batches_weigh_as_much_as_their_pieces():
    small, train = translation(net={"dropout": 0.0}), bitext().train
    net, steps = build_model(small, CPU, 13), []
    for cuts in ((slice(0, 3), slice(3, 9)), (slice(9),)):
        net.zero_grad()
        batches = [(sources(train.source[rows]), targets(train.target[rows])) for rows in cuts]
        log_loss = add_gradients(net, losses(net, small.training, batches))
        steps.append([log_loss, *(weight.grad.clone() for weight in net.parameters())])
    for in_parts, at_once in zip(*steps, strict=True):
        torch.testing.assert_close(in_parts, at_once, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize(
    "nats, value", [(0.0, 1.0), (700.0, math.exp(700)), (1e4, math.inf), (math.nan, math.nan)]
)
def test_a_perplexity_beyond_all_numbers_is_infinite_and_no_error(nats, value):
    assert perplexity(nats) == pytest.approx(value, nan_ok=True)


def test_weights_are_averaged():
    kept = [{"w": torch.tensor([1.0, 2.0])}, {"w": torch.tensor([3.0, 6.0])}]
    assert average(kept)["w"].tolist() == [2, 4]


@pytest.mark.slow
def test_it_learns_to_translate(tmp_path):
    """Knowing nothing but the letters' frequencies gives a perplexity of about 7."""
    small = translation(
        net={"dropout": 0.0}, steps=250, tokens=120, evaluate_every=250, checkpoint_every=250
    )
    metrics, _, _ = train_to_end(small, tmp_path, bitext(1000, longest=5))
    assert metrics["test_ppl"] < 3 and metrics["test_bleu"] > 20


def test_a_resumed_run_ends_as_one_never_interrupted(tmp_path):
    """Across an epoch's end, with dropout on; the weights kept for the average come back too."""
    small = translation(tokens=600)
    interrupt(start(small, tmp_path / "b", bitext()), step=4)
    assert_same(
        train_to_end(small, tmp_path / "a", bitext()), train_to_end(small, tmp_path / "b", bitext())
    )


def test_top_k_in_training_only_decodes_with_every_key():
    net = build_model(translation(**TRANSLATORS["top_k"]), CPU, 13)
    with runner.using_every_key(net):
        assert {type(layer.selection).__name__ for layer in net.attentions} == {"All"}
    assert {type(layer.selection).__name__ for layer in net.attentions} == {"TopK"}


@pytest.mark.parametrize(
    "changes",
    [*TRANSLATORS.values(), {"net": {"positional_encoding": "learned"}}, {"net": {"norm": "pre"}}],
)
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_our_count_equals_torchs_and_fvcores(changes):
    small = translation(**changes)
    row = sentences.count(small, build_model(small, CPU, 13), CPU)
    assert row["macs_torch"] == row["macs_analytic"]
    assert row["macs_fvcore"] == pytest.approx(row["macs_analytic"], rel=0.01)


def test_a_second_test_is_scored_like_the_first():
    small, corpus = translation(), bitext()
    task = TranslationTask(small, replace(corpus, second_test=corpus.test), CPU)
    net = build_model(small, CPU, len(corpus.symbols))
    task.checkpoints = [net.state_dict()]
    found = task.evaluate(net)
    metrics, facts = found.metrics, found.facts
    assert all(
        metrics[f"second_test_{name}"] == metrics[f"test_{name}"]
        for name in ("bleu", "bleu_tokenised", "chrf")
    )
    assert facts["second_test_counts"] == facts["counts"]
    long = replace(corpus.test, target=[np.full(99, 4, np.uint16)] * len(corpus.test.target))
    with pytest.raises(ConfigError, match="target sentence 1 of second_test has 100 pieces"):
        TranslationTask(small, replace(corpus, second_test=long), CPU)


def test_a_sentence_too_long_for_the_model_is_refused_where_it_is_scored():
    corpus = bitext()
    with pytest.raises(ConfigError, match="dev .*max_length is 5"):
        TranslationTask(translation(net={"max_length": 5}), corpus, CPU)
    with pytest.raises(ConfigError, match="max_length = 1"):
        select_fitting(corpus, 1)
    with pytest.raises(ConfigError, match="cache = 16 .*max_length = 17"):
        translation(net={"max_length": 17})


def test_a_sentence_too_long_for_the_model_is_left_out_of_train():
    corpus = bitext()
    longest = max(len(sentence) for sentence in (*corpus.train.source, *corpus.train.target))
    long = np.full(longest + 5, 4, np.uint16)
    source = [*corpus.train.source, long]
    train = replace(corpus.train, source=source, target=[*corpus.train.target, long[:2]])
    longer = replace(corpus, train=train)
    assert len(select_fitting(longer, len(long)).source) == len(source) - 1
    assert len(select_fitting(longer, len(long) + 1).source) == len(source)


def test_a_whole_run_is_a_record(tmp_path):
    record = run_script(
        translation(**TRANSLATORS["top_k"]), tmp_path / "run", bitext(), pairs.write
    )
    assert record.status == "ok" and [point.step for point in record.curve] == [3, 6]
    assert {"test_bleu", "test_bleu_tokenised", "test_chrf", "dev_bleu_tokenised_every_key"} <= set(
        record.metrics
    )
    assert len(record.facts["counts"]) == 20 and len(record.facts["shown"][0]) == 3
    assert "second_test_bleu" not in record.metrics
    pieces = Counter(
        piece for target in bitext().dev.target for piece in [*target.tolist(), "<eos>"]
    )
    bits = [count * math.log2(pieces.total() / count) for count in pieces.values()]
    assert record.facts["symbol_entropy"] == pytest.approx(sum(bits) / pieces.total())
    maps = record.facts["maps"]
    weights = np.array(maps["cross"]["2"])
    assert weights.shape == (2, len(maps["target"]), len(maps["source"]))
    np.testing.assert_allclose(weights.sum(-1), 1, atol=0.02)
    assert ((weights > 0).sum(-1) <= 2).all()


def test_maps_are_of_the_example_of_a_corpus_where_it_has_one():
    ids = [np.array([4, 5, 6, 7, 8, 9], np.uint16)]
    corpus = bitext()
    pieces = corpus.symbols[4:10]
    model = build_model(translation(), CPU, len(corpus.symbols))
    assert runner.draw_maps(model, corpus)["source"] != [*pieces, "<eos>"]
    maps = runner.draw_maps(model, replace(corpus, example=pairs.Split(ids, ids)))
    assert maps["source"] == [*pieces, "<eos>"]
    assert maps["target"] == ["<bos>", *pieces]
    short = pairs.Split(ids, [ids[0][:2]])
    assert runner.draw_maps(model, replace(corpus, example=short)) == {}
