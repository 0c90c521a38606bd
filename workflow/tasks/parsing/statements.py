"""Python statements and their syntax trees, from the sources that the character model reads (sympy,
pinned).

Python's own parser gives the tree: a constituent for each node that holds more than one token,
labelled with its class; the tags are kinds of token. Only statements of one line with 4 to 16
tokens are used, made of what Python 3.9 and every later version parse alike: no formatted strings,
no walrus, no definitions, no imports. None occurs twice.

    x = f(y)     (TOP (Assign (NAME x) (EQUAL =) (Call (NAME f) (LPAR -LRB-) (NAME y) (RPAR
    -RRB-))))
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
MIN_TOKENS, MAX_TOKENS = 4, 16
MAX_TOKEN_LENGTH = 20  # characters
BRACKETS = str.maketrans({"(": "-LRB-", ")": "-RRB-"})


class Token(NamedTuple):
    text: str
    kind: str
    column: int


def generate_trees() -> bytes:
    """Write one tree per line, sorted by a hash of the statement, so that each split has statements
    of all files.
    """
    trees = {}
    for source in read_source_files():
        for tree in parse_statements(source.decode()):
            trees.setdefault(" ".join(map(str, tree.leaves())), tree)
    order = sorted(trees, key=lambda text: hashlib.sha256(text.encode()).digest())
    return "\n".join(format_tree(trees[text]) for text in order).encode()


def parse_statements(source: str) -> Iterator[Tree]:
    """Parse those statements of one file that can be used."""
    lines = source.split("\n")
    with warnings.catch_warnings():
        # which escapes in strings it is about depends on the version
        warnings.simplefilter("ignore", SyntaxWarning)
        nodes = ast.walk(ast.parse(source))
    for node in nodes:
        if (
            isinstance(node, STATEMENTS)
            and node.lineno == node.end_lineno
            and lines[node.lineno - 1].isascii()
        ):
            tokens = list(_tokenise(lines[node.lineno - 1], node))
            if _is_usable(node, tokens):
                yield Tree(TOP, [_build_tree(node, tokens)])


def _is_usable(node: ast.stmt, tokens: list[Token]) -> bool:
    has_size = MIN_TOKENS <= len(tokens) <= MAX_TOKENS
    has_short_tokens = all(len(token.text) <= MAX_TOKEN_LENGTH for token in tokens)
    has_blank = any(" " in token.text or "\t" in token.text for token in tokens)
    is_excluded = any(isinstance(child, EXCLUDED) for child in ast.walk(node))
    return has_size and has_short_tokens and not has_blank and not is_excluded


def _tokenise(line: str, node: ast.stmt) -> Iterator[Token]:
    """Cut a statement of one line into tokens."""
    statement = line[node.col_offset : node.end_col_offset]
    for info in tokenize.generate_tokens(io.StringIO(statement).readline):
        if info.type not in LAYOUT:
            kind = "KEYWORD" if keyword.iskeyword(info.string) else token.tok_name[info.exact_type]
            yield Token(info.string, kind, node.col_offset + info.start[1])


def _build_tree(node: ast.AST, tokens: list[Token]) -> Tree:
    """Build the tree of a node over its tokens."""
    tree, rest = Tree(type(node).__name__, []), tokens
    for child in sorted(
        _located_children(node), key=lambda child: (child.col_offset, -child.end_col_offset)
    ):
        before, inside, rest = _split_at(rest, child)
        tree.extend(map(_build_leaf, before))
        tree.append(_build_leaf(inside[0]) if len(inside) == 1 else _build_tree(child, inside))
    tree.extend(map(_build_leaf, rest))
    return tree


def _located_children(node: ast.AST) -> Iterator[ast.AST]:
    """Find the nearest descendants with a place in the line: a comprehension or a list of arguments
    has none.
    """
    for child in ast.iter_child_nodes(node):
        if hasattr(child, "col_offset"):
            yield child
        else:
            yield from _located_children(child)


def _split_at(tokens: list[Token], node: ast.AST) -> tuple[list[Token], list[Token], list[Token]]:
    """Split tokens into those before a node, in it and after it."""
    before = [token for token in tokens if token.column < node.col_offset]
    after = [token for token in tokens if token.column >= node.end_col_offset]
    return before, tokens[len(before) : len(tokens) - len(after)], after


def _build_leaf(token: Token) -> Tree:
    return Tree(token.kind, [token.text.translate(BRACKETS)])
