"""The fewest bits per character that any reader of a text of topics can reach, exactly.

The reader knows the lexicon and all probabilities, and of the topics' states only what the
characters that it sees tell. Its belief, a probability for each joint state, is carried from word
to word by the forward filter of a hidden Markov model: what a word says of the states, then what
may have changed before the next one. A reader of the last w characters begins anew for each
character that it predicts, and does not know where in a word its window begins.

A joint states, N characters.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import accumulate

import numpy as np

from workflow.tasks.char_lm.topics import TopicText

CHUNK = 512  # characters whose beliefs are carried together: they fit a core's cache
BLANK = " "


@dataclass(frozen=True)
class Spelling:
    """A text as words with their blanks; the first and the last one may be cut."""

    text: str

    @cached_property
    def words(self) -> list[str]:
        words = [f"{word}{BLANK}" for word in self.text.split(BLANK)]
        return [*words[:-1], words[-1][:-1]]

    @cached_property
    def begins(self) -> list[int]:
        """List where each word begins, and where the last one ends."""
        return list(accumulate(map(len, self.words), initial=0))

    @cached_property
    def word_at(self) -> list[int]:
        """Number the word that each character is in."""
        return [number for number, word in enumerate(self.words) for _ in word]


class Reader:
    """The optimal predictor of texts drawn with the probabilities of `source`."""

    def __init__(self, source: TopicText):
        states = source.topics.states
        # A A
        self.transition = reduce(
            np.kron, [(1 - p) * np.eye(states) + p / states for p in source.renewal]
        )
        self.likelihoods = np.ascontiguousarray(source.emission.T)  # V A
        self.governed = source.topics.words  # the lexicon begins with them; what follows is noise
        self.number = {f"{word}{BLANK}": number for number, word in enumerate(source.lexicon)}
        self.prefixes = self._sum_by(lambda word: [word[:end] for end in range(len(word) + 1)])
        self.endings = self._sum_by(lambda word: [word[begin:] for begin in range(len(word))])
        pieces = self._sum_by(
            lambda word: [word[a:b] for a in range(len(word)) for b in range(a + 1, len(word) + 1)]
        )
        # all joint states are equally likely
        self.pieces = {piece: p.mean() for piece, p in pieces.items()}

    def _sum_by(self, parts: Callable[[str], list[str]]) -> dict[str, np.ndarray]:
        """Sum p(word | joint state) over the words with a part, once for each place that it has in
        them: A by part.
        """
        sums: dict[str, np.ndarray] = {}
        for word, number in self.number.items():
            for part in parts(word):
                sums[part] = sums.get(part, 0) + self.likelihoods[number]
        return sums

    def bits(self, text: str) -> np.ndarray:
        """Compute -log2 p(character | all before it), from the second word on."""
        first, *words = Spelling(text).words
        belief, bits = self._move(self.endings[first]), []
        for word in words:
            bits += [self._bits(belief, word[:end], word[end]) for end in range(len(word))]
            if word in self.number:  # the last one may be cut
                belief = self._move(belief * self.likelihoods[self.number[word]])
        return np.array(bits)

    def bits_of_words(self, text: str) -> np.ndarray:
        """Compute -log2 p(character | its word so far), from the second word on, as a reader blind
        to topics.
        """
        belief = np.ones(len(self.transition))
        words = Spelling(text).words[1:]
        return np.array(
            [
                self._bits(belief, word[:end], word[end])
                for word in words
                for end in range(len(word))
            ]
        )

    def bits_within(self, text: str, window: int) -> np.ndarray:
        """Compute -log2 p(character | at most `window` characters before it), from the second word
        on.
        """
        spelling = Spelling(text)
        return self._bits_from(
            spelling, [max(0, n - window) for n in range(spelling.begins[1], len(text))]
        )

    def bits_of_last(self, text: str, words: int) -> np.ndarray:
        """Compute -log2 p(character | its word so far, and the last `words` whole words that a
        topic governs).

        The reader knows where they begin, and how many words stand between; from the second word
        on.
        """
        spelling = Spelling(text)
        governed = [
            n for n, word in enumerate(spelling.words[1:-1], 1) if self.number[word] < self.governed
        ]
        starts = []
        for number in range(1, len(spelling.words)):
            before = bisect_left(governed, number)
            first = governed[max(0, before - words)] if before else number
            # the blank before says nothing
            starts += [spelling.begins[first] - 1] * len(spelling.words[number])
        return self._bits_from(spelling, starts)

    def _bits_from(self, spelling: Spelling, starts: Sequence[int]) -> np.ndarray:
        """Compute the bits of the characters from the second word on. starts: where the reader
        begins for each.
        """
        first = spelling.begins[1]
        # the first and the last may be cut
        numbers = np.array([self.number.get(word, -1) for word in spelling.words])
        chunks = [range(n, min(n + CHUNK, len(starts))) for n in range(0, len(starts), CHUNK)]
        bits = [
            self._bits_of_chunk(
                spelling, numbers, [first + n for n in chunk], [starts[n] for n in chunk]
            )
            for chunk in chunks
        ]
        return np.concatenate(bits)

    def _bits_of_chunk(
        self,
        spelling: Spelling,
        numbers: np.ndarray,
        positions: Sequence[int],
        starts: Sequence[int],
    ) -> np.ndarray:
        """Compute the bits of the characters at `positions`. numbers: of the text's words, in the
        lexicon.
        """
        text = spelling.text
        first, last = (
            np.array([spelling.word_at[n] for n in places]) for places in (starts, positions)
        )
        belief = np.stack([self._belief_after(spelling, start) for start in starts])
        for n in range(1, (last - first).max()):
            # those with a further whole word in their window
            (more,) = np.nonzero(first + n < last)
            belief[more] = self._move(belief[more] * self.likelihoods[numbers[first[more] + n]])
        bits = []
        for row, position, start, m, k in zip(belief, positions, starts, first, last, strict=True):
            begun = text[max(start, spelling.begins[k]) : position]
            if m < k:
                bits.append(self._bits(row, begun, text[position]))
            else:  # the window lies in one word, and nobody knows where in it
                bits.append(-np.log2(self.pieces[begun + text[position]] / self.pieces[begun]))
        return np.array(bits)

    def _belief_after(self, spelling: Spelling, start: int) -> np.ndarray:
        """Return the belief after the rest of the word that a window starts in: A."""
        rest = spelling.text[start : spelling.begins[spelling.word_at[start] + 1]]
        # the text's last word may have no end
        return self._move(self.endings.get(rest, np.ones(len(self.transition))))

    def _move(self, belief: np.ndarray) -> np.ndarray:
        """Carry beliefs ... A on to the next word: what may have changed before it."""
        belief = belief @ self.transition
        return belief / belief.sum(-1, keepdims=True)

    def _bits(self, belief: np.ndarray, begun: str, character: str) -> float:
        """Compute the bits of a character after the beginning of its word."""
        return -np.log2(
            (belief @ self.prefixes[begun + character]) / (belief @ self.prefixes[begun])
        )
