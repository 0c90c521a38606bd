"""Python statements and their syntax trees, from the sources that the character model reads (sympy, pinned).

Python's own parser gives the tree: a constituent for each node that holds more than one token, labelled with its class;
the tags are kinds of token. Kept are statements of one line, 4 to 16 tokens long, made of what Python 3.9 and every
later one parse alike: no formatted strings, no walrus, no definitions, no imports. None occurs twice.

    x = f(y)     (TOP (Assign (NAME x) (EQUAL =) (Call (NAME f) (LPAR -LRB-) (NAME y) (RPAR -RRB-))))
"""

import ast
import hashlib
import io
import keyword
import token
import tokenize
import warnings
from collections.abc import Iterator

from nltk import Tree

from workflow.data.text import embedded
from workflow.data.trees.brackets import TOP, line

KEPT = (ast.Assign, ast.AugAssign, ast.Return, ast.Expr, ast.Assert, ast.Raise)
LEFT_OUT = (ast.JoinedStr, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
SHORTEST, LONGEST = 4, 16  # tokens of a statement
WIDEST = 20  # characters of a token
BRACKETS = str.maketrans({"(": "-LRB-", ")": "-RRB-"})
Token = tuple[str, str, int]  # text, kind, column


def trees() -> bytes:
    """One tree a line, in an order that has nothing to do with the files they come from."""
    found = {}
    for source in embedded.files():
        for statement in statements(source.decode()):
            found.setdefault(" ".join(map(str, statement.leaves())), statement)
    order = sorted(found, key=lambda text: hashlib.sha256(text.encode()).digest())
    return "\n".join(line(found[text]) for text in order).encode()


def statements(source: str) -> Iterator[Tree]:
    """The trees of the statements of one file that are kept."""
    lines = source.split("\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # of escapes in strings: which ones depends on the version
        nodes = ast.walk(ast.parse(source))
    for node in nodes:
        if isinstance(node, KEPT) and node.lineno == node.end_lineno and lines[node.lineno - 1].isascii():
            tokens = list(_tokens(lines[node.lineno - 1], node))
            if _is_kept(node, tokens):
                yield Tree(TOP, [_tree(node, tokens)])


def _is_kept(node: ast.stmt, tokens: list[Token]) -> bool:
    fits = SHORTEST <= len(tokens) <= LONGEST and all(len(text) <= WIDEST for text, _, _ in tokens)
    plain = not any(" " in text or "\t" in text for text, _, _ in tokens)
    return fits and plain and not any(isinstance(one, LEFT_OUT) for one in ast.walk(node))


def _tokens(text: str, node: ast.stmt) -> Iterator[Token]:
    """The tokens of a statement that stands in one line."""
    piece = text[node.col_offset : node.end_col_offset]
    for one in tokenize.generate_tokens(io.StringIO(piece).readline):
        if one.type in (token.NEWLINE, token.ENDMARKER, tokenize.NL, tokenize.COMMENT):
            continue
        kind = "KEYWORD" if keyword.iskeyword(one.string) else token.tok_name[one.exact_type]
        yield one.string, kind, node.col_offset + one.start[1]


def _tree(node: ast.AST, tokens: list[Token]) -> Tree:
    """The tree of a node over the tokens from its first to its last."""
    made, rest = Tree(type(node).__name__, []), tokens
    for child in sorted(_placed(node), key=lambda one: (one.col_offset, -one.end_col_offset)):
        before, inside, rest = _cut(rest, child)
        made.extend(map(_leaf, before))
        made.append(_leaf(inside[0]) if len(inside) == 1 else _tree(child, inside))
    made.extend(map(_leaf, rest))
    return made


def _placed(node: ast.AST) -> Iterator[ast.AST]:
    """The nearest descendants that stand somewhere in the line: a comprehension or a list of arguments does not."""
    for child in ast.iter_child_nodes(node):
        if hasattr(child, "col_offset"):
            yield child
        else:
            yield from _placed(child)


def _cut(tokens: list[Token], node: ast.AST) -> tuple[list[Token], list[Token], list[Token]]:
    """The tokens before a node, in it and after it."""
    begins = [one for one in tokens if one[2] < node.col_offset]
    ends = [one for one in tokens if one[2] >= node.end_col_offset]
    return begins, tokens[len(begins) : len(tokens) - len(ends)], ends


def _leaf(one: Token) -> Tree:
    text, kind, _ = one
    return Tree(kind, [text.translate(BRACKETS)])
