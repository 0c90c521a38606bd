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
from workflow.tasks.parsing.trees import linearise, read_trees
from workflow.tasks.store import Pairs, Split

SYMBOLS = ["<pad>", "<bos>", "<eos>", "<unk>", "▁a", "▁b", "(S", "(X", ")S", ")X", "A", "B"]


def trees(count=300, seed=0) -> Pairs:
    """Make sentences of a and b; a b opens a bracket to the end: a b b is (S A (X B (X B )X )X
    )S.
    """
    generator = np.random.default_rng(seed)
    words = [
        generator.integers(4, 6, generator.integers(1, 5)).astype(np.uint16) for _ in range(count)
    ]
    plain = ["".join(SYMBOLS[i][1] for i in sentence) for sentence in words]
    texts = [" ".join(text) for text in plain], [_bracketed(text) for text in plain]
    symbols = [linearise(Tree.fromstring(text)) for text in texts[1]]
    targets = [np.array([SYMBOLS.index(symbol) for symbol in row], np.uint16) for row in symbols]
    cuts = {"train": slice(0, -20), "dev": slice(-20, -10), "test": slice(-10, None)}
    parts = [
        Split(words[c], targets[c], *([] if s == "train" else text[c] for text in texts))
        for s, c in cuts.items()
    ]
    return Pairs("toy", "words", "tree", *parts, SYMBOLS, "sha256:toy", "a toy")


def _bracketed(text: str) -> str:
    inside = " ".join("(A a)" if word == "a" else "(X (B b)" for word in text)
    return f"(TOP (S {inside}{')' * text.count('b')}))"


def test_the_right_symbols_score_all_and_none_score_nothing():
    corpus, job = trees(), parsing()
    task = ParsingTask(job, corpus, CPU)
    scores, facts = task.score("test", [target.tolist() for target in corpus.test.target])
    whole = dict.fromkeys(("recall", "precision", "f1", "complete", "tagging"), 100)
    assert scores == whole | {"errors": 0, "repaired": 0}
    assert facts["shown"][0][1] == facts["shown"][0][2] == corpus.test.target_text[0]
    scores, facts = task.score("test", [[] for _ in corpus.test.target])
    assert (scores["f1"], scores["recall"], scores["repaired"], scores["errors"]) == (0, 0, 100, 0)
    assert scores["precision"] == Missing("the predicted trees have no brackets")
    assert np.array(facts["counts"])[:, [0, 2]].sum() == 0 and task.extra == 300  # section 6.3


@pytest.mark.slow
@pytest.mark.parametrize(
    "variant", [{}, {"span": {"name": "adaptive", "limit": 8, "ramp": 2, "penalty_weight": 1e-3}}]
)
def test_it_learns_to_parse(variant, tmp_path):
    small = parsing(
        net={"dropout": 0.0},
        steps=900,
        tokens=160,
        evaluate_every=900,
        checkpoint_every=900,
        **variant,
    )
    metrics, facts, _ = train_to_end(small, tmp_path, trees())
    assert metrics["test_f1"] > 90 and metrics["test_tagging"] > 90
    if variant:
        assert np.array(facts["spans"]).shape == (2, 2) and 2 <= facts["mean_span"] <= 8


# Labelled brackets against counts worked out by hand


RIGHT = "(TOP (S (NP (DT the) (NN cat)) (VP (VBZ sits) (PP (IN on) (NP (DT a) (NN mat)))) (. .)))"


def counts_of(ours: str, right: str = RIGHT) -> list[int]:
    """Count matched, right and our brackets, words, right tags, complete and valid sentences."""
    return count_sentence(Tree.fromstring(ours), Tree.fromstring(right))


def test_the_same_tree_has_every_bracket():
    assert counts_of(RIGHT) == [5, 5, 5, 6, 6, 1, 1]


def test_one_bracket_elsewhere_and_one_tag_wrong():
    """PP hangs in S: VP is (2, 3) in place of (2, 6); all others match. `sits` is a noun."""
    ours = "(TOP (S (NP (DT the) (NN cat)) (VP (NN sits)) (PP (IN on) (NP (DT a) (NN mat))) (. .)))"
    counts = counts_of(ours)
    assert counts == [4, 5, 5, 6, 5, 0, 1]
    brackets = {"recall": 80, "precision": 80, "f1": 80, "complete": 0}
    assert score([counts]) == pytest.approx(brackets | {"tagging": 500 / 6, "errors": 0})


