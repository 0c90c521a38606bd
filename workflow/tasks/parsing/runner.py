"""Constituency parsing as translation of words into brackets (Attention Is All You Need, section 6.3): F1."""

from nltk import Tree

from workflow.tasks.parsing import bracketing
from workflow.tasks.parsing.linear import rebuild
from workflow.tasks.parsing.trees import format_tree
from workflow.tasks.sequences import Sequences

SHOWN = 10  # sentences that a record quotes, each with the right tree and the one written


class ParsingTask(Sequences):
    """Words for a linearised tree. An output is made a tree over the sentence's words, repaired where it is none."""

    extra = 300  # section 6.3

    def score(self, split: str, outputs: list[list[int]]) -> tuple[dict[str, float], dict]:
        """Labelled bracketing, and the percentage of outputs that were no tree over their words."""
        texts, symbols = getattr(self.corpus, split), self.corpus.symbols
        written = [
            rebuild([symbols[token] for token in ids], words.split(" "))
            for ids, words in zip(outputs, texts.source_text, strict=False)
        ]
        right = [Tree.fromstring(text) for text in texts.target_text[: len(written)]]
        counts = [bracketing.count_sentence(ours, theirs) for (ours, _), theirs in zip(written, right, strict=True)]
        repaired = 100 * sum(mended for _, mended in written) / len(written)
        lines = [format_tree(ours) for ours, _ in written[:SHOWN]]
        shown = list(zip(texts.source_text, texts.target_text, lines, strict=False))
        return {**bracketing.score(counts), "repaired": repaired}, {"counts": counts, "shown": shown}
