"""Constituency parsing as translation of words into brackets, scored by F1.

After section 6.3 of Attention Is All You Need.

Scores are labelled bracketing as the standard program counts it (evalb with Collins' parameters),
and that of tags.

A bracket is (label, first word, word after the last). Not counted: TOP, tags, and constituents of
punctuation alone. Punctuation is taken out before words are counted, by the tags of the tree that
is right: so a wrong tag cannot make two sentences differ in length. ADVP and PRT are one label. A
bracket that occurs twice must be found twice.

    recall = matched / in the right trees    precision = matched / in ours    F1 = 2 R P / (R + P)

over all sentences together. Trees with different words are an error sentence, which no sum counts.
A share of nothing is `Missing`.
"""

from collections import Counter
from collections.abc import Iterable

from nltk import Tree

from workflow.config.missing import Missing
from workflow.tasks.parsing.trees import TOP, format_tree, read_trees, rebuild
from workflow.tasks.sequences import SHOWN, SequenceTask
from workflow.training.evaluation import Score

PUNCTUATION = {",", ":", "``", "''", "."}
SAME = {"PRT": "ADVP"}
COUNTS = ("matched", "right", "ours", "words", "tags", "complete", "valid")


class ParsingTask(SequenceTask):
    """Words for a linearised tree.

    An output is made a tree over the sentence's words, repaired where it is none.
    """

    extra = 300  # section 6.3

    def score(self, split: str, outputs: list[list[int]]) -> tuple[dict[str, Score], dict]:
        """Score the outputs by labelled bracketing, and by the percentage that were repaired."""
        part = getattr(self.corpus, split)
        symbols = self.corpus.symbols
        trees = []
        mended = 0
        for ids, words in zip(outputs, part.source_text, strict=False):
            written = [symbols[token] for token in ids]
            tree, was_mended = rebuild(written, words.split(" "))
            trees.append(tree)
            mended += was_mended
        right_lines = part.target_text[: len(trees)]
        references = read_trees("\n".join(right_lines), split)
        pairs = zip(trees, references, strict=True)
        counts = [count_sentence(ours, right) for ours, right in pairs]
        repaired = _percent(mended, len(trees), "no sentence was parsed")
        lines = [format_tree(tree) for tree in trees[:SHOWN]]
        shown = list(zip(part.source_text, part.target_text, lines, strict=False))
        scores = {**score(counts), "repaired": repaired}
        if isinstance(scores["f1"], Missing):
            return scores, {"shown": shown}
        return scores, {"counts": counts, "shown": shown}


def count_brackets(tree: Tree, dropped: set[int]) -> Counter:
    """Count (label, start, end) of a tree's constituents.

    dropped: positions of words that do not count.
    """
    counted: Counter = Counter()

    def walk(node: Tree, seen: int, kept: int) -> tuple[int, int]:
        """Count the words up to the end of a node, all and those that count."""
        if isinstance(node[0], str):
            is_kept = seen not in dropped
            return seen + 1, kept + is_kept
        start = kept
        for child in node:
            seen, kept = walk(child, seen, kept)
        label = node.label()
        if label != TOP and kept > start:
            label = SAME.get(label, label)
            counted[label, start, kept] += 1
        return seen, kept

    walk(tree, 0, 0)
    return counted


def count_sentence(ours: Tree, right: Tree) -> list[int]:
    """Count what `COUNTS` names in one sentence; all 0 where the words are not the same."""
    if ours.leaves() != right.leaves():
        return [0] * len(COUNTS)
    our_tags = [tag for _, tag in ours.pos()]
    right_tags = [tag for _, tag in right.pos()]
    dropped = set()
    for place, tag in enumerate(right_tags):
        if tag in PUNCTUATION:
            dropped.add(place)
    written = count_brackets(ours, dropped)
    wanted = count_brackets(right, dropped)
    matched = written & wanted
    words = 0
    tags = 0
    for place, tag in enumerate(right_tags):
        if place not in dropped:
            words += 1
            tags += our_tags[place] == tag
    # no bracket is missing, and none is too many
    is_complete = written == wanted
    # in the order of COUNTS
    return [
        matched.total(),
        wanted.total(),
        written.total(),
        words,
        tags,
        int(is_complete),
        1,
    ]


def score(sentences: Iterable[list[int]]) -> dict[str, Score]:
    """Compute the scores of a corpus, in per cent, from the counts of its sentences.

    errors: how many had other words.
    """
    rows = list(sentences)
    nothing_counted = [0] * len(COUNTS)  # there may be no sentence
    columns = zip(nothing_counted, *rows, strict=True)
    totals = map(sum, columns)
    matched, right, ours, words, tags, complete, valid = totals
    recall = _percent(matched, right, "the reference trees have no brackets")
    precision = _percent(matched, ours, "the predicted trees have no brackets")
    f1 = _percent(0, right + ours, "no brackets")
    if matched:
        f1 = 2 * recall * precision / (recall + precision)
    nothing = "no prediction has the right words"
    return {
        "recall": recall,
        "precision": precision,
        "f1": f1,
        "complete": _percent(complete, valid, nothing),
        "tagging": _percent(tags, words, "no word but punctuation" if valid else nothing),
        "errors": float(len(rows) - valid),
    }


def _percent(part: int, whole: int, otherwise: str) -> Score:
    if not whole:
        return Missing(otherwise)
    return 100 * part / whole
