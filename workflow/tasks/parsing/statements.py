"""Python statements and their syntax trees, from the sources that the character model reads.

They are those of a pinned sympy.

Python's own parser gives the tree: a constituent for each node that holds more than one token,
labelled with its class; the tags are kinds of token. Only statements of one line with 4 to 16
tokens are used, made of what Python 3.9 and every later version parse alike: no formatted strings,
no walrus, no definitions, no imports. None occurs twice.

    x = f(y)
    (TOP (Assign (NAME x) (EQUAL =) (Call (NAME f) (LPAR -LRB-) (NAME y) (RPAR -RRB-))))
"""

import ast
import hashlib
import io
import keyword
import token
import tokenize
import warnings
from collections.abc import Iterator
from typing import NamedTuple

from nltk import Tree

from workflow.tasks.embedded import read_source_files
from workflow.tasks.parsing.trees import TOP, format_tree

STATEMENTS = (ast.Assign, ast.AugAssign, ast.Return, ast.Expr, ast.Assert, ast.Raise)
EXCLUDED = (ast.JoinedStr, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
LAYOUT = (token.NEWLINE, token.ENDMARKER, tokenize.NL, tokenize.COMMENT)
MIN_TOKENS = 4
MAX_TOKENS = 16
MAX_TOKEN_LENGTH = 20  # characters
BRACKETS = str.maketrans({"(": "-LRB-", ")": "-RRB-"})


class Token(NamedTuple):
    text: str
    kind: str
    column: int


def generate_trees() -> bytes:
    """Write one tree per line, in the order of a hash of the statement.

    So each split has statements of all files.
    """
    trees: dict[str, Tree] = {}
    for source in read_source_files():
        for tree in parse_statements(source.decode()):
            statement = " ".join(map(str, tree.leaves()))
            trees.setdefault(statement, tree)
    order = sorted(trees, key=_hash)
    lines = [format_tree(trees[statement]) for statement in order]
    return "\n".join(lines).encode()


def _hash(statement: str) -> bytes:
    return hashlib.sha256(statement.encode()).digest()


def parse_statements(source: str) -> Iterator[Tree]:
    """Parse those statements of one file that can be used."""
    lines = source.split("\n")
    with warnings.catch_warnings():
        # which escapes in strings it is about depends on the version
        warnings.simplefilter("ignore", SyntaxWarning)
        nodes = ast.walk(ast.parse(source))
    for node in nodes:
        if not isinstance(node, STATEMENTS):
            continue
        if node.lineno != node.end_lineno:
            continue
        line = lines[node.lineno - 1]
        if not line.isascii():
            continue
        tokens = list(_tokenise(line, node))
        if _is_usable(node, tokens):
            tree = _build_tree(node, tokens)
            yield Tree(TOP, [tree])


def _is_usable(node: ast.stmt, tokens: list[Token]) -> bool:
    if not MIN_TOKENS <= len(tokens) <= MAX_TOKENS:
        return False
    for text, _, _ in tokens:
        has_blank = " " in text or "\t" in text
        if has_blank or len(text) > MAX_TOKEN_LENGTH:
            return False
    return not any(isinstance(child, EXCLUDED) for child in ast.walk(node))


def _tokenise(line: str, node: ast.stmt) -> Iterator[Token]:
    """Cut a statement of one line into tokens."""
    statement = line[node.col_offset : node.end_col_offset]
    lines = io.StringIO(statement)
    for info in tokenize.generate_tokens(lines.readline):
        if info.type in LAYOUT:
            continue
        kind = token.tok_name[info.exact_type]
        if keyword.iskeyword(info.string):
            kind = "KEYWORD"
        _, column = info.start
        yield Token(info.string, kind, node.col_offset + column)


def _build_tree(node: ast.AST, tokens: list[Token]) -> Tree:
    """Build the tree of a node over its tokens."""
    tree = Tree(type(node).__name__, [])
    rest = tokens
    children = sorted(_located_children(node), key=_place)
    for child in children:
        before, inside, rest = _split_at(rest, child)
        tree.extend(map(_build_leaf, before))
        if len(inside) == 1:
            tree.append(_build_leaf(inside[0]))
        else:
            tree.append(_build_tree(child, inside))
    tree.extend(map(_build_leaf, rest))
    return tree


def _place(node: ast.AST) -> tuple[int, int]:
    """Order nodes by where they begin; of two that begin at one place the longer comes first."""
    return node.col_offset, -node.end_col_offset


def _located_children(node: ast.AST) -> Iterator[ast.AST]:
    """Find the nearest descendants with a place in the line.

    A comprehension or a list of arguments has none.
    """
    for child in ast.iter_child_nodes(node):
        if hasattr(child, "col_offset"):
            yield child
        else:
            yield from _located_children(child)


def _split_at(tokens: list[Token], node: ast.AST) -> tuple[list[Token], list[Token], list[Token]]:
    """Split tokens into those before a node, in it and after it."""
    before = []
    inside = []
    after = []
    for each in tokens:
        if each.column < node.col_offset:
            before.append(each)
        elif each.column < node.end_col_offset:
            inside.append(each)
        else:
            after.append(each)
    return before, inside, after


def _build_leaf(token: Token) -> Tree:
    return Tree(token.kind, [token.text.translate(BRACKETS)])
