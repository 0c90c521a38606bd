"""Syntax trees in brackets, as the Penn Treebank writes them: (S (NP (DT the) (NN board)) (VP (VBZ sits))).

Cleaned in the usual way: traces are removed, and constituents that contain nothing else; of a label the first part is
kept (NP-SBJ-1 is NP, PP=2 is PP, -LRB- stays); the outermost bracket is TOP, which no score counts.
"""

import re
from collections.abc import Iterator

from nltk import Tree

from workflow.config.errors import ConfigError

TOP, TRACE = "TOP", "-NONE-"
MAX_DEPTH = 200  # of brackets in brackets; the trees of treebanks have a tenth of that
TOKENS = re.compile(r"[()]|[^\s()]+")


def read_trees(text: str, where: str) -> list[Tree]:
    """All trees of a text, cleaned; `ConfigError` with `where` and the line where brackets do not match."""
    trees = [clean(_parse(tokens, f"{where}, line {line}")) for line, tokens in _split_brackets(text, where)]
    return [tree for tree in trees if tree is not None]


def _split_brackets(text: str, where: str) -> Iterator[tuple[int, list[str]]]:
    """The tokens of each outermost bracket, and the line it begins in."""
    depth, tokens, first_line = 0, [], 0
    for line, content in enumerate(text.split("\n"), start=1):
        for token in TOKENS.findall(content):
            if depth == 0:
                if token != "(":
                    reason = f"'{token}' stands in no bracket"
                    if token == ")":
                        reason = "a bracket closes that was not opened"
                    raise ConfigError(f"{where}, line {line}: {reason}; expected trees as in (S (NP (NN word)))")
                first_line = line
            tokens.append(token)
            depth += (token == "(") - (token == ")")
            if depth > MAX_DEPTH:
                reason = f"more than {MAX_DEPTH} brackets in each other; no tree is so deep"
                raise ConfigError(f"{where}, line {first_line}: {reason}")
            if depth == 0:
                yield first_line, tokens
                tokens = []
    if depth:
        reason = f"the bracket that opens here is never closed; {depth} are missing"
        raise ConfigError(f"{where}, line {first_line}: {reason}")


def _parse(tokens: list[str], where: str) -> Tree:
    """The tree of one bracket. A bracket without a label is TOP; each word has a bracket of its own, (TAG word)."""
    stack: list[Tree] = [Tree("", [])]
    for n, token in enumerate(tokens):
        if token == "(":
            has_label = tokens[n + 1] not in "()"
            stack.append(Tree(tokens[n + 1] if has_label else TOP, []))
        elif token == ")":
            constituent = stack.pop()
            if not len(constituent):
                raise ConfigError(f"{where}: the bracket ({constituent.label()}) holds nothing")
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
    """Without traces, functions and indices, under one TOP; None for a tree of traces alone."""
    cleaned = _remove_traces(tree)
    if cleaned is None:
        return None
    if not isinstance(cleaned[0], Tree):
        return Tree(TOP, [cleaned])
    while cleaned.label() == TOP and len(cleaned) == 1 and cleaned[0].label() == TOP:
        cleaned = cleaned[0]
    return cleaned if cleaned.label() == TOP else Tree(TOP, [cleaned])


def _remove_traces(tree: Tree) -> Tree | None:
    """A copy with plain labels; None where nothing but traces is in it."""
    if tree.label() == TRACE:
        return None
    if isinstance(tree[0], str):
        return Tree(tree.label(), list(tree))
    children = [child for child in map(_remove_traces, tree) if child is not None]
    return Tree(plain_label(tree.label()), children) if children else None


def plain_label(label: str) -> str:
    """NP-SBJ-1 -> NP, NP=2 -> NP, ADVP|PRT -> ADVP; a label that begins with one of these signs is not cut."""
    return label if label[0] in "-=|" else re.split("[-=|]", label)[0]


def format_tree(tree: Tree) -> str:
    """The tree in brackets on one line."""
    return " ".join(str(tree).split())


def tagged_words(tree: Tree) -> list[tuple[str, str]]:
    """(word, tag) of each leaf."""
    return [(str(word), str(tag)) for word, tag in tree.pos()]
