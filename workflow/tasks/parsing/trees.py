"""Syntax trees in brackets, as the Penn Treebank writes them: (S (NP (DT the) (NN board)) (VP (VBZ
sits))).

Cleaned in the usual way: traces are removed, and constituents that contain nothing else; of a label
or tag the first part is kept (NP-SBJ-1 is NP, PP=2 is PP, -LRB- stays); the outermost bracket is
TOP, which no score counts, whether a tool calls it that, ROOT, S1, VROOT or nothing. Blanks and
line breaks are those of ASCII: a word may hold any other.

A tree is also a sequence of symbols (Vinyals et al. 2015, section 2.2), and what a net wrote is
made a tree again.

    (TOP (S (NP (NNP John)) (VP (VBZ sleeps)) (. .)))        (S  (NP NNP )NP  (VP VBZ )VP  . )S

A label has an opening and a closing symbol, a tag is a symbol itself; words and TOP are left out.
"""

import re
from collections.abc import Iterable, Iterator

from nltk import Tree

from workflow.config.errors import ConfigError
from workflow.tasks.plain_text import find_no_text

TOP, TRACE = "TOP", "-NONE-"
ROOTS = (TOP, "ROOT", "S1", "VROOT")
MAX_DEPTH = 200  # of brackets in brackets; the trees of treebanks have a tenth of that
BARE = re.compile(r"\((-[LR]RB-)\s[()]\)")  # a bracket as the word that some tools leave it
TOKENS = re.compile(r"[()]|[^\s()]+", re.ASCII)


def read_trees(text: str, where: str) -> list[Tree]:
    """Read and clean all trees of a text; `ConfigError` with `where` and the line where brackets do
    not match.

    And where a character is none of a text.
    """
    if wrong := find_no_text(text):
        raise ConfigError(f"{where}, {wrong}")
    trees = [
        clean(_parse(tokens, f"{where}, line {line}"))
        for line, tokens in _split_brackets(text, where)
    ]
    return [tree for tree in trees if tree is not None]


def _split_brackets(text: str, where: str) -> Iterator[tuple[int, list[str]]]:
    """Find the outermost brackets: the line each begins in, and its tokens."""
    depth, tokens, first_line = 0, [], 0
    for line, content in enumerate(text.split("\n"), start=1):
        for token in TOKENS.findall(BARE.sub(r"(\1 \1)", content)):
            if depth == 0:
                if token != "(":
                    closes = token == ")"
                    reason = (
                        "unmatched closing bracket"
                        if closes
                        else f"'{token}' is outside all brackets"
                    )
                    raise ConfigError(
                        f"{where}, line {line}: {reason}; expected trees as in (S (NP (NN word)))"
                    )
                first_line = line
            tokens.append(token)
            depth += (token == "(") - (token == ")")
            if depth > MAX_DEPTH:
                raise ConfigError(
                    f"{where}, line {first_line}: brackets nested more than {MAX_DEPTH} deep"
                )
            if depth == 0:
                yield first_line, tokens
                tokens = []
    if depth:
        reason = f"the bracket that opens here is never closed; {depth} are missing"
        raise ConfigError(f"{where}, line {first_line}: {reason}")


def _parse(tokens: list[str], where: str) -> Tree:
    """Parse one bracket. A bracket without a label is TOP; each word has a bracket of its own, (TAG
    word).
    """
    stack: list[Tree] = [Tree("", [])]
    for n, token in enumerate(tokens):
        if token == "(":
            has_label = tokens[n + 1] not in "()"
            stack.append(Tree(tokens[n + 1] if has_label else TOP, []))
        elif token == ")":
            constituent = stack.pop()
            if not len(constituent):
                raise ConfigError(f"{where}: the bracket ({constituent.label()}) is empty")
            stack[-1].append(constituent)
        elif tokens[n - 1] != "(":
            stack[-1].append(token)
    (tree,) = stack[0]
    for subtree in tree.subtrees():
        if any(isinstance(child, str) for child in subtree) and len(subtree) > 1:
            bracket = f"({subtree.label()} {' '.join(map(str, subtree))})"
            raise ConfigError(f"{where}: the words of {bracket} need a tag each, (TAG word)")
    return tree


