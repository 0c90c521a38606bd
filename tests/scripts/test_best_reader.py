"""The readers of a text of topics, on the stretch that nets are scored on."""

import numpy as np
import pytest

from workflow.config.errors import ConfigError
from workflow.plan.scales import load_corpora
from workflow.results.rows import read_rows
from workflow.scripts import best_reader
from workflow.tasks.char_lm import store
from workflow.tasks.char_lm.best_reader import Reader
from workflow.tasks.char_lm.topics import TopicText


@pytest.fixture
def source():
    return TopicText(load_corpora("char_lm").entry("topics").topics)


def write_corpus(path, text: str) -> None:
    symbols = sorted({*text, "<eos>"})
    ids = np.array([symbols.index(character) for character in text])
    store.write(path, store.Corpus("topics", ids, ids, ids, symbols, "sha256:0", "character", "a test"))


def test_every_reader_reads_what_nets_are_scored_on(source, tmp_path):
    text = source.draw(700).decode()
    write_corpus(tmp_path / "topics.npz", text)
    options = ["--windows", "16", "4", "--streams", "2", "--tokens", "600"]
    best_reader.main(["topics", str(tmp_path / "topics.npz"), str(tmp_path / "out.json"), *options])
    kind, rows = read_rows(tmp_path / "out.json")
    assert kind == "best_reader" and [row["window"] for row in rows] == [0, 4, 16, None]
    streams, reader = (text[:300], text[300:600]), Reader(source)
    expected = np.concatenate([reader.bits_within(stream, 16) for stream in streams])
    assert rows[2]["bpc"] == pytest.approx(expected.mean()) and rows[2]["characters"] == len(expected)
    whole = np.concatenate([reader.bits(stream) for stream in streams])
    assert rows[3]["bpc"] == pytest.approx(whole.mean())


def test_a_text_of_another_kind_has_no_best_reader(tmp_path):
    with pytest.raises(ConfigError, match="corpus 'words': the best possible prediction is known only for"):
        options = ["--windows", "4", "--streams", "1", "--tokens", "0"]
        best_reader.main(["words", str(tmp_path / "words.npz"), str(tmp_path / "out.json"), *options])
    assert not (tmp_path / "out.json").exists()
