"""The limit of a corpus of topics: every hidden path spelled out, and the limit's own ends."""

from itertools import product

import numpy as np
import pytest

from workflow.tasks.char_lm.catalogue import Topics
from workflow.tasks.char_lm.optimal_predictor import OptimalPredictor
from workflow.tasks.char_lm.topics import TopicText

TINY = Topics(
    words=5,
    states=2,
    durations=[8, 30],
    spread=1.5,
    seed=3,
)
NOISY = TINY.model_copy(update={"noise": 0.5})


def change_of(source: TopicText, before, after) -> float:
    """Return the probability that one joint state follows another."""
    change = 1.0
    for variable, p in enumerate(source.renewal):
        # renewed with probability p, to either state
        renewed = p / 2
        if before[variable] == after[variable]:
            change *= renewed + 1 - p
        else:
            change *= renewed
    return change


class Chain:
    """The chain of characters of a source, with nothing of the predictor's.

    Its states are (joint state, word, place in the word): a character is followed by the next of
    its word, a blank by any word in any state.
    """

    def __init__(self, source: TopicText):
        words = [f"{word} " for word in source.lexicon]
        places = []
        for word, letters in enumerate(words):
            for place, letter in enumerate(letters):
                places.append((word, place, letter))
        self.index = {}
        characters = []
        count = len(source.joint_states)
        for joint, (word, place, letter) in product(range(count), places):
            cell = (joint, word, place)
            self.index[cell] = len(characters)
            characters.append(letter)
        self.characters = np.array(characters)
        count = len(characters)
        self.transitions = np.zeros((count, count))
        for joint, word, place in self.index:
            self.fill_row(source, joint, word, place)

    def fill_row(self, source, joint: int, word: int, place: int) -> None:
        cell = self.index[joint, word, place]
        row = self.transitions[cell]
        following = self.index.get((joint, word, place + 1))
        if following is not None:
            row[following] = 1
            return
        before = source.joint_states[joint]
        for other, after in enumerate(source.joint_states):
            change = change_of(source, before, after)
            emission = source.emission[other]
            for drawn, p in enumerate(emission):
                begin = (other, drawn, 0)
                begun = self.index[begin]
                row[begun] = change * p

    def bits(self, seen: str, character: str) -> float:
        """Return -log2 of the probability of a character after those seen from its rest."""
        values, vectors = np.linalg.eig(self.transitions.T)
        largest = np.argmax(values.real)
        at_rest = vectors[:, largest].real
        after = at_rest / at_rest.sum()
        for each in seen:
            possible = self.characters == each
            belief = after * possible
            after = belief @ self.transitions
        right = self.characters == character
        chosen = after[right]
        probability = chosen.sum() / after.sum()
        return -np.log2(probability)


@pytest.mark.parametrize("window", [1, 2, 5, 17])
def test_a_window_knows_what_the_chain_of_characters_says(window):
    source = TopicText(TINY)
    chain = Chain(source)
    text = source.draw(60).decode()
    predictor = OptimalPredictor(source)
    ours = predictor.bits_within(text, window)
    begin = text.index(" ") + 1
    first = max(begin, window)
    for position in range(first, len(text), 3):
        start = position - window
        seen = text[start:position]
        following = text[position]
        expected = chain.bits(seen, following)
        found = ours[position - begin]
        assert found == pytest.approx(expected, abs=1e-9)


def test_a_window_of_everything_is_the_optimal_predictor():
    source = TopicText(TINY)
    reader = OptimalPredictor(source)
    text = source.draw(300).decode()
    found = reader.bits(text)
    whole = reader.bits_within(text, window=len(text))
    np.testing.assert_allclose(found, whole, atol=1e-9)


def test_readers_of_more_words_end_at_the_optimal_predictor():
    source = TopicText(NOISY)
    reader = OptimalPredictor(source)
    text = source.draw(20_000).decode()
    one = reader.bits_of_last(text, 1).mean()
    four = reader.bits_of_last(text, 4).mean()
    sixteen = reader.bits_of_last(text, 16).mean()
    assert one > four > sixteen
    begin = text[:400]
    all_words = reader.bits_of_last(begin, 1000)
    optimal = reader.bits(begin)
    # noise before the first governed word says that time went by
    found = all_words[100:].mean()
    expected = optimal[100:].mean()
    assert found == pytest.approx(expected, abs=0.02)


def test_one_state_is_the_entropy_of_a_word():
    """Without topics words are independent: bits of a word over its mean length."""
    one_state = {"states": 1, "durations": [10]}
    topics = TINY.model_copy(update=one_state)
    source = TopicText(topics)
    p = source.emission[0]
    terms = p * np.log2(p)
    bits_per_word = -terms.sum()
    # with the blank after it
    lengths = [len(word) + 1 for word in source.lexicon]
    mean_length = p @ lengths
    entropy = bits_per_word / mean_length
    text = source.draw(60_000).decode()
    reader = OptimalPredictor(source)
    bits = reader.bits(text)
    assert bits.mean() == pytest.approx(entropy, rel=0.01)


def test_a_state_lasts_as_long_as_the_catalogue_says():
    """Two words that tell their state: it changes every second time that it is drawn anew."""
    topics = Topics(
        words=2,
        states=2,
        durations=[40],
        spread=30.0,
        seed=2,
    )
    source = TopicText(topics)
    longer = source.draw(900)
    assert source.draw(500) == longer[:500]
    text = source.draw(200_000)
    words = np.array(text.split())
    before = words[:-1]
    after = words[1:]
    changed = after != before
    expected = 3.5 / 40 / 2
    assert changed.mean() == pytest.approx(expected, rel=0.1)
