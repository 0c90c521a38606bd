"""The task of parsing: what is written is scored as a tree, and it learns to."""

import numpy as np
import pytest
from nltk import Tree

from tests._jobs import parsing
from tests._training import CPU, train_to_end
from workflow.config.missing import Missing
from workflow.tasks.parsing.catalogue import TreeCatalogue
from workflow.tasks.parsing.data import build_trees
from workflow.tasks.parsing.runner import COUNTS, ParsingTask, count_sentence, score
from workflow.tasks.parsing.trees import linearise
from workflow.tasks.store import Pairs, Split

SYMBOLS = ["<pad>", "<bos>", "<eos>", "<unk>", "▁a", "▁b", "(S", "(X", ")S", ")X", "A", "B"]
SCORES = ("recall", "precision", "f1", "complete", "tagging")
ALL_RIGHT = dict.fromkeys(SCORES, 100)


def bracketed(words: str) -> str:
    """Give the tree of a sentence of a and b: each b opens a bracket to the end."""
    tree_of = {"a": "(A a)", "b": "(X (B b)"}
    inside = " ".join(tree_of[word] for word in words)
    closing = ")" * words.count("b")
    return f"(TOP (S {inside}{closing}))"


def trees(count=300, seed=0) -> Pairs:
    """Make sentences of a and b: a b b is (S A (X B (X B )X )X )S."""
    generator = np.random.default_rng(seed)
    train = Split([], [], [], [])
    dev = Split([], [], [], [])
    test = Split([], [], [], [])
    for n in range(count):
        length = generator.integers(1, 5)
        ids = generator.integers(4, 6, length).astype(np.uint16)
        words = "".join(SYMBOLS[i][1] for i in ids)
        tree = bracketed(words)
        symbols = linearise(Tree.fromstring(tree))
        numbers = [SYMBOLS.index(symbol) for symbol in symbols]
        split = train
        if n >= count - 20:
            split = dev if n < count - 10 else test
            split.source_text.append(" ".join(words))
            split.target_text.append(tree)
        split.source.append(ids)
        split.target.append(np.array(numbers, np.uint16))
    return Pairs(
        "toy",
        "words",
        "tree",
        train,
        dev,
        test,
        SYMBOLS,
        "sha256:toy",
        "a toy",
    )


def missing_in(scores: dict) -> set[str]:
    missing = set()
    for name, value in scores.items():
        if isinstance(value, Missing):
            missing.add(name)
    return missing


def test_the_right_symbols_score_all_and_none_score_nothing():
    corpus = trees()
    task = ParsingTask(parsing(), corpus, CPU)
    right = [target.tolist() for target in corpus.test.target]
    scores, _ = task.score("test", right)
    assert scores == ALL_RIGHT | {"errors": 0, "repaired": 0}
    nothing = [[] for _ in right]
    scores, _ = task.score("test", nothing)
    assert scores["f1"] == 0
    assert scores["recall"] == 0
    assert scores["repaired"] == 100
    assert missing_in(scores) == {"precision"}
    assert task.extra == 300  # section 6.3


@pytest.mark.slow
def test_it_learns_to_parse_with_an_adaptive_span(tmp_path):
    pace = {"steps": 900, "evaluate_every": 900, "checkpoint_every": 900}
    span = {
        "name": "adaptive",
        "limit": 8,
        "ramp": 2,
        "penalty_weight": 1e-3,
    }
    small = parsing(
        net={"dropout": 0.0},
        tokens=160,
        span=span,
        **pace,
    )
    metrics, facts, _ = train_to_end(small, tmp_path, trees())
    assert metrics["test_f1"] > 90
    assert metrics["test_tagging"] > 90
    assert np.array(facts["spans"]).shape == (2, 2)
    assert 2 <= facts["mean_span"] <= 8


# Labelled brackets against counts worked out by hand

RIGHT = "(TOP (S (NP (DT the) (NN cat)) (VP (VBZ sits) (PP (IN on) (NP (DT a) (NN mat)))) (. .)))"
# PP hangs in S: VP is (2, 3) in place of (2, 6); all others match. `sits` is a noun.
MOVED = "(TOP (S (NP (DT the) (NN cat)) (VP (NN sits)) (PP (IN on) (NP (DT a) (NN mat))) (. .)))"
CHAIN = "(TOP (S (VP (NP (NP (NN a))))))"


