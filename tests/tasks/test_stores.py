"""The files that runs read their datasets from: of text, of pairs, of captioned pictures."""

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

NOTHING, ONE, OTHER = (np.array(ids, np.uint16) for ids in ([], [5], [4]))
HOLLOW = Split([NOTHING, ONE], [OTHER, OTHER], ["", "a"], ["b", "b"])
KINDS = {
    "text": (texts, corpus(300)),
    "pairs": (pairs, replace(bitext(20), test=Split(), dev=HOLLOW)),
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
def test_a_cut_file_is_refused_and_one_with_a_changed_byte_too_or_read_the_same(
    store, data, tmp_path
):
    path = tmp_path / "c.npz"
    store.write(path, data)
    whole = path.read_bytes()
    places = range(0, len(whole), 31)
    errors = 0
    for place in places:
        path.write_bytes(whole[:place])
        with pytest.raises(ConfigError, match="c.npz"):
            store.read(path)
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        try:
            np.testing.assert_equal(asdict(store.read(path)), asdict(data))
        except ConfigError:
            errors += 1
    assert errors > len(places) // 2


@each_kind
def test_a_foreign_file_and_one_of_another_version_are_refused(store, data, tmp_path):
    def meta(version: int) -> np.ndarray:
        return np.array(json.dumps({"version": version}))

    np.save(tmp_path / "array.npy", np.arange(3))
    np.savez(tmp_path / "objects.npz", meta=np.array({"a": 1}, dtype=object))
    np.savez(tmp_path / "other.npz", meta=meta(store.VERSION), train=np.arange(3))
    np.savez(tmp_path / "version 0.npz", meta=meta(0))
    for path in sorted(tmp_path.iterdir()):
        with pytest.raises(ConfigError, match=path.name):
            store.read(path)


def test_decode_leaves_out_what_is_no_text():
    symbols = ["<pad>", "<bos>", "<eos>", "<unk>", "▁the", "▁cat", "s"]
    assert decode(symbols, [1, 4, 5, 6, 2, 0, 0]) == "the cats"
    assert decode(symbols, [4, UNK, 6]) == "the<unk>s"
    assert decode(symbols, NOTHING) == ""
