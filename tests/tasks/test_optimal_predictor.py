"""The limit of a corpus of topics: every hidden path spelled out, and the limit's own ends."""

import numpy as np
import pytest

from workflow.tasks.char_lm.catalogue import Topics
from workflow.tasks.char_lm.optimal_predictor import OptimalPredictor
from workflow.tasks.char_lm.topics import TopicText

TINY = Topics(words=5, states=2, durations=[8, 30], spread=1.5, seed=3)
NOISY = TINY.model_copy(update={"noise": 0.5})


class Chain:
    """The chain of characters of a source, with nothing of the predictor's.

    Its states are (joint state, word, place in the word): a character is followed by the next of
    its word, a blank by any word in any state.
    """

    def __init__(self, source: TopicText):
        self.words = [f"{word} " for word in source.lexicon]
        self.index = {}
        characters = []
        for joint in range(len(source.joint_states)):
            for word, letters in enumerate(self.words):
                for place, letter in enumerate(letters):
                    self.index[joint, word, place] = len(characters)
                    characters.append(letter)
        self.characters = np.array(characters)
        count = len(characters)
        self.transitions = np.zeros((count, count))
        for cell in self.index:
            self.fill_row(source, *cell)

    def fill_row(self, source, joint: int, word: int, place: int) -> None:
        row = self.transitions[self.index[joint, word, place]]
        if place + 1 < len(self.words[word]):
            following = self.index[joint, word, place + 1]
            row[following] = 1
            return
        before = source.joint_states[joint]
        for other, after in enumerate(source.joint_states):
            change = 1.0
            for variable, p in enumerate(source.renewal):
                # renewed with probability p, to either state
                stays = float(before[variable] == after[variable])
                change *= p / 2 + (1 - p) * stays
            for drawn, p in enumerate(source.emission[other]):
                begun = self.index[other, drawn, 0]
                row[begun] = change * p

    def bits(self, seen: str, character: str) -> float:
        """Return -log2 of the probability of a character after those seen from its rest."""
        values, vectors = np.linalg.eig(self.transitions.T)
        largest = np.argmax(values.real)
        after = vectors[:, largest].real
        after = after / after.sum()
        for each in seen:
            belief = after * (self.characters == each)
            after = belief @ self.transitions
        right = after[self.characters == character]
        return -np.log2(right.sum() / after.sum())


@pytest.mark.parametrize("window", [1, 2, 5, 17])
def test_a_window_knows_what_the_chain_of_characters_says(window):
    source = TopicText(TINY)
    chain = Chain(source)
    text = source.draw(60).decode()
    ours = OptimalPredictor(source).bits_within(text, window)
    begin = text.index(" ") + 1
    for position in range(max(begin, window), len(text), 3):
        seen = text[position - window : position]
        expected = chain.bits(seen, text[position])
        assert ours[position - begin] == pytest.approx(expected, abs=1e-9)


def test_a_window_of_everything_is_the_optimal_predictor():
    source = TopicText(TINY)
    reader = OptimalPredictor(source)
    text = source.draw(300).decode()
    whole = reader.bits_within(text, window=len(text))
    np.testing.assert_allclose(reader.bits(text), whole, atol=1e-9)


def test_readers_of_more_words_end_at_the_optimal_predictor():
    source = TopicText(NOISY)
    reader = OptimalPredictor(source)
    text = source.draw(20_000).decode()
    one, four, sixteen = (reader.bits_of_last(text, count) for count in (1, 4, 16))
    assert one.mean() > four.mean() > sixteen.mean()
    # noise before the first governed word says that time went by
    all_words = reader.bits_of_last(text[:400], 1000)[100:]
    optimal = reader.bits(text[:400])[100:]
    assert all_words.mean() == pytest.approx(optimal.mean(), abs=0.02)


def test_one_state_is_the_entropy_of_a_word():
    """Without topics words are independent: bits of a word over its mean length."""
    topics = TINY.model_copy(update={"states": 1, "durations": [10]})
    source = TopicText(topics)
    p = source.emission[0]
    bits_per_word = -(p * np.log2(p)).sum()
    lengths = [len(word) + 1 for word in source.lexicon]
    entropy = bits_per_word / (p @ lengths)
    text = source.draw(60_000).decode()
    bits = OptimalPredictor(source).bits(text)
    assert bits.mean() == pytest.approx(entropy, rel=0.01)


def test_a_state_lasts_as_long_as_the_catalogue_says():
    """Two words that tell their state: it changes every second time that it is drawn anew."""
    topics = TINY.model_copy(update={"words": 2, "durations": [40], "spread": 30.0, "seed": 2})
    source = TopicText(topics)
    assert source.draw(500) == source.draw(900)[:500]
    words = np.array(source.draw(200_000).split())
    changed = words[1:] != words[:-1]
    assert changed.mean() == pytest.approx(3.5 / 40 / 2, rel=0.1)
