"""The fewest bits per character that any predictor of a synthetic corpus of topics can reach.

The predictor knows the lexicon and all probabilities, and of the topics' states only what it infers
from the characters that it sees. Its belief, a probability for each joint state, is carried from
word to word by the forward filter of a hidden Markov model: what a word says of the states, then
what may have changed before the next one. A predictor that sees the last w characters begins anew
for each character, and does not know where in a word its window begins.

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
    """A string as words with their blanks; the first and the last one may be cut."""

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


class OptimalPredictor:
    """The optimal predictor of texts drawn with the probabilities of `source`."""

    def __init__(self, source: TopicText):
        states = source.topics.states
        # p(next state | state) of each topic: it stays, or any is drawn
        of_topics = [(1 - p) * np.eye(states) + p / states for p in source.renewal]
        self.transition = reduce(np.kron, of_topics)  # A A
        self.likelihoods = np.ascontiguousarray(source.emission.T)  # V A
        self.governed = source.topics.words  # the lexicon begins with them; what follows is noise
        self.number = {f"{word}{BLANK}": number for number, word in enumerate(source.lexicon)}
        self.prefixes = self._sum_by(_prefixes)
        self.endings = self._sum_by(_endings)
        pieces = self._sum_by(_pieces)
        # all joint states are equally likely
        self.pieces = {piece: p.mean() for piece, p in pieces.items()}

    def _sum_by(self, parts: Callable[[str], list[str]]) -> dict[str, np.ndarray]:
        """Sum p(word | joint state) over the words with a part: A by part.

        A word counts once for each place that the part has in it.
        """
        sums: dict[str, np.ndarray] = {}
        for word, number in self.number.items():
            for part in parts(word):
                sums[part] = sums.get(part, 0) + self.likelihoods[number]
        return sums

    def bits(self, text: str) -> np.ndarray:
        """Compute -log2 p(character | all before it), from the second word on."""
        first, *words = Spelling(text).words
        belief = self._move(self.endings[first])
        bits = []
        for word in words:
            bits += self._bits_of_word(belief, word)
            if word in self.number:  # the last one may be cut
                belief = self._move(belief * self.likelihoods[self.number[word]])
        return np.array(bits)

    def bits_of_words(self, text: str) -> np.ndarray:
        """Compute -log2 p(character | its word so far), from the second word on, without topics."""
        belief = np.ones(len(self.transition))
        bits = []
        for word in Spelling(text).words[1:]:
            bits += self._bits_of_word(belief, word)
        return np.array(bits)

    def bits_within(self, text: str, window: int) -> np.ndarray:
        """Compute -log2 p(character | the last `window` characters), from the second word on."""
        spelling = Spelling(text)
        positions = range(spelling.begins[1], len(text))
        return self._bits_from(spelling, [max(0, n - window) for n in positions])

    def bits_of_last(self, text: str, words: int) -> np.ndarray:
        """Compute -log2 p(character | its word so far, and the last `words` governed words).

        Governed words are whole words that a topic governs; the predictor knows where they begin,
        and how many words are between them. From the second word on.
        """
        spelling = Spelling(text)
        governed = []
        for number, word in enumerate(spelling.words[1:-1], start=1):
            if self.number[word] < self.governed:
                governed.append(number)
        starts = []
        for number in range(1, len(spelling.words)):
            before = bisect_left(governed, number)
            first = governed[max(0, before - words)] if before else number
            # from the blank before it, which says nothing
            start = spelling.begins[first] - 1
            starts += [start] * len(spelling.words[number])
        return self._bits_from(spelling, starts)

    def _bits_from(self, spelling: Spelling, starts: Sequence[int]) -> np.ndarray:
        """Compute the bits of the characters from the second word on.

        starts: for each of them, where the window begins.
        """
        # the first and the last may be cut
        numbers = np.array([self.number.get(word, -1) for word in spelling.words])
        first = spelling.begins[1]
        bits = []
        for n in range(0, len(starts), CHUNK):
            chunk = starts[n : n + CHUNK]
            positions = range(first + n, first + n + len(chunk))
            bits.append(self._bits_of_chunk(spelling, numbers, positions, chunk))
        return np.concatenate(bits)

    def _bits_of_chunk(
        self,
        spelling: Spelling,
        numbers: np.ndarray,
        positions: Sequence[int],
        starts: Sequence[int],
    ) -> np.ndarray:
        """Compute the bits of the characters at `positions`.

        numbers: of all words of the spelling in the lexicon. starts: of the windows.
        """
        first = np.array([spelling.word_at[n] for n in starts])
        last = np.array([spelling.word_at[n] for n in positions])
        belief = np.stack([self._belief_after(spelling, start) for start in starts])
        for n in range(1, (last - first).max()):
            # those with a further whole word in their window
            (more,) = np.nonzero(first + n < last)
            belief[more] = self._move(belief[more] * self.likelihoods[numbers[first[more] + n]])
        bits = []
        for row, position, start in zip(belief, positions, starts, strict=True):
            word = spelling.word_at[position]
            begun = spelling.text[max(start, spelling.begins[word]) : position]
            character = spelling.text[position]
            if spelling.word_at[start] < word:
                bits.append(self._bits(row, begun, character))
            else:  # the window is within one word, at an unknown place
                bits.append(-np.log2(self.pieces[begun + character] / self.pieces[begun]))
        return np.array(bits)

    def _belief_after(self, spelling: Spelling, start: int) -> np.ndarray:
        """Return the belief after the rest of the word that a window starts in: A."""
        end = spelling.begins[spelling.word_at[start] + 1]
        rest = spelling.text[start:end]
        # the last word may have no end
        return self._move(self.endings.get(rest, np.ones(len(self.transition))))

    def _move(self, belief: np.ndarray) -> np.ndarray:
        """Carry beliefs ... A on to the next word: what may have changed before it."""
        belief = belief @ self.transition
        return belief / belief.sum(-1, keepdims=True)

    def _bits(self, belief: np.ndarray, begun: str, character: str) -> float:
        """Compute the bits of a character after the beginning of its word."""
        after = belief @ self.prefixes[begun + character]
        before = belief @ self.prefixes[begun]
        return -np.log2(after / before)

    def _bits_of_word(self, belief: np.ndarray, word: str) -> list[float]:
        """Compute the bits of each character of a word, from what is believed before it."""
        return [self._bits(belief, word[:end], word[end]) for end in range(len(word))]


def _prefixes(word: str) -> list[str]:
    return [word[:end] for end in range(len(word) + 1)]


def _endings(word: str) -> list[str]:
    return [word[begin:] for begin in range(len(word))]


def _pieces(word: str) -> list[str]:
    """List all parts of a word, those that occur twice twice."""
    pieces = []
    for begin in range(len(word)):
        pieces += [word[begin:end] for end in range(begin + 1, len(word) + 1)]
    return pieces
