"""Treebanks from their names: Python statements, bracketed files, sections of a licensed copy."""

import pytest

from workflow.config.errors import ConfigError
from workflow.tasks import store
from workflow.tasks.parsing.catalogue import TreeCatalogue
from workflow.tasks.parsing.data import build_trees
from workflow.tasks.parsing.statements import parse_statements
from workflow.tasks.parsing.trees import format_tree, rebuild
from workflow.tasks.spec import load_corpora

WORDS = ("cat", "dog", "bird", "fish", "cow")
LINES = [
    f"(S (NP (DT the) (NN {a})) (VP (VBZ sees) (NP (DT a) (NN {b}))))" for a in WORDS for b in WORDS
]


def user_treebank(tmp_path, lines=LINES) -> tuple[TreeCatalogue, str]:
    path = tmp_path / "my.mrg"
    path.write_bytes("\n".join(lines).encode())
    return TreeCatalogue(metric="f1", trees={}), f"trees:{path}"


CALL = (
    "(TOP (Assign (NAME x) (EQUAL =) (Subscript (Call (NAME g) (LPAR -LRB-) (NAME y) (COMMA ,) "
    "(Starred (STAR *) (NAME z)) (RPAR -RRB-)) (LSQB [) (Slice (NUMBER 1) (COLON :)) (RSQB ]))))"
)
COMPREHENSION = (
    "(TOP (Assign (NAME x) (EQUAL =) (ListComp (LSQB [) (NAME a) (KEYWORD for) (NAME a) "
    "(KEYWORD in) (Tuple (LPAR -LRB-) (NAME b) (COMMA ,) (NAME c) (RPAR -RRB-)) (KEYWORD if) "
    "(UnaryOp (KEYWORD not) (NAME a)) (RSQB ]))))"
)
LAMBDA = (
    "(TOP (Expr (Call (NAME f) (LPAR -LRB-) (Lambda (KEYWORD lambda) (NAME u) (COLON :) "
    "(NAME u)) (RPAR -RRB-))))"
)


@pytest.mark.parametrize(
    "source, trees",
    [
        ("def f(y):\n    x = g(y, *z)[1:]  # why\n", [CALL]),
        ("x = [a for a in (b, c) if not a]\nf(lambda u: u)\n", [COMPREHENSION, LAMBDA]),
        # too short, formatted, a blank in a token
        ("def f():\n    return -1\nu = f'{x}'\na.b.c += {k: 'a b'}\n", []),
    ],
)
def test_a_statement_becomes_the_tree_that_python_reads(source, trees):
    assert [format_tree(tree) for tree in parse_statements(source)] == trees


@pytest.mark.slow
def test_the_embedded_statements_are_those_of_the_catalogue(tmp_path):
    """Their checksum is verified; targets give the trees back, over the words."""
    corpus = build_trees(load_corpora("parsing"), "statements", None)
    store.write(tmp_path / "corpus.npz", corpus)
    copy = store.read(tmp_path / "corpus.npz")
    assert [len(split.source) for split in (copy.train, copy.dev, copy.test)] == [12598, 500, 500]
    for ids, words, tree in zip(
        copy.test.target, copy.test.source_text, copy.test.target_text, strict=True
    ):
        written = [copy.symbols[token] for token in ids]
        tree_again, repaired = rebuild(written, words.split(" "))
        if "<unk>" not in written:
            assert (format_tree(tree_again), repaired) == (tree, False)
    assert max(map(len, copy.test.target)) < 64


def test_a_users_trees_are_cut_in_three(tmp_path):
    catalogue, name = user_treebank(tmp_path)
    corpus = build_trees(catalogue, name, None)
    assert [len(split.source) for split in (corpus.train, corpus.dev, corpus.test)] == [23, 1, 1]
    assert corpus.test.source_text == ["the cow sees a cow"]
    assert corpus.test.target_text == [f"(TOP {LINES[-1]})"]
    symbols = " ".join(corpus.symbols[i] for i in corpus.test.target[0])
    assert symbols == "(S (NP DT NN )NP (VP VBZ (NP DT NN )NP )VP )S"
    assert corpus.checksum == catalogue.checksum(name)
    changed, _ = user_treebank(tmp_path, LINES[1:])
    assert changed.checksum(name) != corpus.checksum
    with pytest.raises(ConfigError, match="2 trees"):
        build_trees(*user_treebank(tmp_path, LINES[:2]), None)


def write_sections(tmp_path, leave_out="", **changes):
    for section in ("02", "03", "22", "23"):
        folder = tmp_path / "wsj" / section
        folder.mkdir(parents=True)
        if section != leave_out:
            (folder / f"wsj_{section}01.mrg").write_text("\n".join(LINES[:4]))
    entry = {
        "kind": "folder",
        "title": "a test",
        "about": "a test",
        "vocabulary": 40,
        "folders": ["wsj"],
    }
    sections = {"train": ["02", "03"], "dev": ["22"], "test": ["23"]}
    return TreeCatalogue(metric="f1", trees={"ptb": {**entry, "sections": sections, **changes}})


def test_a_licensed_copy_is_read_by_section(tmp_path):
    corpus = build_trees(write_sections(tmp_path), "ptb", str(tmp_path))
    assert [len(split.source) for split in (corpus.train, corpus.dev, corpus.test)] == [8, 4, 4]


def test_a_licensed_copy_that_is_not_whole_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="'ptb': .*ATTENTION_DATA_DIR"):
        load_corpora("parsing").checksum("ptb")
    catalogue = write_sections(tmp_path / "a", leave_out="22")
    with pytest.raises(ConfigError, match="wsj .*22.* dev"):
        catalogue.checksum("ptb", str(tmp_path / "a"))
    catalogue = write_sections(tmp_path / "b", trees={"train": 9, "dev": 4, "test": 4})
    with pytest.raises(ConfigError, match="train .*8 .*9"):
        build_trees(catalogue, "ptb", str(tmp_path / "b"))
