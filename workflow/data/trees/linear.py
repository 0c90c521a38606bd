"""A tree as a row of symbols (Vinyals et al. 2015, section 2.2), and a tree again from what a net wrote.

    (TOP (S (NP (NNP John)) (VP (VBZ sleeps)) (. .)))        (S  (NP NNP )NP  (VP VBZ )VP  . )S

Labels are opened and closed, tags stand for themselves, words are left out, and so is TOP.
"""

from collections.abc import Iterable

from nltk import Tree

from workflow.data.trees.brackets import DEEPEST, TOP

UNTAGGED = "?"  # the tag of a word for which none was written


def linear(tree: Tree) -> list[str]:
    """The symbols of a tree, TOP left out."""
    found: list[str] = []
    for child in tree:
        found += _symbols(child)
    return found


def _symbols(tree: Tree) -> list[str]:
    if isinstance(tree[0], str):
        return [tree.label()]
    inner = [symbol for child in tree for symbol in _symbols(child)]
    return [f"({tree.label()}", *inner, f"){tree.label()}"]


def rebuilt(symbols: Iterable[str], words: list[str]) -> tuple[Tree, bool]:
    """The tree that was written over these words, under TOP, and whether it had to be repaired for that.

    A closing label closes what is open inside it too; one that nothing opened is left out, and so are tags beyond the
    last word and labels deeper than any tree. Words for which no tag was written hang at the end of the outermost label
    that is open, what is still open is closed, and labels that hold no word are left out.
    """
    stack, left, repaired = [Tree(TOP, [])], list(reversed(words)), False
    for symbol in symbols:
        kind, label = symbol[:1], symbol[1:]
        if kind == "(" and label and len(stack) < DEEPEST:
            stack[-1].append(Tree(label, []))
            stack.append(stack[-1][-1])
        elif kind == "(" and label:
            repaired = True
        elif kind == ")" and label:
            opened = next((n for n in range(len(stack) - 1, 0, -1) if stack[n].label() == label), len(stack))
            repaired |= opened != len(stack) - 1
            del stack[opened:]
        elif left:
            stack[-1].append(Tree(symbol, [left.pop()]))
        else:
            repaired = True
    repaired |= bool(left) or len(stack) > 1
    stack[min(1, len(stack) - 1)].extend(Tree(UNTAGGED, [word]) for word in reversed(left))
    return stack[0], _drop_empty(stack[0]) or repaired


def _drop_empty(tree: Tree) -> bool:
    """Take labels without words out of the tree; whether there were any."""
    found = False
    for place in reversed(range(len(tree))):
        child = tree[place]
        if isinstance(child, Tree):
            found |= _drop_empty(child)
            if not len(child):
                del tree[place]
                found = True
    return found