def clean(tree: Tree) -> Tree | None:
    """Remove traces, functions and indices, and put the rest under one TOP; None for a tree of
    traces alone.
    """
    cleaned = _remove_traces(tree)
    while cleaned is not None and cleaned.label() in ROOTS and isinstance(cleaned[0], Tree):
        if len(cleaned) > 1:
            return Tree(TOP, list(cleaned))
        cleaned = cleaned[0]
    return None if cleaned is None else Tree(TOP, [cleaned])


def _remove_traces(tree: Tree) -> Tree | None:
    """Copy a tree with plain labels; None where nothing but traces is in it."""
    if tree.label() == TRACE:
        return None
    if isinstance(tree[0], str):
        return Tree(plain_label(tree.label()), list(tree))
    children = [child for child in map(_remove_traces, tree) if child is not None]
    return Tree(plain_label(tree.label()), children) if children else None


def plain_label(label: str) -> str:
    """Cut a label, NP-SBJ-1 -> NP, NP=2 -> NP, ADVP|PRT -> ADVP, unless it begins with one of these
    signs.
    """
    return label if label[0] in "-=|" else re.split("[-=|]", label)[0]


def format_tree(tree: Tree) -> str:
    """Write a tree in brackets on one line, which `read_trees` reads again."""
    children = (child if isinstance(child, str) else format_tree(child) for child in tree)
    return f"({tree.label()} {' '.join(children)})"


UNTAGGED = "?"  # the tag of a word for which the net wrote none


def linearise(tree: Tree) -> list[str]:
    """List the symbols of a tree, TOP left out."""
    return [symbol for child in tree for symbol in _symbols(child)]


def _symbols(tree: Tree) -> list[str]:
    if isinstance(tree[0], str):
        return [tree.label()]
    inner = [symbol for child in tree for symbol in _symbols(child)]
    return [f"({tree.label()}", *inner, f"){tree.label()}"]


def rebuild(symbols: Iterable[str], words: list[str]) -> tuple[Tree, bool]:
    """Build a tree over these words from symbols, under TOP, and say whether the symbols had to be
    repaired for that.

    A closing label also closes all that is open inside it; one that nothing opened is ignored, and
    so are tags beyond the last word and labels deeper than any tree. Words without a tag are added
    to the outermost open label, what is still open is closed, and labels without a word are
    removed.
    """
    stack, remaining, repaired = [Tree(TOP, [])], list(reversed(words)), False
    for symbol in symbols:
        kind, label = symbol[:1], symbol[1:]
        if kind == "(" and label and len(stack) < MAX_DEPTH:
            stack[-1].append(Tree(label, []))
            stack.append(stack[-1][-1])
        elif kind == "(" and label:
            repaired = True
        elif kind == ")" and label:
            opened = next(
                (n for n in range(len(stack) - 1, 0, -1) if stack[n].label() == label), len(stack)
            )
            repaired |= opened != len(stack) - 1
            del stack[opened:]
        elif remaining:
            stack[-1].append(Tree(symbol, [remaining.pop()]))
        else:
            repaired = True
    repaired |= bool(remaining) or len(stack) > 1
    stack[min(1, len(stack) - 1)].extend(Tree(UNTAGGED, [word]) for word in reversed(remaining))
    return stack[0], _drop_empty(stack[0]) or repaired


def _drop_empty(tree: Tree) -> bool:
    """Remove labels without words from the tree, and say whether there were any."""
    dropped = False
    for n in reversed(range(len(tree))):
        child = tree[n]
        if isinstance(child, Tree):
            dropped |= _drop_empty(child)
            if not len(child):
                del tree[n]
                dropped = True
    return dropped
