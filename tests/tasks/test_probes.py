"""Facts of a trained net's attention: weights by distance, and spans that depend on the text."""

import numpy as np

from tests._jobs import VARIANTS, corpus, job
from tests._training import CPU
from workflow.costs.trained_net import build_net
from workflow.tasks.char_lm.runner import probe


def test_mean_weights_by_distance_sum_to_one():
    small = job(span={"name": "fixed", "limit": 24})
    by_distance = probe(build_net(small, CPU, 7), corpus())["attention_by_distance"]
    weight, keys = np.array(by_distance["weight"]), np.array(by_distance["keys"])
    np.testing.assert_allclose((weight * keys).sum(-1), 1, atol=1e-4)
    assert by_distance["distance"][0] == 1 and keys.sum() == 24


def test_a_dynamic_span_is_recorded_character_by_character():
    fragment = probe(build_net(job(**VARIANTS["dynamic"]), CPU, 7), corpus())["fragment"]
    assert len(fragment["text"]) == len(fragment["span"]) == 64
