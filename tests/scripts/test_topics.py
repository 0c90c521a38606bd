"""A corpus of topics: its optimal predictor, its borders, and averages around them."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests._jobs import VARIANTS, job
from tests._training import CPU, write_weights
from workflow.config.errors import ConfigError
from workflow.costs.trained_net import build_model
from workflow.results.rows import read_rows
from workflow.scripts import optimal_predictor, topic_borders
from workflow.scripts.topic_borders import around_borders, spans_over, within_words
from workflow.tasks.char_lm import store
from workflow.tasks.char_lm.catalogue import Topics
from workflow.tasks.char_lm.optimal_predictor import OptimalPredictor
from workflow.tasks.char_lm.topics import TopicText
from workflow.tasks.spec import load_corpora

ENTRY = load_corpora("char_lm").entry("topics")
DYNAMIC = job(**VARIANTS["dynamic"])


def write_corpus(path, text: str) -> store.Corpus:
    symbols = sorted({*text, "<eos>"})
    places = [symbols.index(character) for character in text]
    ids = np.array(places)
    corpus = store.Corpus(
        name="topics",
        train=ids,
        dev=ids,
        test=ids,
        symbols=symbols,
        checksum="sha256:0",
        unit="character",
        about="a test",
    )
    store.write(path, corpus)
    return corpus


def test_a_border_is_where_a_word_tells_another_state():
    """Two words that tell their state, one topic: between borders is one word."""
    topics = Topics(
        words=2,
        states=2,
        durations=[40],
        spread=30.0,
        seed=2,
    )
    source = TopicText(topics)
    (places,) = source.borders(3000)
    text = source.draw(3000).decode()
    assert len(places) > 20
    before = None
    begin = 0
    for end in places:
        words = text[begin:end].split()
        (word,) = set(words)
        assert word != before
        before = word
        begin = end


def test_spans_are_averaged_at_the_blanks_around_a_border_and_by_place_in_a_word():
    text = "ab c " * 200  # blanks at 2 and 4 of five
    blank = np.array([character == " " for character in text])
    spans = np.where(blank, 10.0, 1.0)
    spans[500:] *= 2
    rows = {}
    for row in around_borders(spans, text, [500]):
        rows[row["low"], row["high"]] = row
    before = rows[-50, 0]
    after = rows[0, 25]
    assert before["span"] == 10
    assert after["span"] == 20
    assert after["borders"] == 1
    for row in around_borders(spans, text, []):
        assert row["span"] is None

    at_blank, *in_word = within_words(spans, text)
    assert at_blank["place"] == 0
    assert at_blank["span"] == 15
    assert [row["place"] for row in in_word] == [1, 2]


def test_spans_over_a_corpus_are_those_of_its_characters():
    """With v = 0 the span depends on nothing: S sigmoid(b) + R everywhere, whatever the block."""
    model = build_model(DYNAMIC, CPU, 7)
    generator = torch.Generator().manual_seed(0)
    streams = torch.randint(7, (2, 50), generator=generator)
    for layer in model.attentions:
        layer.span.weight.data.zero_()
    span = model.attentions[0].span
    fraction = span.bias[0].sigmoid().item()
    expected = span.limit * fraction + span.ramp
    expected = min(expected, span.limit)
    spans = spans_over(model, streams, 8)
    assert spans.shape == (2, 50)
    assert spans == pytest.approx(expected)


@pytest.mark.slow
def test_the_script_reads_the_models_and_refuses_another_corpus(tmp_path):
    whole = TopicText(ENTRY.topics).draw(ENTRY.bytes)
    text = whole.decode()[-2000:]
    data = tmp_path / "topics.npz"
    out = tmp_path / "out.json"
    corpus = write_corpus(data, text)
    model = build_model(DYNAMIC, CPU, len(corpus.symbols))
    weights = write_weights(DYNAMIC, tmp_path / "run", model.state_dict())
    words = ["topics", str(data), str(out), str(weights)]
    words += ["--streams", "2", "--tokens", "0"]
    topic_borders.main(words)
    kind, rows = read_rows(out)
    assert kind == "topic_borders"
    durations = set()
    for row in rows:
        assert row["digest"] == DYNAMIC.digest
        durations.add(row.get("duration"))
    assert durations == {None, 200, 400, 800, 1600, 3200, 6400}
    reversed_test = corpus.test[::-1].copy()
    store.write(data, replace(corpus, test=reversed_test))
    with pytest.raises(ConfigError, match="test"):
        topic_borders.main(words)


def test_every_predictor_reads_what_models_are_scored_on(tmp_path):
    source = TopicText(ENTRY.topics)
    text = source.draw(700).decode()
    data = tmp_path / "topics.npz"
    out = tmp_path / "out.json"
    write_corpus(data, text)
    words = ["topics", str(data), str(out)]
    words += ["--windows", "16", "4", "--streams", "2", "--tokens", "600"]
    optimal_predictor.main(words)
    _, listed = read_rows(out)
    rows = {row["window"]: row for row in listed}
    assert list(rows) == [0, 4, 16, None]

    predictor = OptimalPredictor(source)
    near = []
    far = []
    for stream in (text[:300], text[300:600]):
        near.extend(predictor.bits_within(stream, 16))
        far.extend(predictor.bits(stream))
    assert rows[16]["bpc"] == pytest.approx(np.mean(near))
    assert rows[16]["characters"] == len(near)
    assert rows[None]["bpc"] == pytest.approx(np.mean(far))
