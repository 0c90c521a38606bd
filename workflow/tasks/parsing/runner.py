"""Constituency parsing as translation of words into brackets (Attention Is All You Need, section
6.3): F1.

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
    """Words for a linearised tree. An output is made a tree over the sentence's words, repaired
    where it is none.
    """

    extra = 300  # section 6.3

    def score(self, split: str, outputs: list[list[int]]) -> tuple[dict[str, Score], dict]:
        """Score the outputs by labelled bracketing, and by the percentage that were no tree over
        their words.
        """
        texts, symbols = getattr(self.corpus, split), self.corpus.symbols
        written = [
            rebuild([symbols[token] for token in ids], words.split(" "))
            for ids, words in zip(outputs, texts.source_text, strict=False)
        ]
        right = read_trees("\n".join(texts.target_text[: len(written)]), split)
        counts = [
            count_sentence(ours, theirs) for (ours, _), theirs in zip(written, right, strict=True)
        ]
        repaired = _percent(
            sum(mended for _, mended in written), len(written), "no sentence was parsed"
        )
        lines = [format_tree(ours) for ours, _ in written[:SHOWN]]
        shown = list(zip(texts.source_text, texts.target_text, lines, strict=False))
        scores = {**score(counts), "repaired": repaired}
        if isinstance(scores["f1"], Missing):
            return scores, {"shown": shown}
        return scores, {"counts": counts, "shown": shown}


def count_brackets(tree: Tree, dropped: set[int]) -> Counter:
    """Count (label, start, end) of a tree's constituents; `dropped`: positions of words that do not
    count.
    """
    counted: Counter = Counter()

    def walk(node: Tree, seen: int, kept: int) -> tuple[int, int]:
        """Count the words up to the end of a node, all and those that count, from those before
        it.
        """
        if isinstance(node[0], str):
            return seen + 1, kept + (seen not in dropped)
        start = kept
        for child in node:
            seen, kept = walk(child, seen, kept)
        if node.label() != TOP and kept > start:
            counted[SAME.get(node.label(), node.label()), start, kept] += 1
        return seen, kept

    walk(tree, 0, 0)
    return counted


def count_sentence(ours: Tree, right: Tree) -> list[int]:
    """Count what `COUNTS` names in one sentence; all 0 where the words are not the same."""
    mine, theirs = ours.pos(), right.pos()
    if [word for word, _ in mine] != [word for word, _ in theirs]:
        return [0] * len(COUNTS)
    dropped = {position for position, (_, tag) in enumerate(theirs) if tag in PUNCTUATION}
    written, wanted = count_brackets(ours, dropped), count_brackets(right, dropped)
    kept = [position for position in range(len(theirs)) if position not in dropped]
    tags = sum(mine[position][1] == theirs[position][1] for position in kept)
    return [
        (written & wanted).total(),
        wanted.total(),
        written.total(),
        len(kept),
        tags,
        int(written == wanted),
        1,
    ]


def score(sentences: Iterable[list[int]]) -> dict[str, Score]:
    """Per cent over a corpus, from the counts of its sentences; errors: how many had other
    words.
    """
    rows = list(sentences)
    matched, right, ours, words, tags, complete, valid = (
        sum(column) for column in zip([0] * len(COUNTS), *rows, strict=True)
    )
    recall = _percent(matched, right, "the reference trees have no brackets")
    precision = _percent(matched, ours, "the predicted trees have no brackets")
    nothing = "no prediction has the right words"
    return {
        "recall": recall,
        "precision": precision,
        "f1": 2 * recall * precision / (recall + precision)
        if matched
        else _percent(0, right + ours, "no brackets"),
        "complete": _percent(complete, valid, nothing),
        "tagging": _percent(tags, words, "no word but punctuation" if valid else nothing),
        "errors": float(len(rows) - valid),
    }


def _percent(part: int, whole: int, otherwise: str) -> Score:
    return 100 * part / whole if whole else Missing(otherwise)
