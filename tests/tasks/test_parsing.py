"""The task of parsing: what is written is scored as a tree, and it learns to."""

import numpy as np
import pytest
from nltk import Tree

from tests._jobs import parsing
from tests._training import CPU, train_to_end
from workflow.tasks.parsing.runner import ParsingTask
from workflow.tasks.parsing.trees import linearise
from workflow.tasks.store import Pairs, Split

SYMBOLS = ["<pad>", "<bos>", "<eos>", "<unk>", "▁a", "▁b", "(S", "(X", ")S", ")X", "A", "B"]


def trees(count=300, seed=0) -> Pairs:
    """Make sentences of a and b; a b opens a bracket to the end: a b b is (S A (X B (X B )X )X )S."""
    generator = np.random.default_rng(seed)
    words = [generator.integers(4, 6, generator.integers(1, 5)).astype(np.uint16) for _ in range(count)]
    plain = ["".join(SYMBOLS[i][1] for i in sentence) for sentence in words]
    texts = [" ".join(text) for text in plain], [_bracketed(text) for text in plain]
    symbols = [linearise(Tree.fromstring(text)) for text in texts[1]]
    targets = [np.array([SYMBOLS.index(symbol) for symbol in row], np.uint16) for row in symbols]
    cuts = {"train": slice(0, -20), "dev": slice(-20, -10), "test": slice(-10, None)}
    parts = [Split(words[c], targets[c], *([] if s == "train" else text[c] for text in texts)) for s, c in cuts.items()]
    return Pairs("toy", "words", "tree", *parts, SYMBOLS, "sha256:toy", "a toy")


def _bracketed(text: str) -> str:
    return f"(TOP (S {' '.join('(A a)' if word == 'a' else '(X (B b)' for word in text)}{')' * text.count('b')}))"


def test_the_right_symbols_score_all_and_none_score_nothing():
    corpus, job = trees(), parsing()
    task = ParsingTask(job, corpus, CPU)
    scores, facts = task.score("test", [target.tolist() for target in corpus.test.target])
    assert scores == {
        **dict.fromkeys(("recall", "precision", "f1", "complete", "tagging"), 100),
        **dict.fromkeys(("errors", "repaired"), 0),
    }
    assert facts["shown"][0][1] == facts["shown"][0][2] == corpus.test.target_text[0]
    scores, facts = task.score("test", [[] for _ in corpus.test.target])
    assert (scores["f1"], scores["repaired"], scores["errors"]) == (0, 100, 0)
    assert np.array(facts["counts"])[:, [0, 2]].sum() == 0 and task.extra == 300  # section 6.3


@pytest.mark.slow
@pytest.mark.parametrize("variant", [{}, {"span": {"name": "adaptive", "limit": 8, "ramp": 2, "penalty_weight": 1e-3}}])
def test_it_learns_to_parse(variant, tmp_path):
    small = parsing(net={"dropout": 0.0}, steps=900, tokens=160, evaluate_every=900, checkpoint_every=900, **variant)
    metrics, facts, _ = train_to_end(small, tmp_path, trees())
    assert metrics["test_f1"] > 90 and metrics["test_tagging"] > 90
    if variant:
        assert np.array(facts["spans"]).shape == (2, 2) and 2 <= facts["mean_span"] <= 8
