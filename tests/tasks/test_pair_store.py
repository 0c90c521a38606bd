"""The file a translation run reads its pairs from, and the real ones where they are."""

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.tasks._pairs import catalogue, files, write_files
from tests.tasks._texts import REAL, entry
from workflow.config.errors import ConfigError
from workflow.plan.scales import load_corpora
from workflow.tasks import store
from workflow.tasks.char_lm import data as splits
from workflow.tasks.char_lm import store as text_store
from workflow.tasks.store import UNK, Pairs, Split, decode
from workflow.tasks.translation.data import build_pairs

DATA = Path(os.environ.get("ATTENTION_DATA_DIR") or REAL)


@pytest.fixture(scope="module")
def birds(tmp_path_factory) -> Pairs:
    folder = tmp_path_factory.mktemp("birds")
    return build_pairs(catalogue(files()), "birds-deen", write_files(folder, files()))


def same(a: Pairs, b: Pairs) -> bool:
    """Equal in everything a run can read."""
    for split in store.PARTS:
        first, second = getattr(a, split), getattr(b, split)
        if (first.source_text, first.target_text) != (second.source_text, second.target_text):
            return False
        for side in store.SIDES:
            ids = getattr(first, side), getattr(second, side)
            if len(ids[0]) != len(ids[1]) or not all(map(np.array_equal, *ids)):
                return False
    return all(getattr(a, key) == getattr(b, key) for key in store.METADATA)


def test_the_file_has_the_same_bytes_and_is_read_back(birds, tmp_path):
    for name in "ab":
        store.write(tmp_path / name, birds)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    copy = store.read(tmp_path / "a")
    assert same(copy, birds) and copy.train.source[0].dtype == np.uint16
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_the_same_text_gives_the_same_pairs(birds, tmp_path):
    assert same(build_pairs(catalogue(files()), "birds-deen", write_files(tmp_path, files())), birds)


def test_an_empty_sentence_and_an_empty_split_are_read_back(birds, tmp_path):
    empty = Split([], [], [], [])
    blank = Split(
        [np.zeros(0, np.uint16), np.array([5], np.uint16)], [np.array([4], np.uint16)] * 2, ["", "a"], ["b", "b"]
    )
    corpus = replace(birds, dev=blank, test=empty)
    store.write(tmp_path / "c.npz", corpus)
    assert same(store.read(tmp_path / "c.npz"), corpus)


def test_decode_leaves_out_what_is_no_text():
    symbols = ["<pad>", "<bos>", "<eos>", "<unk>", "▁the", "▁cat", "s"]
    assert decode(symbols, [1, 4, 5, 6, 2, 0, 0]) == "the cats"
    assert decode(symbols, [4, UNK, 6]) == "the<unk>s"
    assert decode(symbols, np.array([], np.uint16)) == ""


def test_pairs_cut_anywhere_are_refused(birds, tmp_path):
    store.write(tmp_path / "c.npz", birds)
    whole = (tmp_path / "c.npz").read_bytes()
    for stop in range(0, len(whole), 31):
        (tmp_path / "c.npz").write_bytes(whole[:stop])
        with pytest.raises(ConfigError, match="c.npz: not a corpus of this suite"):
            store.read(tmp_path / "c.npz")


def test_pairs_with_a_changed_byte_are_refused_or_read_the_same(birds, tmp_path):
    store.write(tmp_path / "c.npz", birds)
    whole = (tmp_path / "c.npz").read_bytes()
    error = 0
    for offset in range(0, len(whole), 23):
        (tmp_path / "c.npz").write_bytes(whole[:offset] + bytes([whole[offset] ^ 255]) + whole[offset + 1 :])
        try:
            assert same(store.read(tmp_path / "c.npz"), birds)
        except ConfigError:
            error += 1
    assert error > len(whole) // 23 // 2


def test_foreign_files_are_refused(birds, tmp_path):
    np.save(tmp_path / "array.npy", np.arange(3))
    np.savez(tmp_path / "objects.npz", meta=np.array({"a": 1}, dtype=object))
    text_store.write(
        tmp_path / "text.npz", splits.build_corpus("file:x", b"some text\n" * 90, entry(b"some text\n" * 90))
    )
    for path in sorted(tmp_path.iterdir()):
        with pytest.raises(ConfigError, match="not a corpus of this suite"):
            store.read(path)
    store.write(tmp_path / "pairs.npz", birds)
    with pytest.raises(ConfigError, match="not a corpus of this suite"):
        text_store.read(tmp_path / "pairs.npz")


def change_file(path: Path, meta: dict | None = None, **arrays) -> None:
    """The file with parts of it replaced."""
    with np.load(path) as file:
        parts = {name: file[name] for name in file.files}
    metadata = json.loads(str(parts.pop("meta"))) | (meta or {})
    np.savez(path, meta=np.array(json.dumps(metadata)), **{**parts, **arrays})


@pytest.mark.parametrize(
    "change, line",
    [
        ({"meta": {"version": 0}}, "version 0, this suite reads 4"),
        ({"meta": {"more": 1}}, "other keys"),
        ({"meta": {"symbols": ["<pad>"]}}, "a token beyond its 1 symbols"),
        (
            {"meta": {"texts": {**{split: [[], []] for split in store.PARTS}, "dev": [["a"], ["b"]]}}},
            "dev has sides of different",
        ),
        ({"dev_source_ids": np.arange(4, dtype=np.int64)}, "other types"),
        ({"dev_source_ends": np.array([3, 1], np.int64)}, "sentences that do not fit their ids"),
        ({"train_source_ends": np.array([1], np.int64)}, "sentences that do not fit their ids"),
    ],
)
def test_pairs_that_do_not_fit_are_refused(change, line, birds, tmp_path):
    store.write(tmp_path / "c.npz", birds)
    change_file(tmp_path / "c.npz", **change)
    with pytest.raises(ConfigError, match=line):
        store.read(tmp_path / "c.npz")


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "multi30k").is_dir(), reason="no multi30k in ATTENTION_DATA_DIR or beside the project")
@pytest.mark.parametrize("name", ["multi30k-deen", "multi30k-ende", "multi30k-enfr"])
def test_multi30k(name, tmp_path):
    corpus = build_pairs(load_corpora("translation"), name, str(DATA))
    sizes = {split: len(getattr(corpus, split).source) for split in store.PARTS}
    assert sizes == {"train": 29_000, "dev": 1014, "test": 1000, "second_test": 1000, "example": 1}
    assert corpus.example.source_text[0] not in (*corpus.test.source_text, *corpus.dev.source_text)
    assert corpus.dropped == 0 and len(corpus.symbols) == 6000
    for ids, texts in ((corpus.test.source, corpus.test.source_text), (corpus.dev.target, corpus.dev.target_text)):
        decoded = [
            (decode(corpus.symbols, sentence), text)
            for sentence, text in zip(ids, texts, strict=True)
            if UNK not in sentence
        ]
        assert len(decoded) > 0.98 * len(texts) and all(ours == text for ours, text in decoded)
    store.write(tmp_path / "c.npz", corpus)
    assert same(store.read(tmp_path / "c.npz"), corpus)
