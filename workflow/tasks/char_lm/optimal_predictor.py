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
        parts = self.text.split(BLANK)
        words = [f"{part}{BLANK}" for part in parts]
        # the text may end within a word
        last = words.pop()
        words.append(last.removesuffix(BLANK))
        return words

    @cached_property
    def begins(self) -> list[int]:
        """List where each word begins, and where the last one ends."""
        lengths = map(len, self.words)
        return list(accumulate(lengths, initial=0))

    @cached_property
    def word_at(self) -> list[int]:
        """Number the word that each character is in."""
        numbers = []
        for number, word in enumerate(self.words):
            numbers += [number] * len(word)
        return numbers


class OptimalPredictor:
    """The optimal predictor of texts drawn with the probabilities of `source`."""

    def __init__(self, source: TopicText):
        states = source.topics.states
        # p(next state | state) of each topic: it stays, or any is drawn
        of_topics = []
        for renewal in source.renewal:
            stays = (1 - renewal) * np.eye(states)
            of_topics.append(stays + renewal / states)
        self.transition = reduce(np.kron, of_topics)  # A A
        self.likelihoods = np.ascontiguousarray(source.emission.T)  # V A
        self.governed = source.topics.words  # the lexicon begins with them; what follows is noise
        self.number: dict[str, int] = {}
        for number, word in enumerate(source.lexicon):
            self.number[f"{word}{BLANK}"] = number
        self.prefixes = self._sum_by(_prefixes)
        self.endings = self._sum_by(_endings)
        # before anything is known, all joint states are equally likely
        self.pieces: dict[str, float] = {}
        for piece, by_state in self._sum_by(_pieces).items():
            self.pieces[piece] = by_state.mean()

    def _sum_by(self, parts: Callable[[str], list[str]]) -> dict[str, np.ndarray]:
        """Sum p(word | joint state) over the words with a part: A by part.

        A word counts once for each place that the part has in it.
        """
        sums: dict[str, np.ndarray] = {}
        for word, number in self.number.items():
            likelihood = self.likelihoods[number]
            for part in parts(word):
                sums[part] = sums.get(part, 0) + likelihood
        return sums

    def bits(self, text: str) -> np.ndarray:
        """Compute -log2 p(character | all before it), from the second word on."""
        first, *words = Spelling(text).words
        belief = self._move(self.endings[first])
        bits = []
        for word in words:
            bits += self._bits_of_word(belief, word)
            number = self.number.get(word)
            if number is not None:  # the last one may be cut
                likelihood = self.likelihoods[number]
                belief = self._move(belief * likelihood)
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
        second_word = spelling.begins[1]
        starts = []
        for position in range(second_word, len(text)):
            starts.append(max(0, position - window))
        return self._bits_from(spelling, starts)

    def bits_of_last(self, text: str, words: int) -> np.ndarray:
        """Compute -log2 p(character | its word so far, and the last `words` governed words).

        Governed words are whole words that a topic governs; the predictor knows where they begin,
        and how many words are between them. From the second word on.
        """
        spelling = Spelling(text)
        governed = []
        for number, word in enumerate(spelling.words):
            is_whole = 0 < number < len(spelling.words) - 1
            if is_whole and self.number[word] < self.governed:
                governed.append(number)
        starts = []
        for number in range(1, len(spelling.words)):
            before = bisect_left(governed, number)  # how many governed words come before it
            first = number
            if before:
                oldest = max(0, before - words)
                first = governed[oldest]
            # from the blank before it, which says nothing
            start = spelling.begins[first] - 1
            length = len(spelling.words[number])
            starts += [start] * length
        return self._bits_from(spelling, starts)

    def _bits_from(self, spelling: Spelling, starts: Sequence[int]) -> np.ndarray:
        """Compute the bits of the characters from the second word on.

        starts: for each of them, where the window begins.
        """
        # the first and the last may be cut
        numbers = np.array([self.number.get(word, -1) for word in spelling.words])
        offset = spelling.begins[1]
        bits = []
        for n in range(0, len(starts), CHUNK):
            chunk = starts[n : n + CHUNK]
            begin = offset + n
            end = begin + len(chunk)
            positions = range(begin, end)
            found = self._bits_of_chunk(spelling, numbers, positions, chunk)
            bits.append(found)
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
        word_at = spelling.word_at
        first = np.array([word_at[start] for start in starts])
        last = np.array([word_at[position] for position in positions])
        beliefs = [self._belief_after(spelling, start) for start in starts]
        belief = np.stack(beliefs)  # N A
        most_words = (last - first).max()
        for n in range(1, most_words):
            # those with a further whole word in their window
            following = first + n
            (more,) = np.nonzero(following < last)
            words = numbers[following[more]]
            # the forward filter: what the word says, then what may have changed
            told = belief[more] * self.likelihoods[words]
            belief[more] = self._move(told)
        bits = []
        for row, position, start in zip(belief, positions, starts, strict=True):
            word = word_at[position]
            # what the window shows of the character's word
            begin = max(start, spelling.begins[word])
            begun = spelling.text[begin:position]
            character = spelling.text[position]
            if word_at[start] < word:
                found = self._bits(row, begun, character)
            else:
                found = self._bits_in_word(begun, character)
            bits.append(found)
        return np.array(bits)

    def _belief_after(self, spelling: Spelling, start: int) -> np.ndarray:
        """Return the belief after the rest of the word that a window starts in: A."""
        word = spelling.word_at[start]
        end = spelling.begins[word + 1]
        rest = spelling.text[start:end]
        # the last word may have no end
        unknown = np.ones(len(self.transition))
        belief = self.endings.get(rest, unknown)
        return self._move(belief)

    def _move(self, belief: np.ndarray) -> np.ndarray:
        """Carry beliefs ... A on to the next word: what may have changed before it."""
        moved = belief @ self.transition
        total = moved.sum(-1, keepdims=True)
        return moved / total

    def _bits(self, belief: np.ndarray, begun: str, character: str) -> float:
        """Compute the bits of a character after the beginning of its word."""
        continued = begun + character
        after = belief @ self.prefixes[continued]
        before = belief @ self.prefixes[begun]
        return -np.log2(after / before)

    def _bits_in_word(self, begun: str, character: str) -> float:
        """Compute the bits of a character whose window is within one word, at an unknown place."""
        after = self.pieces[begun + character]
        before = self.pieces[begun]
        return -np.log2(after / before)

    def _bits_of_word(self, belief: np.ndarray, word: str) -> list[float]:
        """Compute the bits of each character of a word, from what is believed before it."""
        bits = []
        for place, character in enumerate(word):
            begun = word[:place]
            bits.append(self._bits(belief, begun, character))
        return bits


def _prefixes(word: str) -> list[str]:
    ends = range(len(word) + 1)
    return [word[:end] for end in ends]


def _endings(word: str) -> list[str]:
    begins = range(len(word))
    return [word[begin:] for begin in begins]


def _pieces(word: str) -> list[str]:
    """List all parts of a word, those that occur twice twice."""
    pieces = []
    length = len(word)
    for begin in range(length):
        for end in range(begin + 1, length + 1):
            pieces.append(word[begin:end])
    return pieces