def test_unary_chains_count_label_by_label_and_a_bracket_twice_must_be_found_twice():
    right = "(TOP (S (VP (NP (NP (NN a))))))"
    assert counts_of("(TOP (S (NP (NN a))))", right)[0] == 2  # S and one of two NP
    assert counts_of("(TOP (NP (NP (NP (NN a)))))", right) == [2, 4, 3, 1, 1, 0, 1]


def test_punctuation_does_not_count_by_the_right_trees_tags():
    """A comma inside or outside NP is the same bracket, whatever its predicted tag.

    A bracket of commas alone does not count.
    """
    right = "(TOP (S (NP (NN a) (, ,)) (VP (VB b)) (PRN (: --))))"
    ours = "(TOP (S (NP (NN a)) (NN ,) (VP (VB b)) (: --)))"
    assert counts_of(ours, right) == [3, 3, 3, 2, 2, 1, 1]


def test_advp_and_prt_are_one_label():
    assert counts_of("(TOP (S (PRT (RP up))))", "(TOP (S (ADVP (RB up))))")[0] == 2


@pytest.mark.parametrize("ours", ["(TOP (S (NN a)))", "(TOP (S (NN a) (NN c)))"])
def test_other_words_are_an_error_sentence_that_no_sum_counts(ours):
    bad = counts_of(ours, "(TOP (S (NN a) (NN b)))")
    assert bad == [0] * len(COUNTS)
    whole = dict.fromkeys(("recall", "precision", "f1", "complete", "tagging"), 100)
    assert score([counts_of(RIGHT), bad]) == pytest.approx(whole | {"errors": 1})
    assert score([bad])["f1"] == Missing("no brackets")


def test_f1_is_of_the_corpus_not_the_mean_of_sentences():
    """2 of 2 right and ours, and 1 of 4 right and of 2 ours: R = 3/6, P = 3/4, F1 = .6."""
    scores = score([[2, 2, 2, 3, 3, 1, 1], [1, 4, 2, 5, 4, 0, 1]])
    assert (scores["recall"], scores["precision"], scores["f1"]) == pytest.approx((50, 75, 60))
    assert (scores["complete"], scores["tagging"]) == pytest.approx((50, 87.5))


def test_a_share_of_nothing_is_no_number_but_a_reason():
    nothing = score([])
    assert isinstance(nothing["f1"], Missing) and isinstance(nothing["tagging"], Missing)
    bare = score([counts_of("(TOP (NN a))", "(TOP (NN a))")])
    missing = {name for name, value in bare.items() if isinstance(value, Missing)}
    assert missing == {"recall", "precision", "f1"}
    assert (bare["complete"], bare["tagging"], bare["errors"]) == (100, 100, 0)
    dots = score([counts_of("(TOP (. .))", "(TOP (. .))")])
    assert isinstance(dots["tagging"], Missing)


# What other tools write

TREE = "(S (NP-SBJ-1 (DT the) (NN-SB cat)) (VP (VBZ sits) (NP=2 (-NONE- *T*))) (. .))"


@pytest.mark.parametrize(
    "text", ["({})", "(ROOT {})", "(TOP {})", "(S1 {})", "( (VROOT {}))", "(ROOT\r\n\t( {}\n))"]
)
def test_a_tree_scores_the_same_whatever_its_root_is_called_and_however_its_lines_are_broken(text):
    (plain,) = read_trees("(TOP (S (NP (DT the) (NN cat)) (VP (VBZ sits)) (. .)))", "")
    (theirs,) = read_trees(text.format(TREE), "here")
    assert theirs == plain and count_sentence(theirs, plain)[:3] == [3, 3, 3]


WORDS = [":\\", "\\", "1\\/2", "-LRB-", "'", '"', "%", "{"]
WORDS += ["1\u00a01/2", "\u3000", "cafe\u0301", "\ufeff"]


def test_whatever_words_a_treebank_may_hold_its_right_trees_score_all_in_the_end(tmp_path):
    """Such a treebank once failed after training, where its trees were read again."""
    path = tmp_path / "odd.mrg"
    path.write_text("\n".join(f"(S (SYM {word}) (NP (NN a)))" for word in WORDS * 20), "utf-8")
    corpus = build_trees(TreeCatalogue(metric="f1", trees={}), f"trees:{path}", None)
    assert sorted(corpus.test.source_text) == sorted(f"{word} a" for word in WORDS)
    right = [target.tolist() for target in corpus.test.target]
    scores, _ = ParsingTask(parsing(), corpus, CPU).score("test", right)
    assert (scores["f1"], scores["tagging"]) == (100, 100)
    assert (scores["errors"], scores["repaired"]) == (0, 0)
