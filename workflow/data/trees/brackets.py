"""Syntax trees in brackets, as the Penn Treebank writes them: (S (NP (DT the) (NN board)) (VP (VBZ sits))).

Cleaned in the usual way: traces go, and with them constituents that held nothing else; of a label its first part is
kept (NP-SBJ-1 is NP, PP=2 is PP, -LRB- stays); the outermost bracket is TOP, which no score counts.
"""

import re
from collections.abc import Iterator

from nltk import Tree

from workflow.config.errors import ConfigError

TOP, TRACE = "TOP", "-NONE-"
DEEPEST = 200  # brackets in brackets; people write a tenth of that
PARTS = re.compile(r"[()]|[^\s()]+")


def read(text: str, where: str) -> list[Tree]:
    """All trees of a text, cleaned; `ConfigError` with `where` and the line where brackets do not fit."""
    trees = [clean(_tree(tokens, f"{where}, line {line}")) for line, tokens in _brackets(text, where)]
    return [tree for tree in trees if tree is not None]


def _brackets(text: str, where: str) -> Iterator[tuple[int, list[str]]]:
    """The tokens of each outermost bracket, and the line it begins in."""
    depth, tokens, begun = 0, [], 0
    for line, content in enumerate(text.split("\n"), start=1):
        for part in PARTS.findall(content):
            if depth == 0:
                if part != "(":
                    what = "a bracket closes that was not opened" if part == ")" else f"'{part}' stands in no bracket"
                    raise ConfigError(f"{where}, line {line}: {what}; expected trees as in (S (NP (NN word)))")
                begun = line
            tokens.append(part)
            depth += (part == "(") - (part == ")")
            if depth > DEEPEST:
                raise ConfigError(
                    f"{where}, line {begun}: more than {DEEPEST} brackets in each other; no tree is so deep"
                )
            if depth == 0:
                yield begun, tokens
                tokens = []
    if depth:
        raise ConfigError(f"{where}, line {begun}: the bracket that opens here is never closed; {depth} are missing")


def _tree(tokens: list[str], where: str) -> Tree:
    """One bracket -> its tree. A bracket without a label is TOP; each word has a bracket of its own, (TAG word)."""
    stack: list[Tree] = [Tree("", [])]
    for place, token in enumerate(tokens):
        if token == "(":
            labelled = tokens[place + 1] not in "()"
            stack.append(Tree(tokens[place + 1] if labelled else TOP, []))
        elif token == ")":
            done = stack.pop()
            if not len(done):
                raise ConfigError(f"{where}: the bracket ({done.label()}) holds nothing")
            stack[-1].append(done)
        elif tokens[place - 1] != "(":
            stack[-1].append(token)
    (tree,) = stack[0]
    for one in tree.subtrees():
        if any(isinstance(child, str) for child in one) and len(one) > 1:
            raise ConfigError(
                f"{where}: the words of ({one.label()} {' '.join(map(str, one))}) need a tag each, (TAG word)"
            )
    return tree


def clean(tree: Tree) -> Tree | None:
    """Without traces, functions and indices, under one TOP; None where only traces were."""
    kept = _kept(tree)
    if kept is None or not isinstance(kept[0], Tree):
        return kept if kept is None else Tree(TOP, [kept])
    while kept.label() == TOP and len(kept) == 1 and kept[0].label() == TOP:
        kept = kept[0]
    return kept if kept.label() == TOP else Tree(TOP, [kept])


def _kept(tree: Tree) -> Tree | None:
    if tree.label() == TRACE:
        return None
    if isinstance(tree[0], str):
        return Tree(tree.label(), list(tree))
    children = [made for child in tree if (made := _kept(child)) is not None]
    return Tree(plain(tree.label()), children) if children else None


def plain(label: str) -> str:
    """NP-SBJ-1 -> NP, NP=2 -> NP, ADVP|PRT -> ADVP; what begins with one of these is a label whole."""
    return label if label[0] in "-=|" else re.split("[-=|]", label)[0]


def line(tree: Tree) -> str:
    """One tree on one line."""
    return " ".join(str(tree).split())


def tagged(tree: Tree) -> list[tuple[str, str]]:
    """(word, tag) of each leaf."""
    return [(str(word), str(tag)) for word, tag in tree.pos()]
