"""Labelled bracketing as the standard program counts it (evalb with Collins' parameters), and what a tree's tags get.

A bracket is (label, first word, word after the last). Not counted: TOP, tags, and constituents of punctuation alone.
Punctuation is taken out before words are counted, by the tags of the tree that is right: so a wrong tag cannot make
two sentences differ in length. ADVP and PRT are one label. A bracket that occurs twice must be found twice.

    recall = matched / in the right trees    precision = matched / in ours    F1 = 2 R P / (R + P)

over all sentences together. Trees with different words are an error sentence, which no sum counts.
"""

from collections import Counter
from collections.abc import Iterable

from nltk import Tree

from workflow.data.trees.brackets import TOP, tagged_words

PUNCTUATION = {",", ":", "``", "''", "."}
SAME = {"PRT": "ADVP"}
COUNTS = ("matched", "right", "ours", "words", "tags", "complete", "valid")


def brackets(tree: Tree, dropped: set[int]) -> Counter:
    """(label, start, end) of a tree's constituents; `dropped`: places of words that do not count."""
    found: Counter = Counter()

    def walk(one: Tree, seen: int, kept: int) -> tuple[int, int]:
        """Words before it, all and counted -> the same after it."""
        if isinstance(one[0], str):
            return seen + 1, kept + (seen not in dropped)
        start = kept
        for child in one:
            seen, kept = walk(child, seen, kept)
        if one.label() != TOP and kept > start:
            found[SAME.get(one.label(), one.label()), start, kept] += 1
        return seen, kept

    walk(tree, 0, 0)
    return found


def counts(ours: Tree, right: Tree) -> list[int]:
    """Of one sentence, as named in `COUNTS`; all 0 where the words are not the same."""
    mine, theirs = tagged_words(ours), tagged_words(right)
    if [word for word, _ in mine] != [word for word, _ in theirs]:
        return [0] * len(COUNTS)
    dropped = {place for place, (_, tag) in enumerate(theirs) if tag in PUNCTUATION}
    found, wanted = brackets(ours, dropped), brackets(right, dropped)
    kept = [place for place in range(len(theirs)) if place not in dropped]
    tags = sum(mine[place][1] == theirs[place][1] for place in kept)
    return [(found & wanted).total(), wanted.total(), found.total(), len(kept), tags, int(found == wanted), 1]


def scores(sentences: Iterable[list[int]]) -> dict[str, float]:
    """Per cent over a corpus, from the counts of its sentences; errors: how many had other words."""
    rows = list(sentences)
    matched, right, ours, words, tags, complete, valid = (sum(column) for column in zip(*rows, strict=True))
    recall, precision = _percent(matched, right), _percent(matched, ours)
    return {
        "recall": recall,
        "precision": precision,
        "f1": 2 * recall * precision / (recall + precision) if matched else 0.0,
        "complete": _percent(complete, valid),
        "tagging": _percent(tags, words),
        "errors": float(len(rows) - valid),
    }


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0
