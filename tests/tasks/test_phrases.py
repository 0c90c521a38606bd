"""The embedded phrases: the same everywhere, split without overlap, given back by their pieces."""

import numpy as np
import pytest

from tests.tasks._texts import decoded
from workflow.tasks.spec import load_corpora
from workflow.tasks.store import UNK
from workflow.tasks.translation.data import build_pairs, read_embedded

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ["phrases-ende", "phrases-deen", "phrases-envi", "phrases-enfr"])
def test_the_phrases_are_the_pinned_ones_and_no_sentence_occurs_in_two_splits(name):
    texts = read_embedded(name, load_corpora("translation").entry(name))
    for n in range(2):
        lines = []
        for split in texts.values():
            lines += [line.lower() for line in split[n].lines]
        assert len(lines) == len(set(lines)) == 24_000


def test_pieces_give_back_every_held_out_sentence():
    pairs = build_pairs(load_corpora("translation"), "phrases-ende", None)
    assert len(set(pairs.symbols)) == 1000
    assert pairs.dropped == 0
    for split in (pairs.dev, pairs.test):
        assert decoded(pairs, split.source) == split.source_text
        assert decoded(pairs, split.target) == split.target_text
        assert UNK not in np.concatenate([*split.source, *split.target])
