"""A tree as a sequence of symbols (Vinyals et al. 2015, section 2.2), and the tree of a sequence that a net wrote.

    (TOP (S (NP (NNP John)) (VP (VBZ sleeps)) (. .)))        (S  (NP NNP )NP  (VP VBZ )VP  . )S

A label has an opening and a closing symbol, a tag is a symbol itself; words and TOP are left out.
"""

from collections.abc import Iterable

from nltk import Tree

from workflow.tasks.parsing.trees import MAX_DEPTH, TOP

UNTAGGED = "?"  # the tag of a word for which the net wrote none


def linearise(tree: Tree) -> list[str]:
    """The symbols of a tree, TOP left out."""
    return [symbol for child in tree for symbol in _symbols(child)]


def _symbols(tree: Tree) -> list[str]:
    if isinstance(tree[0], str):
        return [tree.label()]
    inner = [symbol for child in tree for symbol in _symbols(child)]
    return [f"({tree.label()}", *inner, f"){tree.label()}"]


def rebuild(symbols: Iterable[str], words: list[str]) -> tuple[Tree, bool]:
    """The tree of the symbols over these words, under TOP, and whether the symbols had to be repaired for that.

    A closing label also closes all that is open inside it; one that nothing opened is ignored, and so are tags beyond
    the last word and labels deeper than any tree. Words without a tag are added to the outermost open label, what is
    still open is closed, and labels without a word are removed.
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
            opened = next((n for n in range(len(stack) - 1, 0, -1) if stack[n].label() == label), len(stack))
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
    """Remove labels without words from the tree; whether there were any."""
    dropped = False
    for n in reversed(range(len(tree))):
        child = tree[n]
        if isinstance(child, Tree):
            dropped |= _drop_empty(child)
            if not len(child):
                del tree[n]
                dropped = True
    return dropped
