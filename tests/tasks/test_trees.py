"""Treebanks: Python statements, bracketed files, sections of a licensed copy."""

import pytest

from tests.tasks._texts import sizes
from workflow.config.errors import ConfigError
from workflow.tasks.parsing.catalogue import TreeCatalogue
from workflow.tasks.parsing.data import build_trees
from workflow.tasks.parsing.statements import parse_statements
from workflow.tasks.parsing.trees import format_tree
from workflow.tasks.spec import load_corpora

WORDS = ("cat", "dog", "bird", "fish", "cow")
LINES = []
for a in WORDS:
    for b in WORDS:
        LINES.append(f"(S (NP (DT the) (NN {a})) (VP (VBZ sees) (NP (DT a) (NN {b}))))")

CALL = (
    "(TOP (Assign (NAME x) (EQUAL =) (Subscript (Call (NAME g) (LPAR -LRB-) (NAME y) (COMMA ,) "
    "(Starred (STAR *) (NAME z)) (RPAR -RRB-)) (LSQB [) (Slice (NUMBER 1) (COLON :)) (RSQB ]))))"
)
COMPREHENSION = (
    "(TOP (Assign (NAME x) (EQUAL =) (ListComp (LSQB [) (NAME a) (KEYWORD for) (NAME a) "
    "(KEYWORD in) (Tuple (LPAR -LRB-) (NAME b) (COMMA ,) (NAME c) (RPAR -RRB-)) (KEYWORD if) "
    "(UnaryOp (KEYWORD not) (NAME a)) (RSQB ]))))"
)


@pytest.mark.parametrize(
    "source, trees",
    [
        ("def f(y):\n    x = g(y, *z)[1:]  # why\n", [CALL]),
        ("x = [a for a in (b, c) if not a]\n", [COMPREHENSION]),
        # too short, formatted, a blank in a token
        ("def f():\n    return -1\nu = f'{x}'\na.b.c += {k: 'a b'}\n", []),
    ],
)
def test_a_statement_becomes_the_tree_that_python_reads(source, trees):
    assert [format_tree(tree) for tree in parse_statements(source)] == trees


def user_treebank(folder, lines=LINES) -> tuple[TreeCatalogue, str]:
    path = folder / "my.mrg"
    path.write_text("\n".join(lines))
    return TreeCatalogue(metric="f1", trees={}), f"trees:{path}"


def test_a_users_trees_are_cut_in_three(tmp_path):
    catalogue, name = user_treebank(tmp_path)
    corpus = build_trees(catalogue, name, None)
    assert sizes(corpus) == [23, 1, 1]
    assert corpus.test.source_text == ["the cow sees a cow"]
    assert corpus.test.target_text == [f"(TOP {LINES[-1]})"]
    symbols = [corpus.symbols[i] for i in corpus.test.target[0]]
    assert " ".join(symbols) == "(S (NP DT NN )NP (VP VBZ (NP DT NN )NP )VP )S"
    assert corpus.checksum == catalogue.checksum(name)
    user_treebank(tmp_path, LINES[1:])
    assert catalogue.checksum(name) != corpus.checksum
    with pytest.raises(ConfigError, match="2 trees"):
        build_trees(*user_treebank(tmp_path, LINES[:2]), None)


def write_sections(folder, leave_out="", **changes) -> TreeCatalogue:
    for section in {"02", "03", "22", "23"} - {leave_out}:
        place = folder / "wsj" / section
        place.mkdir(parents=True)
        file = place / f"wsj_{section}01.mrg"
        file.write_text("\n".join(LINES[:4]))
    entry = {"kind": "folder", "title": "a test", "about": "a test", "vocabulary": 40}
    sections = {"train": ["02", "03"], "dev": ["22"], "test": ["23"]}
    entry |= {"folders": ["wsj"], "sections": sections, **changes}
    return TreeCatalogue(metric="f1", trees={"ptb": entry})


def test_a_licensed_copy_is_read_by_section_or_refused_where_it_is_not_whole(tmp_path):
    corpus = build_trees(write_sections(tmp_path), "ptb", str(tmp_path))
    assert sizes(corpus) == [8, 4, 4]
    with pytest.raises(ConfigError, match="'ptb': .*ATTENTION_DATA_DIR"):
        load_corpora("parsing").checksum("ptb")
    catalogue = write_sections(tmp_path / "a", leave_out="22")
    with pytest.raises(ConfigError, match="wsj .*22.* dev"):
        catalogue.checksum("ptb", str(tmp_path / "a"))
    catalogue = write_sections(tmp_path / "b", trees={"train": 9, "dev": 4, "test": 4})
    with pytest.raises(ConfigError, match="train .*8 .*9"):
        build_trees(catalogue, "ptb", str(tmp_path / "b"))
