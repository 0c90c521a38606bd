"""The limit of a corpus of topics: every hidden path spelled out, and the limit's own ends."""

import numpy as np
import pytest

from workflow.tasks.char_lm.catalogue import Topics
from workflow.tasks.char_lm.optimal_predictor import OptimalPredictor
from workflow.tasks.char_lm.topics import TopicText

TINY = Topics(words=5, states=2, durations=[8, 30], spread=1.5, seed=3)


@pytest.fixture(scope="module")
def source():
    return TopicText(TINY)


@pytest.fixture(scope="module")
def noisy():
    return TopicText(TINY.model_copy(update={"noise": 0.5}))


def spelled_out(source) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Spell out the chain of characters, with nothing of the predictor's.

    Its states are (joint state, word, place in the word): a character is followed by the next of
    its word, a blank by any word in any state. Returns transitions, characters, and the
    distribution at rest.
    """
    words = [f"{word} " for word in source.lexicon]
    joints = source.joint_states
    cells = []
    for joint in range(len(joints)):
        for word, letters in enumerate(words):
            cells += [(joint, word, place) for place in range(len(letters))]
    index = {cell: i for i, cell in enumerate(cells)}
    chain = np.zeros((len(cells), len(cells)))
    for cell in cells:
        joint, word, place = cell
        if place + 1 < len(words[word]):
            chain[index[cell], index[joint, word, place + 1]] = 1
            continue
        for other, states in enumerate(joints):
            change = 1.0
            for p, before, after in zip(source.renewal, joints[joint], states, strict=True):
                # renewed with probability p, to either state
                change *= p / 2 + (1 - p) * (before == after)
            for following in range(len(words)):
                reached = index[other, following, 0]
                chain[index[cell], reached] = change * source.emission[other, following]
    values, vectors = np.linalg.eig(chain.T)
    rest = np.real(vectors[:, np.argmax(np.real(values))])
    characters = np.array([words[word][place] for _, word, place in cells])
    return chain, characters, rest / rest.sum()


def bits_by_chain(source, seen: str, character: str) -> float:
    chain, characters, belief = spelled_out(source)
    for number, each in enumerate(seen):
        if number:
            belief = belief @ chain
        belief = belief * (characters == each)
    after = belief @ chain
    return -np.log2(after[characters == character].sum() / after.sum())


@pytest.mark.parametrize("window", [1, 2, 5, 17])
def test_a_window_knows_what_the_chain_of_characters_says(window, source):
    text = source.draw(60).decode()
    ours = OptimalPredictor(source).bits_within(text, window)
    begin = text.index(" ") + 1
    for position in range(max(begin, window), len(text), 3):
        seen = text[position - window : position]
        expected = bits_by_chain(source, seen, text[position])
        assert ours[position - begin] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("count", [1, 3])
def test_a_reader_of_few_words_begins_where_the_last_governed_ones_do(count, noisy):
    """The blank before them tells the chain of characters where they begin."""
    text = noisy.draw(60).decode()
    words = text.split(" ")
    ours = OptimalPredictor(noisy).bits_of_last(text, count)
    lengths = [len(word) + 1 for word in words]
    begins = np.cumsum([0, *lengths])
    governed = []
    for number in range(1, len(words) - 1):
        before = governed[-count:]
        if words[number] in noisy.lexicon[:5]:
            governed.append(number)
        if number == 1:
            continue
        first = before[0] if before else number
        position = begins[number] + 1  # the second letter of the word
        seen = text[begins[first] - 1 : position]
        expected = bits_by_chain(noisy, seen, text[position])
        assert ours[position - begins[1]] == pytest.approx(expected, abs=1e-9)


def test_readers_of_more_words_and_of_longer_windows_end_at_the_optimal_predictor(source, noisy):
    reader = OptimalPredictor(noisy)
    long = noisy.draw(20_000).decode()
    scores = [reader.bits_of_last(long, count).mean() for count in (1, 4, 16)]
    assert scores == sorted(scores, reverse=True)
    text = noisy.draw(400).decode()
    # noise before the first governed word says that time went by
    all_words = reader.bits_of_last(text, 1000)[100:]
    optimal = reader.bits(text)[100:]
    assert all_words.mean() == pytest.approx(optimal.mean(), abs=0.02)
    text = source.draw(300).decode()
    reader = OptimalPredictor(source)
    whole = reader.bits_within(text, window=len(text))
    np.testing.assert_allclose(reader.bits(text), whole, atol=1e-9)


def test_one_state_is_the_entropy_of_a_word():
    """Without topics words are independent: bits of a word over its mean length."""
    source = TopicText(Topics(words=6, states=1, durations=[10], spread=1.0, seed=2))
    p = source.emission[0]
    lengths = np.array([len(word) + 1 for word in source.lexicon])
    bits_per_word = -(p * np.log2(p)).sum()
    entropy = bits_per_word / (p * lengths).sum()
    bits = OptimalPredictor(source).bits(source.draw(60_000).decode())
    assert bits.mean() == pytest.approx(entropy, rel=0.01)


def test_a_state_lasts_as_long_as_the_catalogue_says():
    """Two words that tell their state: it changes every second time that it is drawn anew."""
    source = TopicText(Topics(words=2, states=2, durations=[40], spread=30.0, seed=2))
    assert source.draw(500) == source.draw(900)[:500]
    words = np.array(source.draw(200_000).split())
    changes = (words[1:] != words[:-1]).mean()
    assert changes == pytest.approx(3.5 / 40 / 2, rel=0.1)
