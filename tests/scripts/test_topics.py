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
    ids = np.array([symbols.index(character) for character in text])
    corpus = store.Corpus("topics", ids, ids, ids, symbols, "sha256:0", "character", "a test")
    store.write(path, corpus)
    return corpus


def test_a_border_is_where_a_word_tells_another_state():
    """Two words that tell their state, one topic: between borders is one word."""
    source = TopicText(Topics(words=2, states=2, durations=[40], spread=30.0, seed=2))
    (places,) = source.borders(3000)
    text = source.draw(3000).decode()
    assert len(places) > 20
    before = None
    for begin, end in zip([0, *places], places, strict=False):
        (word,) = {*text[begin:end].split()}
        assert word != before
        before = word


def test_spans_are_averaged_at_the_blanks_around_a_border_and_by_place_in_a_word():
    text = "ab c " * 200  # blanks at 2 and 4 of five
    spans = np.where([character == " " for character in text], 10.0, 1.0)
    spans[500:] *= 2
    rows = {(row["low"], row["high"]): row for row in around_borders(spans, text, [500])}
    assert rows[-50, 0]["span"] == 10
    assert rows[0, 25]["span"] == 20
    assert rows[0, 25]["borders"] == 1
    assert all(row["span"] is None for row in around_borders(spans, text, []))
    places = within_words(spans, text)
    assert [row["place"] for row in places] == [0, 1, 2]
    assert places[0]["span"] == 15


def test_spans_over_a_corpus_are_those_of_its_characters():
    """With v = 0 the span depends on nothing: S sigmoid(b) + R everywhere, whatever the block."""
    model = build_model(DYNAMIC, CPU, 7)
    streams = torch.randint(7, (2, 50), generator=torch.Generator().manual_seed(0))
    for layer in model.attentions:
        layer.span.weight.data.zero_()
    span = model.attentions[0].span
    expected = span.limit * span.bias[0].sigmoid().item() + span.ramp
    spans = spans_over(model, streams, 8)
    assert spans.shape == (2, 50)
    assert spans == pytest.approx(min(expected, span.limit))


@pytest.mark.slow
def test_the_script_reads_the_models_and_refuses_another_corpus(tmp_path):
    text = TopicText(ENTRY.topics).draw(ENTRY.bytes).decode()[-2000:]
    data = tmp_path / "topics.npz"
    out = tmp_path / "out.json"
    corpus = write_corpus(data, text)
    state = build_model(DYNAMIC, CPU, len(corpus.symbols)).state_dict()
    weights = write_weights(DYNAMIC, tmp_path / "run", state)
    options = [str(data), str(out), str(weights), "--streams", "2", "--tokens", "0"]
    topic_borders.main(["topics", *options])
    kind, rows = read_rows(out)
    assert kind == "topic_borders"
    assert {row["digest"] for row in rows} == {DYNAMIC.digest}
    assert {row.get("duration") for row in rows} == {None, 200, 400, 800, 1600, 3200, 6400}
    store.write(data, replace(corpus, test=corpus.test[::-1].copy()))
    with pytest.raises(ConfigError, match="test"):
        topic_borders.main(["topics", *options])


def test_every_predictor_reads_what_models_are_scored_on(tmp_path):
    source = TopicText(ENTRY.topics)
    text = source.draw(700).decode()
    write_corpus(tmp_path / "topics.npz", text)
    out = tmp_path / "out.json"
    options = ["--windows", "16", "4", "--streams", "2", "--tokens", "600"]
    optimal_predictor.main(["topics", str(tmp_path / "topics.npz"), str(out), *options])
    rows = {row["window"]: row for row in read_rows(out)[1]}
    assert list(rows) == [0, 4, 16, None]
    streams = (text[:300], text[300:600])
    predictor = OptimalPredictor(source)
    near = np.concatenate([predictor.bits_within(stream, 16) for stream in streams])
    far = np.concatenate([predictor.bits(stream) for stream in streams])
    assert rows[16]["bpc"] == pytest.approx(near.mean())
    assert rows[16]["characters"] == len(near)
    assert rows[None]["bpc"] == pytest.approx(far.mean())
