"""The files that runs read their datasets from: of text, of pairs, of pictures with captions."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from tests._jobs import bitext, corpus
from tests.tasks.test_captioning import coloured
from workflow.config.errors import ConfigError
from workflow.tasks import store as pairs
from workflow.tasks.captioning import store as captions
from workflow.tasks.char_lm import store as texts
from workflow.tasks.store import UNK, Split, decode

HOLLOW = Split(
    [np.zeros(0, np.uint16), np.array([5], np.uint16)],
    [np.array([4], np.uint16)] * 2,
    ["", "a"],
    ["b"] * 2,
)
EMPTY = replace(bitext(20), test=Split(), dev=HOLLOW)
KINDS = {
    "text": (texts, corpus(300)),
    "pairs": (pairs, EMPTY),
    "captions": (captions, coloured(21)),
}
each_kind = pytest.mark.parametrize("store, data", KINDS.values(), ids=KINDS)


@each_kind
def test_the_file_has_the_same_bytes_and_is_read_back(store, data, tmp_path):
    for name in "ab":
        store.write(tmp_path / name, data)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    np.testing.assert_equal(asdict(store.read(tmp_path / "a")), asdict(data))


@each_kind
def test_a_file_that_was_cut_is_refused_and_one_with_a_changed_byte_too_or_read_the_same(
    store, data, tmp_path
):
    path = tmp_path / "c.npz"
    store.write(path, data)
    whole, errors, places = path.read_bytes(), 0, range(0, path.stat().st_size, 31)
    for place in places:
        path.write_bytes(whole[:place])
        with pytest.raises(ConfigError, match="c.npz: not a corpus of this suite"):
            store.read(path)
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        try:
            np.testing.assert_equal(asdict(store.read(path)), asdict(data))
        except ConfigError:
            errors += 1
    assert errors > len(places) // 2


@each_kind
def test_a_foreign_file_and_one_of_another_version_are_refused(store, data, tmp_path):
    np.save(tmp_path / "array.npy", np.arange(3))
    np.savez(tmp_path / "objects.npz", meta=np.array({"a": 1}, dtype=object))
    np.savez(
        tmp_path / "other.npz",
        meta=np.array(json.dumps({"version": store.VERSION})),
        train=np.arange(3),
    )
    for path in sorted(tmp_path.iterdir()):
        with pytest.raises(ConfigError, match="not a corpus of this suite"):
            store.read(path)
    np.savez(tmp_path / "old.npz", meta=np.array(json.dumps({"version": 0})))
    with pytest.raises(ConfigError, match=f"version 0, this suite reads {store.VERSION}"):
        store.read(tmp_path / "old.npz")


def test_decode_leaves_out_what_is_no_text():
    symbols = ["<pad>", "<bos>", "<eos>", "<unk>", "▁the", "▁cat", "s"]
    assert decode(symbols, [1, 4, 5, 6, 2, 0, 0]) == "the cats"
    assert decode(symbols, [4, UNK, 6]) == "the<unk>s"
    assert decode(symbols, np.array([], np.uint16)) == ""
