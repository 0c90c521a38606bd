"""Irrelevant sentences planted behind a source: their places, cost and attention."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests._jobs import bitext, translation
from tests._training import CPU, run_script
from workflow.tasks import store
from workflow.tasks.translation import PLANTED
from workflow.tasks.translation.planted import TESTED, astray, plant, plant_some, slope
from workflow.training.run import build_model

LONG = {"max_length": 256}
WIDE = {
    "name": "full",
    "cache": 256,
    "evaluation_cache": None,
}


def test_so_many_others_stand_behind_each_sentence_the_same_in_every_draw():
    sentences = [np.full(3, n) for n in range(5)]
    counts = [0, 1, 2, 3, 4]
    planted = plant(sentences, counts, seed=1)
    again = plant(sentences, counts, seed=1)
    for number, row in enumerate(planted):
        sentence, others = np.split(row, [3])
        assert sentence.tolist() == [number] * 3
        assert len(others) == 3 * number
        assert number not in others
        np.testing.assert_array_equal(again[number], row)


def test_even_attention_goes_astray_by_the_share_of_what_is_planted():
    """With equal scores, planted pieces get their share of all pieces and <eos>."""
    job = translation(net=LONG, span=WIDE)
    net = build_model(job, CPU, 13)
    for layer in net.attentions:
        for name, weight in layer.named_parameters():
            if "query" in name:
                torch.nn.init.zeros_(weight)
    sentence = np.array([4, 5, 6])
    sentences = [sentence] * 96
    split = store.Split(sentences, sentences)
    found = astray(net, split)
    assert found["planted"] == [*PLANTED]
    planted = 3 * np.array(PLANTED)
    shares = planted / (planted + 3 + 1)
    for kind in ("encoder", "cross"):
        for layer in np.transpose(found[kind]):
            np.testing.assert_allclose(layer, shares, atol=0.001)


def test_a_run_on_such_a_corpus_scores_test_with_each_number_of_them(tmp_path):
    corpus = bitext()
    train = plant_some(corpus.train, 4, 0)
    corpus = replace(corpus, planted=4, train=train)
    net = LONG | {"layers": 1}
    job = translation(net=net, span=WIDE)
    record = run_script(job, tmp_path / "run", corpus, store.write)
    assert record.status == "ok", record.reason
    metrics = record.metrics
    scores = [metrics["test_bleu"]]
    for n in PLANTED:
        scores.append(metrics[f"test_bleu_planted_{n}"])
    expected = slope(scores)
    assert metrics["test_bleu_slope"] == pytest.approx(expected)


def test_a_slope_is_what_each_planted_sentence_changes():
    scores = [30 - 0.5 * n for n in TESTED]
    assert slope(scores) == pytest.approx(-0.5)