def counts_of(ours: str, right: str = RIGHT) -> list[int]:
    """Count matched, right and our brackets, words, right tags, complete and valid sentences."""
    our_tree = Tree.fromstring(ours)
    right_tree = Tree.fromstring(right)
    return count_sentence(our_tree, right_tree)


@pytest.mark.parametrize(
    "ours, right, counts",
    [
        (RIGHT, RIGHT, [5, 5, 5, 6, 6, 1, 1]),
        (MOVED, RIGHT, [4, 5, 5, 6, 5, 0, 1]),
        # unary chains count label by label; a bracket that is there twice must be found twice
        ("(TOP (S (NP (NN a))))", CHAIN, [2, 4, 2, 1, 1, 0, 1]),
        ("(TOP (NP (NP (NP (NN a)))))", CHAIN, [2, 4, 3, 1, 1, 0, 1]),
        # punctuation, by the right tree's tags, moves no bracket; one of commas alone is none
        (
            "(TOP (S (NP (NN a)) (NN ,) (VP (VB b)) (: --)))",
            "(TOP (S (NP (NN a) (, ,)) (VP (VB b)) (PRN (: --))))",
            [3, 3, 3, 2, 2, 1, 1],
        ),
        ("(TOP (S (PRT (RP up))))", "(TOP (S (ADVP (RB up))))", [2, 2, 2, 1, 0, 1, 1]),
        # other words are an error sentence
        ("(TOP (S (NN a)))", "(TOP (S (NN a) (NN b)))", [0] * len(COUNTS)),
    ],
)
def test_brackets_by_hand(ours, right, counts):
    found = counts_of(ours, right)
    assert found == counts


def test_f1_is_of_the_corpus_not_the_mean_of_sentences():
    """2 of 2 right and ours, and 1 of 4 right and of 2 ours: R = 3/6, P = 3/4, F1 = .6."""
    complete = [2, 2, 2, 3, 3, 1, 1]
    incomplete = [1, 4, 2, 5, 4, 0, 1]
    scores = score([complete, incomplete])
    counted = {
        "recall": 50,
        "precision": 75,
        "f1": 60,
        "complete": 50,
        "tagging": 87.5,
        "errors": 0,
    }
    assert scores == pytest.approx(counted)
    error = [0] * len(COUNTS)
    with_error = score([counts_of(RIGHT), error])
    assert with_error == pytest.approx(ALL_RIGHT | {"errors": 1})


@pytest.mark.parametrize(
    "counts, missing",
    [
        ([], {"recall", "precision", "f1", "complete", "tagging"}),
        ([counts_of("(TOP (NN a))", "(TOP (NN a))")], {"recall", "precision", "f1"}),
        ([counts_of("(TOP (. .))", "(TOP (. .))")], {"recall", "precision", "f1", "tagging"}),
    ],
)
def test_a_share_of_nothing_is_no_number_but_a_reason(counts, missing):
    assert missing_in(score(counts)) == missing


WORDS = [":\\", "\\", "1\\/2", "-LRB-", "'", '"', "%", "{"]
WORDS += ["1\u00a01/2", "\u3000", "cafe\u0301", "\ufeff"]


def test_right_trees_of_any_words_score_all_in_the_end(tmp_path):
    """Such a treebank once failed after training, where its trees were read again."""
    path = tmp_path / "odd.mrg"
    lines = [f"(S (SYM {word}) (NP (NN a)))" for word in WORDS * 20]
    path.write_text("\n".join(lines), "utf-8")
    catalogue = TreeCatalogue(metric="f1", trees={})
    corpus = build_trees(catalogue, f"trees:{path}", None)
    sentences = {f"{word} a" for word in WORDS}
    assert {*corpus.test.source_text} == sentences
    right = [target.tolist() for target in corpus.test.target]
    task = ParsingTask(parsing(), corpus, CPU)
    scores, _ = task.score("test", right)
    assert scores == ALL_RIGHT | {"errors": 0, "repaired": 0}
