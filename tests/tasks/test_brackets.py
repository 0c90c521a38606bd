"""Trees in brackets: what is read and cleaned, what is refused, a row of symbols and back."""

import pytest
from hypothesis import given, strategies
from nltk import Tree

from workflow.config.errors import ConfigError
from workflow.tasks.parsing.trees import format_tree, linearise, read_trees, rebuild

PENN = """
( (S
    (NP-SBJ-1 (NNP John) (-NONE- *T*-1))
    (VP (VBZ sleeps) (NP (-NONE- *)) (ADVP|PRT (RB well)))
    (-LRB- -LRB-) (PP=2 (IN in) (NP (NN bed))) (-RRB- -RRB-)
    (. .)))
"""
CLEAN = (
    "(TOP (S (NP (NNP John)) (VP (VBZ sleeps) (ADVP (RB well))) (-LRB- -LRB-) "
    "(PP (IN in) (NP (NN bed))) (-RRB- -RRB-) (. .)))"
)
SEVERAL = ["(TOP (S (NN a)))", "(TOP (NN b))", "(TOP (X (NN c)))"]


@pytest.mark.parametrize(
    "text, trees",
    [
        (PENN, [CLEAN]),
        ("(S (NN a))(NN b)\n(ROOT\r\n\t( (X (NN c))))", SEVERAL),
        ("(S (NP (-NONE- *)))", []),
        ("(((S (=2 (NN a)))))", ["(TOP (S (=2 (NN a))))"]),
    ],
)
def test_traces_and_functions_go_and_the_outermost_bracket_is_top(text, trees):
    assert [format_tree(tree) for tree in read_trees(text, "here")] == trees


@pytest.mark.parametrize(
    "text, line, value",
    [
        ("(S (NN a))\n\n(S (NN b)", 3, "1 are"),
        ("(S (NN a)))", 1, "closing"),
        ("(S (NN a))\nword", 2, "'word'"),
        ("(S ())", 1, "empty"),
        ("\n" + "(S " * 300, 2, "200"),
        ("(S a (NN b))", 1, r"\(S a \(NN b\)\)"),
    ],
)
def test_what_is_no_tree_is_refused_with_its_line(text, line, value):
    with pytest.raises(ConfigError, match=f"here, line {line}: .*{value}"):
        read_trees(text, "here")


def test_a_tree_in_a_row_as_the_paper_writes_it():
    tree = Tree.fromstring("(TOP (S (NP (NNP John)) (VP (VBZ sleeps)) (. .)))")
    assert linearise(tree) == ["(S", "(NP", "NNP", ")NP", "(VP", "VBZ", ")VP", ".", ")S"]
    assert rebuild(linearise(tree), ["John", "sleeps", "."]) == (tree, False)


@pytest.mark.parametrize(
    "symbols, words, tree",
    [
        ("(S (NP NN )NP", "a", "(TOP (S (NP (NN a))))"),  # what is open is closed
        ("(S (NP NN )S", "a", "(TOP (S (NP (NN a))))"),  # a label closes what is open in it
        ("(S NN )NP )S", "a", "(TOP (S (NN a)))"),  # closes what nothing opened
        ("(S NN NN NN )S", "a", "(TOP (S (NN a)))"),  # more tags than words
        ("(S NN )S", "a b", "(TOP (S (NN a)) (? b))"),  # fewer, all closed
        ("(S (NP NN )NP", "a b", "(TOP (S (NP (NN a)) (? b)))"),  # fewer, the sentence still open
        ("(S (NP )NP NN )S", "a", "(TOP (S (NN a)))"),  # a label without a word
        (")S )S", "a b", "(TOP (? a) (? b))"),
    ],
)
def test_repairs_by_hand(symbols, words, tree):
    rebuilt, repaired = rebuild(symbols.split(), words.split())
    assert rebuilt == Tree.fromstring(tree)
    assert repaired


SYMBOL = strategies.sampled_from(["(S", "(NP", ")S", ")NP", "NN", ".", "(", ")", "<unk>"])
WORD = strategies.sampled_from("abc")


@given(strategies.lists(SYMBOL, max_size=20), strategies.lists(WORD, min_size=1, max_size=6))
def test_any_symbols_become_a_tree_over_the_words(symbols, words):
    tree, repaired = rebuild(symbols, words)
    assert tree.leaves() == words
    assert all(len(subtree) for subtree in tree.subtrees())
    assert rebuild(linearise(tree), words) == (tree, False)
    assert repaired or linearise(tree) == symbols
