"""A text drawn from latent topics: what can be known of it at best is computable
(`optimal_predictor`).

Words of a small invented lexicon follow each other, a blank after each. Behind them stand a few
independent topics, each in one of several states. A word's probability is proportional to exp of
the sum of its scores in the topics' states. Before each word, each topic is drawn anew with a
probability of its own, and may come out as it was. So the more of the text a reader sees, the
better it knows the states, as far back as the slowest topic lasts.

Between these words may stand others that no topic governs: noise, drawn evenly from a lexicon of
its own.

Weights are rounded to whole numbers, so that every machine draws the same text.
"""

import random
from collections.abc import Collection, Iterator
from functools import cached_property
from itertools import product

import numpy as np

from workflow.tasks.char_lm.catalogue import Topics

CONSONANTS = "bdfgklmnprstvz"
VOWELS = "aeiou"
LARGEST = 1_000_000  # weight of the likeliest word in a joint state


class TopicText:
    """The lexicon and the probabilities that a corpus of topics is drawn with.

    A joint states, V words.
    """

    def __init__(self, topics: Topics):
        generator = random.Random(topics.seed)
        self.topics = topics
        self.lexicon = _draw_lexicon(topics.words, generator)
        if topics.noise:
            of_noise = random.Random(topics.seed + 2)
            self.lexicon += _draw_lexicon(topics.words, of_noise, self.lexicon)
        shape = (len(topics.durations), topics.states, topics.words)
        scores = [generator.gauss(0, topics.spread) for _ in range(np.prod(shape))]
        self.scores = np.array(scores).reshape(shape)
        length = np.mean([len(word) + 1 for word in self.lexicon])  # of a word with its blank
        self.renewal = [min(1.0, length / duration) for duration in topics.durations]

    @cached_property
    def joint_states(self) -> list[tuple[int, ...]]:
        """List every combination of one state per topic."""
        return list(product(range(self.topics.states), repeat=len(self.topics.durations)))

    @cached_property
    def weights(self) -> np.ndarray:
        """Weigh each word in each joint state, in whole numbers: A V."""
        sums = []
        for joint in self.joint_states:
            scores = self.scores[range(len(joint)), joint]  # topics V
            sums.append(scores.sum(0))
        logits = np.array(sums)
        likelihoods = np.exp(logits - logits.max(1, keepdims=True))
        weights = np.maximum(1, np.rint(LARGEST * likelihoods)).astype(np.int64)
        if not self.topics.noise:
            return weights
        share = self.topics.noise / (1 - self.topics.noise) / self.topics.words
        noise = np.rint(share * weights.sum(1, keepdims=True)).astype(np.int64)
        return np.concatenate([weights, np.repeat(noise, self.topics.words, 1)], 1)

    @cached_property
    def emission(self) -> np.ndarray:
        """Compute p(word | joint state): A V."""
        return self.weights / self.weights.sum(1, keepdims=True)

    def draw(self, length: int) -> bytes:
        """Draw the first `length` characters of the corpus.

        They end in a blank where the last word is whole.
        """
        drawn = "".join(f"{word} " for word, _ in self._walk(length))
        return drawn.encode()[:length]

    def borders(self, length: int) -> list[list[int]]:
        """Find for each topic where its state changes in the first `length` characters.

        A place is that of the first word in the new state.
        """
        places: list[list[int]] = [[] for _ in self.renewal]
        place = 0
        before = None
        for word, joint in self._walk(length):
            for topic, (was, now) in enumerate(zip(before or joint, joint, strict=True)):
                if was != now:
                    places[topic].append(place)
            place += len(word) + 1
            before = joint
        return places

    def _walk(self, length: int) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Draw the words of the first `length` characters, each with its joint state."""
        generator = random.Random(self.topics.seed + 1)
        cumulative = {}
        for joint, row in zip(self.joint_states, self.weights, strict=True):
            cumulative[joint] = np.cumsum(row).tolist()
        joint = tuple(generator.randrange(self.topics.states) for _ in self.renewal)
        size = 0
        while size < length:
            (word,) = generator.choices(self.lexicon, cum_weights=cumulative[joint])
            yield word, joint
            size += len(word) + 1
            joint = tuple(
                self._next_state(state, probability, generator)
                for state, probability in zip(joint, self.renewal, strict=True)
            )

    def _next_state(self, state: int, renewal: float, generator: random.Random) -> int:
        """Draw a topic's state before the next word."""
        if generator.random() < renewal:
            return generator.randrange(self.topics.states)
        return state


def _draw_lexicon(words: int, generator: random.Random, others: Collection[str] = ()) -> list[str]:
    """Draw different words of two to four letters, in alphabetical order.

    Consonants and vowels alternate. others: words that are taken.
    """
    lexicon: set[str] = set()
    while len(lexicon) < words:
        length = generator.randint(2, 4)
        word = ""
        for position in range(length):
            letters = VOWELS if position % 2 else CONSONANTS
            word += generator.choice(letters)
        if word not in others:
            lexicon.add(word)
    return sorted(lexicon)
