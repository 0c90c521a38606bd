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
        # one for each topic, state and word
        shape = (len(topics.durations), topics.states, topics.words)
        count = np.prod(shape)
        scores = [generator.gauss(0, topics.spread) for _ in range(count)]
        self.scores = np.array(scores).reshape(shape)
        # of a word with its blank
        lengths = [len(word) + 1 for word in self.lexicon]
        length = np.mean(lengths)
        # the probability that a topic is drawn anew before a word
        self.renewal = []
        for duration in topics.durations:
            probability = length / duration
            self.renewal.append(min(1.0, probability))

    @cached_property
    def joint_states(self) -> list[tuple[int, ...]]:
        """List every combination of one state per topic."""
        states = range(self.topics.states)
        topics = len(self.topics.durations)
        return list(product(states, repeat=topics))

    @cached_property
    def weights(self) -> np.ndarray:
        """Weigh each word in each joint state, in whole numbers: A V."""
        sums = []
        topics = range(len(self.topics.durations))
        for joint in self.joint_states:
            scores = self.scores[topics, joint]  # topics V
            sums.append(scores.sum(0))
        logits = np.array(sums)
        # relative to the likeliest word of each joint state
        highest = logits.max(1, keepdims=True)
        likelihoods = np.exp(logits - highest)
        rounded = np.rint(LARGEST * likelihoods)
        weights = np.maximum(1, rounded).astype(np.int64)
        noise = self.topics.noise
        words = self.topics.words
        if not noise:
            return weights
        # of each word of noise, relative to all the words that topics govern
        share = noise / (1 - noise) / words
        totals = weights.sum(1, keepdims=True)
        of_noise = np.rint(share * totals).astype(np.int64)
        repeated = np.repeat(of_noise, words, 1)
        return np.concatenate([weights, repeated], 1)

    @cached_property
    def emission(self) -> np.ndarray:
        """Compute p(word | joint state): A V."""
        totals = self.weights.sum(1, keepdims=True)
        return self.weights / totals

    def draw(self, length: int) -> bytes:
        """Draw the first `length` characters of the corpus.

        They end in a blank where the last word is whole.
        """
        drawn = ""
        for word, _ in self._walk(length):
            drawn += f"{word} "
        return drawn.encode()[:length]

    def borders(self, length: int) -> list[list[int]]:
        """Find for each topic where its state changes in the first `length` characters.

        A place is that of the first word in the new state.
        """
        places: list[list[int]] = []
        for _ in self.renewal:
            places.append([])
        place = 0
        before = None
        for word, joint in self._walk(length):
            if before is None:
                before = joint
            for topic, state in enumerate(joint):
                if state != before[topic]:
                    places[topic].append(place)
            place += len(word) + 1
            before = joint
        return places

    def _walk(self, length: int) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Draw the words of the first `length` characters, each with its joint state."""
        generator = random.Random(self.topics.seed + 1)
        # as `random.choices` takes them, so that they are added up once
        cumulative = {}
        for joint, row in zip(self.joint_states, self.weights, strict=True):
            cumulative[joint] = np.cumsum(row).tolist()
        states = self.topics.states
        joint = tuple(generator.randrange(states) for _ in self.renewal)
        size = 0
        while size < length:
            weights = cumulative[joint]
            (word,) = generator.choices(self.lexicon, cum_weights=weights)
            yield word, joint
            size += len(word) + 1
            following = []
            for state, renewal in zip(joint, self.renewal, strict=True):
                state = self._next_state(state, renewal, generator)
                following.append(state)
            joint = tuple(following)

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
