"""Streams of characters: their blocks, what a score counts, facts of a model's attention."""

import numpy as np
import pytest
import torch

from tests._jobs import VARIANTS, corpus, job
from tests._training import CPU
from workflow.costs.trained_net import build_model
from workflow.tasks.char_lm.runner import probe
from workflow.tasks.char_lm.streams import Streams, score_text


def test_blocks_follow_one_another_then_start_anew_at_a_random_offset():
    streams = Streams(np.arange(40, dtype=np.uint16), batch=2, block=4, seed=0, device=CPU)
    inputs, targets, begins = streams.read()
    assert inputs.tolist() == [[0, 1, 2, 3], [20, 21, 22, 23]]
    assert targets.tolist() == [[1, 2, 3, 4], [21, 22, 23, 24]]
    assert not begins
    inputs, _, _ = streams.read()
    assert inputs.tolist() == [[4, 5, 6, 7], [24, 25, 26, 27]]
    starts = set()
    for _ in range(30):
        inputs, _, begins = streams.read()
        if begins:
            starts.add(inputs[0, 0].item())
    assert len(starts) > 1
    assert starts <= {0, 1, 2, 3}


def test_evaluation_bookkeeping_of_five_million_characters():
    """8 streams, blocks of 512: 1220 blocks, 4,997,120 characters scored (reference, 1.6)."""

    class Uniform(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.zero = torch.nn.Parameter(torch.zeros(1))

        def start(self, batch):
            return None

        def forward(self, tokens, past):
            return self.zero.expand(*tokens.shape, 4), past

    text = np.zeros(5_000_000, np.uint16)
    bpc, scored = score_text(Uniform(), text, streams=8, block=512)
    assert scored == 4_997_120
    assert bpc == pytest.approx(2)  # four symbols, nothing known


def test_mean_weights_by_distance_sum_to_one_and_a_dynamic_span_is_recorded():
    model = build_model(job(**VARIANTS["fixed"]), CPU, 7)
    by_distance = probe(model, corpus())["attention_by_distance"]
    weight = np.array(by_distance["weight"])
    keys = np.array(by_distance["keys"])
    np.testing.assert_allclose(weight @ keys, 1, atol=1e-4)
    assert keys.sum() == 24
    model = build_model(job(**VARIANTS["dynamic"]), CPU, 7)
    fragment = probe(model, corpus())["fragment"]
    assert len(fragment["text"]) == len(fragment["span"]) == 64
