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
    """Read and clean all trees of a text.

    `ConfigError` with `where` and the line for brackets that do not match, and for a character that
    no text may hold.
    """
    wrong = find_no_text(text)
    if wrong:
        raise ConfigError(f"{where}, {wrong}")
    trees = []
    for line, tokens in _split_brackets(text, where):
        parsed = _parse(tokens, f"{where}, line {line}")
        tree = clean(parsed)
        if tree is not None:
            trees.append(tree)
    return trees


def _split_brackets(text: str, where: str) -> Iterator[tuple[int, list[str]]]:
    """Find the outermost brackets: the line each begins in, and its tokens."""
    depth = 0
    tokens: list[str] = []
    first_line = 0
    for line, content in enumerate(text.split("\n"), start=1):
        content = BARE.sub(r"(\1 \1)", content)
        for token in TOKENS.findall(content):
            if depth == 0:
                _refuse_outside(token, f"{where}, line {line}")
                first_line = line
            tokens.append(token)
            if token == "(":
                depth += 1
            elif token == ")":
                depth -= 1
            if depth > MAX_DEPTH:
                reason = f"brackets nested more than {MAX_DEPTH} deep"
                raise ConfigError(f"{where}, line {first_line}: {reason}")
            if depth == 0:
                yield first_line, tokens
                tokens = []
    if depth:
        reason = f"the bracket that opens here is never closed; {depth} are missing"
        raise ConfigError(f"{where}, line {first_line}: {reason}")


def _refuse_outside(token: str, where: str) -> None:
    """Raise `ConfigError` for a token outside all brackets that opens none."""
    if token == "(":
        return
    reason = f"'{token}' is outside all brackets"
    if token == ")":
        reason = "unmatched closing bracket"
    raise ConfigError(f"{where}: {reason}; expected trees as in (S (NP (NN word)))")


def _parse(tokens: list[str], where: str) -> Tree:
    """Parse one bracket. One without a label is TOP; each word needs a bracket: (TAG word)."""
    whole = Tree("", [])
    stack = [whole]
    for n, token in enumerate(tokens):
        if token == "(":
            following = tokens[n + 1]
            label = TOP if following in "()" else following
            stack.append(Tree(label, []))
        elif token == ")":
            constituent = stack.pop()
            if not len(constituent):
                raise ConfigError(f"{where}: the bracket ({constituent.label()}) is empty")
            stack[-1].append(constituent)
        elif tokens[n - 1] != "(":
            stack[-1].append(token)
    (tree,) = whole
    for subtree in tree.subtrees():
        has_word = any(isinstance(child, str) for child in subtree)
        if has_word and len(subtree) > 1:
            words = " ".join(map(str, subtree))
            bracket = f"({subtree.label()} {words})"
            raise ConfigError(f"{where}: the words of {bracket} need a tag each, (TAG word)")
    return tree


def clean(tree: Tree) -> Tree | None:
    """Remove traces, functions and indices; put the rest under one TOP. None for traces alone."""
    cleaned = _remove_traces(tree)
    if cleaned is None:
        return None
    while cleaned.label() in ROOTS and isinstance(cleaned[0], Tree):
        if len(cleaned) > 1:
            return Tree(TOP, list(cleaned))
        cleaned = cleaned[0]
    return Tree(TOP, [cleaned])


def _remove_traces(tree: Tree) -> Tree | None:
    """Copy a tree with plain labels; None where nothing but traces is in it."""
    if tree.label() == TRACE:
        return None
    label = plain_label(tree.label())
    if isinstance(tree[0], str):
        return Tree(label, list(tree))
    children = []
    for child in tree:
        kept = _remove_traces(child)
        if kept is not None:
            children.append(kept)
    return Tree(label, children) if children else None


def plain_label(label: str) -> str:
    """Cut a label: NP-SBJ-1 -> NP, NP=2 -> NP, ADVP|PRT -> ADVP, but not -LRB-."""
    if label[0] in "-=|":
        return label
    parts = re.split("[-=|]", label)
    return parts[0]


def format_tree(tree: Tree) -> str:
    """Write a tree in brackets on one line, which `read_trees` reads again."""
    children = []
    for child in tree:
        written = child if isinstance(child, str) else format_tree(child)
        children.append(written)
    return f"({tree.label()} {' '.join(children)})"


UNTAGGED = "?"  # the tag of a word for which the net wrote none


def linearise(tree: Tree) -> list[str]:
    """List the symbols of a tree, TOP left out."""
    symbols = []
    for child in tree:
        symbols += _symbols(child)
    return symbols


def _symbols(tree: Tree) -> list[str]:
    label = tree.label()
    if isinstance(tree[0], str):
        return [label]
    return [f"({label}", *linearise(tree), f"){label}"]


def rebuild(symbols: Iterable[str], words: list[str]) -> tuple[Tree, bool]:
    """Build a tree over these words from symbols, under TOP; say whether the symbols were repaired.

    A closing label also closes all that is open inside it; one that nothing opened is ignored, and
    so are tags beyond the last word and labels deeper than any tree. Words without a tag are added
    to the outermost open label, what is still open is closed, and labels without a word are
    removed.
    """
    top = Tree(TOP, [])
    stack = [top]  # what is open, the outermost first
    remaining = list(reversed(words))
    repaired = False
    for symbol in symbols:
        kind = symbol[:1]
        label = symbol[1:]
        if kind == "(" and label:
            if len(stack) == MAX_DEPTH:
                repaired = True
                continue
            opened = Tree(label, [])
            stack[-1].append(opened)
            stack.append(opened)
        elif kind == ")" and label:
            # closes it and all that is open inside it
            place = _innermost(stack, label)
            if place != len(stack) - 1:
                repaired = True
            del stack[place:]
        elif remaining:
            word = remaining.pop()
            stack[-1].append(Tree(symbol, [word]))
        else:
            repaired = True
    if remaining or len(stack) > 1:
        repaired = True
    outermost = top
    if len(stack) > 1:
        outermost = stack[1]
    for word in reversed(remaining):
        outermost.append(Tree(UNTAGGED, [word]))
    had_empty = _drop_empty(top)
    return top, had_empty or repaired


def _innermost(stack: list[Tree], label: str) -> int:
    """Find the innermost open tree with this label, TOP aside; the end of the stack if none has."""
    for place in range(len(stack) - 1, 0, -1):
        if stack[place].label() == label:
            return place
    return len(stack)


def _drop_empty(tree: Tree) -> bool:
    """Remove labels without words from the tree, and say whether there were any."""
    dropped = False
    for n in reversed(range(len(tree))):
        child = tree[n]
        if not isinstance(child, Tree):
            continue
        dropped |= _drop_empty(child)
        if not len(child):
            del tree[n]
            dropped = True
    return dropped
