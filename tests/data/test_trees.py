"""Treebanks from their names: Python statements, bracketed files, sections of a licensed copy."""

import os
from pathlib import Path

import pytest
from nltk import Tree

from workflow.config.errors import ConfigError
from workflow.data.pairs import store as pairs
from workflow.data.trees import build as treebanks
from workflow.data.trees import statements
from workflow.data.trees.brackets import line
from workflow.data.trees.catalogue import TreeCatalogue
from workflow.data.trees.linear import rebuilt
from workflow.plan.scales import load_corpora

WORDS = ("cat", "dog", "bird", "fish", "cow")
LINES = [f"(S (NP (DT the) (NN {one})) (VP (VBZ sees) (NP (DT a) (NN {two}))))" for one in WORDS for two in WORDS]


def users(tmp_path, lines=LINES, **named) -> tuple[TreeCatalogue, str]:
    path = tmp_path / "my.mrg"
    path.write_bytes("\n".join(lines).encode(errors="surrogateescape"))
    return TreeCatalogue(metric="f1", trees=named), f"trees:{path}"


def test_a_statement_becomes_the_tree_that_python_reads():
    source = "def f(y):\n    x = g(y, *z)[1:]  # why\n    return -1\n    u = f'{x}'\n    a.b.c += {k: 'a b'}\n"
    assert [line(tree) for tree in statements.statements(source)] == [
        "(TOP (Assign (NAME x) (EQUAL =) (Subscript (Call (NAME g) (LPAR -LRB-) (NAME y) (COMMA ,) (Starred (STAR *) "
        "(NAME z)) (RPAR -RRB-)) (LSQB [) (Slice (NUMBER 1) (COLON :)) (RSQB ]))))"
    ]  # the second is too short, the third formatted, the fourth has a space in a token
    one = "x = [a for a in (b, c) if not a]\nf(lambda u: u)\n"
    assert [line(tree) for tree in statements.statements(one)] == [
        "(TOP (Assign (NAME x) (EQUAL =) (ListComp (LSQB [) (NAME a) (KEYWORD for) (NAME a) (KEYWORD in) (Tuple (LPAR "
        "-LRB-) (NAME b) (COMMA ,) (NAME c) (RPAR -RRB-)) (KEYWORD if) (UnaryOp (KEYWORD not) (NAME a)) (RSQB ]))))",
        "(TOP (Expr (Call (NAME f) (LPAR -LRB-) (Lambda (KEYWORD lambda) (NAME u) (COLON :) (NAME u)) (RPAR -RRB-))))",
    ]


def test_the_embedded_statements_are_those_of_the_catalogue(tmp_path):
    """Their checksum is verified; targets give the trees back, over the words."""
    made = treebanks.load(load_corpora("parsing"), "statements", None)
    pairs.write(tmp_path / "made.npz", made)
    read = pairs.read(tmp_path / "made.npz")
    assert [len(one.source) for one in (read.train, read.dev, read.test)] == [12598, 500, 500]
    for ids, words, tree in zip(read.test.target, read.test.source_text, read.test.target_text, strict=True):
        written = [read.symbols[token] for token in ids]
        again, repaired = rebuilt(written, words.split(" "))
        if "<unk>" not in written:
            assert (line(again), repaired) == (tree, False)
    assert max(map(len, read.test.target)) < 64


def test_a_users_trees_are_cut_in_three(tmp_path):
    catalogue, name = users(tmp_path)
    made = treebanks.load(catalogue, name, None)
    assert [len(one.source) for one in (made.train, made.dev, made.test)] == [23, 1, 1]
    assert made.test.source_text == ["the cow sees a cow"] and made.test.target_text == [f"(TOP {LINES[-1]})"]
    assert [made.symbols[i] for i in made.test.target[0]] == [
        "(S",
        "(NP",
        "DT",
        "NN",
        ")NP",
        "(VP",
        "VBZ",
        "(NP",
        "DT",
        "NN",
        ")NP",
        ")VP",
        ")S",
    ]
    assert "▁the" in made.symbols and made.checksum == catalogue.checksum(name)
    changed, _ = users(tmp_path, LINES[1:])
    assert changed.checksum(name) != made.checksum and catalogue.slug(name).startswith("trees-")


@pytest.mark.parametrize(
    "lines, said",
    [
        (LINES[:2], "2 trees; at least 3 are needed"),
        ([*LINES, "(S (NN a)"], "my.mrg, line 26: the bracket that opens here is never closed"),
        ([], "the file is empty"),
        (["(S (NN a))", "\udcff"], "byte 11 is not UTF-8"),
    ],
)
def test_a_users_trees_that_cannot_be_read(lines, said, tmp_path):
    catalogue, name = users(tmp_path, lines)
    with pytest.raises(ConfigError, match=said) as error:
        treebanks.load(catalogue, name, None)
    assert "\n" not in str(error.value)


SECTIONS = {"train": ["02", "03"], "dev": ["22"], "test": ["23"]}


def sectioned(tmp_path, leave_out="", **changes):
    for section in ("02", "03", "22", "23"):
        folder = tmp_path / "wsj" / section
        folder.mkdir(parents=True)
        if section != leave_out:
            (folder / f"wsj_{section}01.mrg").write_text("\n".join(LINES[:4]))
    entry = {"kind": "folder", "about": "a test", "vocabulary": 40, "folders": ["wsj"], "sections": SECTIONS, **changes}
    return TreeCatalogue(metric="f1", trees={"ptb": entry})


def test_a_licensed_copy_is_read_by_section(tmp_path):
    made = treebanks.load(sectioned(tmp_path), "ptb", str(tmp_path))
    assert [len(one.source) for one in (made.train, made.dev, made.test)] == [8, 4, 4]


def test_a_copy_that_is_not_whole_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"'ptb': not found as data_dir \(or ATTENTION_DATA_DIR\) is not set"):
        load_corpora("parsing").checksum("ptb")
    catalogue = sectioned(tmp_path / "a", leave_out="22")
    with pytest.raises(ConfigError, match=r"wsj has no \*.mrg or \*.prd in 22, which is dev"):
        catalogue.checksum("ptb", str(tmp_path / "a"))
    catalogue = sectioned(tmp_path / "b", trees={"train": 9, "dev": 4, "test": 4})
    with pytest.raises(ConfigError, match="train has 8 trees, the official one 9"):
        treebanks.load(catalogue, "ptb", str(tmp_path / "b"))


DATA = Path(os.environ.get("ATTENTION_DATA_DIR") or Path(__file__).parents[3] / "shared" / "data")


@pytest.mark.skipif(not (DATA / "treebank").is_dir(), reason="no treebank in ATTENTION_DATA_DIR")
def test_the_sample_of_the_wall_street_journal():
    made = treebanks.load(load_corpora("parsing"), "wsj-sample", str(DATA))
    assert [len(one.source) for one in (made.train, made.dev, made.test)] == [3396, 273, 245]
    tree = Tree.fromstring(made.test.target_text[-1])
    assert " ".join(tree.leaves()) == made.test.source_text[-1] and tree.label() == "TOP"
    labels = {one.label() for text in made.test.target_text for one in Tree.fromstring(text).subtrees()}
    assert "-NONE-" not in labels and not any("-" in label.strip("-") for label in labels)
