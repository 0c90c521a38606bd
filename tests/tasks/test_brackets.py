"""Trees in brackets: what is read and cleaned, what is refused, the row of symbols and the way
back.
"""

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
    "(TOP (S (NP (NNP John)) (VP (VBZ sleeps) (ADVP (RB well))) (-LRB- -LRB-) (PP (IN in) (NP (NN bed))) "
    "(-RRB- -RRB-) (. .)))"
)


def test_traces_and_functions_go_and_the_outermost_bracket_is_top():
    assert [format_tree(tree) for tree in read_trees(PENN, "here")] == [CLEAN]
    assert [
        format_tree(tree) for tree in read_trees("(S (NN a))(NN b)\n(TOP (X (NN c)))", "here")
    ] == [
        "(TOP (S (NN a)))",
        "(TOP (NN b))",
        "(TOP (X (NN c)))",
    ]
    assert read_trees("(S (NP (-NONE- *)))", "here") == []
    assert [format_tree(tree) for tree in read_trees("(((S (=2 (NN a)))))", "here")] == [
        "(TOP (S (=2 (NN a))))"
    ]


@pytest.mark.parametrize(
    "text, message",
    [
        (
            "(S (NN a))\n\n(S (NN b)",
            "here, line 3: the bracket that opens here is never closed; 1 are missing",
        ),
        ("(S (NN a)))", "here, line 1: unmatched closing bracket; expected trees as in"),
        ("(S (NN a))\nword", "here, line 2: 'word' is outside all brackets"),
        ("(S ())", "here, line 1: the bracket .* is empty"),
        ("\n" + "(S " * 300, "here, line 2: brackets nested more than 200 deep"),
        ("(S a (NN b))", r"here, line 1: the words of \(S a \(NN b\)\) need a tag each"),
    ],
)
def test_what_is_no_tree_is_refused_in_a_line(text, message):
    with pytest.raises(ConfigError, match=message) as error:
        read_trees(text, "here")
    assert "\n" not in str(error.value)


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
    assert rebuild(symbols.split(), words.split()) == (Tree.fromstring(tree), True)


SYMBOL = strategies.sampled_from(["(S", "(NP", ")S", ")NP", "NN", ".", "(", ")", "<unk>"])


@given(
    strategies.lists(SYMBOL, max_size=20),
    strategies.lists(strategies.sampled_from("abc"), min_size=1, max_size=6),
)
def test_whatever_is_written_becomes_a_tree_over_the_words(symbols, words):
    tree, repaired = rebuild(symbols, words)
    assert tree.leaves() == words and all(len(subtree) for subtree in tree.subtrees())
    tree_again, repaired_again = rebuild(linearise(tree), words)
    assert tree_again == tree and not repaired_again
    assert repaired or linearise(tree) == symbols
