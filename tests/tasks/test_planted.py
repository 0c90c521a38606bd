"""Sentences that do not matter behind a source: where they stand, what they cost, and the attention
that they get.
"""

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
    sentences = [np.array([n, n, n]) for n in range(5)]
    planted = plant(sentences, [0, 1, 2, 3, 4], seed=1)
    for number, (sentence, whole) in enumerate(zip(sentences, planted, strict=True)):
        assert (whole[:3] == sentence).all() and len(whole) == 3 * (number + 1)
        assert number not in whole[3:]
    again = plant(sentences, [0, 1, 2, 3, 4], seed=1)
    assert all((one == other).all() for one, other in zip(planted, again, strict=True))
    assert not all(
        (a == b).all()
        for a, b in zip(planted[1:], plant(sentences, [0, 1, 2, 3, 4], 2)[1:], strict=True)
    )


def test_a_slope_is_what_each_planted_sentence_changes():
    assert (0, *PLANTED) == TESTED and slope([30 - 0.5 * n for n in TESTED]) == pytest.approx(-0.5)


def test_even_attention_goes_astray_by_the_share_of_what_is_planted():
    """With equal scores each piece gets the same weight: planted pieces, of all that there are with
    <eos>.
    """
    net = build_model(translation(net=LONG, span=WIDE), CPU, 13)
    for layer in net.attentions:
        for name, weight in layer.named_parameters():
            if "query" in name:
                torch.nn.init.zeros_(weight)
    alone = [np.array([4, 5, 6])] * 96
    test = store.Split(alone, [np.array([5, 6])] * 96)
    found = astray(net, test)
    assert found["planted"] == [*PLANTED]
    for number, count in enumerate(PLANTED):
        share = 3 * count / (3 * (count + 1) + 1)
        for kind in ("encoder", "cross"):
            assert found[kind][number] == pytest.approx([share, share], abs=0.001)


def test_a_run_on_such_a_text_scores_test_with_each_number_of_them(tmp_path):
    corpus = bitext()
    corpus = replace(corpus, planted=4, train=plant_some(corpus.train, 4, 0))
    job = translation(net=LONG | {"layers": 1}, span=WIDE)
    record = run_script(job, tmp_path / "run", corpus, store.write)
    assert record.status == "ok", record.reason
    scores = [
        record.metrics["test_bleu"],
        *(record.metrics[f"test_bleu_planted_{n}"] for n in PLANTED),
    ]
    assert record.metrics["test_bleu_slope"] == pytest.approx(slope(scores))
    assert (
        len(record.facts["astray"]["cross"]) == 3 and len(record.facts["astray"]["cross"][0]) == 1
    )
    assert store.read(tmp_path / "toy.npz").planted == 4
