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
WIDE = {"name": "full", "cache": 256, "evaluation_cache": None}


def test_so_many_others_stand_behind_each_sentence_the_same_in_every_draw():
    sentences = [np.full(3, n) for n in range(5)]
    counts = [0, 1, 2, 3, 4]
    planted = [row.tolist() for row in plant(sentences, counts, seed=1)]
    for number, row in enumerate(planted):
        assert row[:3] == [number] * 3
        assert len(row) == 3 * (number + 1)
        assert number not in row[3:]
    assert [row.tolist() for row in plant(sentences, counts, seed=1)] == planted
    assert [row.tolist() for row in plant(sentences, counts, seed=2)] != planted


def test_even_attention_goes_astray_by_the_share_of_what_is_planted():
    """With equal scores, planted pieces get their share of all pieces and <eos>."""
    net = build_model(translation(net=LONG, span=WIDE), CPU, 13)
    for layer in net.attentions:
        for name, weight in layer.named_parameters():
            if "query" in name:
                torch.nn.init.zeros_(weight)
    sources = [np.array([4, 5, 6])] * 96
    targets = [np.array([5, 6])] * 96
    found = astray(net, store.Split(sources, targets))
    assert found["planted"] == [*PLANTED]
    for number, count in enumerate(PLANTED):
        share = 3 * count / (3 * (count + 1) + 1)
        for kind in ("encoder", "cross"):
            assert found[kind][number] == pytest.approx([share, share], abs=0.001)


def test_a_run_on_such_a_corpus_scores_test_with_each_number_of_them(tmp_path):
    corpus = bitext()
    corpus = replace(corpus, planted=4, train=plant_some(corpus.train, 4, 0))
    job = translation(net=LONG | {"layers": 1}, span=WIDE)
    record = run_script(job, tmp_path / "run", corpus, store.write)
    assert record.status == "ok", record.reason
    names = ["test_bleu", *(f"test_bleu_planted_{n}" for n in PLANTED)]
    scores = [record.metrics[name] for name in names]
    assert record.metrics["test_bleu_slope"] == pytest.approx(slope(scores))
    assert np.array(record.facts["astray"]["cross"]).shape == (3, 1)
    assert slope([30 - 0.5 * n for n in TESTED]) == pytest.approx(-0.5)
