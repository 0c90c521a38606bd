"""Labelled brackets against counts worked out by hand."""

import pytest
from nltk import Tree

from workflow.tasks.parsing.runner import COUNTS, count_sentence, score

RIGHT = "(TOP (S (NP (DT the) (NN cat)) (VP (VBZ sits) (PP (IN on) (NP (DT a) (NN mat)))) (. .)))"


def counts_of(ours: str, right: str = RIGHT) -> dict:
    return dict(zip(COUNTS, count_sentence(Tree.fromstring(ours), Tree.fromstring(right)), strict=True))


def test_the_same_tree_has_every_bracket():
    assert counts_of(RIGHT) == {"matched": 5, "right": 5, "ours": 5, "words": 6, "tags": 6, "complete": 1, "valid": 1}


def test_one_bracket_elsewhere_and_one_tag_wrong():
    """PP hangs in S: VP is (2, 3) in place of (2, 6); all others match. `sits` is a noun."""
    ours = "(TOP (S (NP (DT the) (NN cat)) (VP (NN sits)) (PP (IN on) (NP (DT a) (NN mat))) (. .)))"
    counts = counts_of(ours)
    assert counts == {"matched": 4, "right": 5, "ours": 5, "words": 6, "tags": 5, "complete": 0, "valid": 1}
    assert score([list(counts.values())]) == pytest.approx(
        {"recall": 80, "precision": 80, "f1": 80, "complete": 0, "tagging": 500 / 6, "errors": 0}
    )


def test_unary_chains_count_label_by_label_and_a_bracket_twice_must_be_found_twice():
    right = "(TOP (S (VP (NP (NP (NN a))))))"
    assert counts_of("(TOP (S (NP (NN a))))", right)["matched"] == 2  # S and one of two NP
    assert counts_of("(TOP (NP (NP (NP (NN a)))))", right) == {
        **dict.fromkeys(("words", "tags", "valid"), 1),
        **{"matched": 2, "right": 4, "ours": 3, "complete": 0},
    }


def test_punctuation_does_not_count_by_the_right_trees_tags():
    """A comma inside or outside NP is the same bracket, whatever we call it; a bracket of commas alone is none."""
    right = "(TOP (S (NP (NN a) (, ,)) (VP (VB b)) (PRN (: --))))"
    ours = "(TOP (S (NP (NN a)) (NN ,) (VP (VB b)) (: --)))"
    expected = {"matched": 3, "right": 3, "ours": 3, "words": 2, "tags": 2, "complete": 1, "valid": 1}
    assert counts_of(ours, right) == expected


def test_advp_and_prt_are_one_label():
    assert counts_of("(TOP (S (PRT (RP up))))", "(TOP (S (ADVP (RB up))))")["matched"] == 2


def test_other_words_are_an_error_sentence_that_no_sum_counts():
    bad = count_sentence(Tree.fromstring("(TOP (S (NN a)))"), Tree.fromstring("(TOP (S (NN a) (NN b)))"))
    other = count_sentence(Tree.fromstring("(TOP (S (NN a) (NN c)))"), Tree.fromstring("(TOP (S (NN a) (NN b)))"))
    assert bad == other == [0] * len(COUNTS)
    good = count_sentence(Tree.fromstring(RIGHT), Tree.fromstring(RIGHT))
    assert score([good, bad]) == pytest.approx(
        {"recall": 100, "precision": 100, "f1": 100, "complete": 100, "tagging": 100, "errors": 1}
    )
    assert score([bad])["f1"] == 0


def test_f1_is_of_the_corpus_not_the_mean_of_sentences():
    """2 of 2 right and ours, and 1 of 4 right and of 2 ours: R = 3/6, P = 3/4, F1 = .6."""
    scores = score([[2, 2, 2, 3, 3, 1, 1], [1, 4, 2, 5, 4, 0, 1]])
    assert (scores["recall"], scores["precision"], scores["f1"]) == pytest.approx((50, 75, 60))
    assert (scores["complete"], scores["tagging"]) == pytest.approx((50, 87.5))
