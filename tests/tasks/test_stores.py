"""The files that runs read their datasets from: of text, of pairs, of captioned pictures."""

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

NOTHING = np.array([], np.uint16)
ONE = np.array([5], np.uint16)
HOLLOW = Split([NOTHING, ONE], [ONE, ONE], ["", "a"], ["b", "b"])
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
        changed = bytearray(whole)
        changed[place] ^= 255
        path.write_bytes(changed)
        try:
            np.testing.assert_equal(asdict(store.read(path)), asdict(data))
        except ConfigError:
            errors += 1
    assert errors > len(places) // 2


def test_decode_leaves_out_what_is_no_text():
    symbols = ["<pad>", "<bos>", "<eos>", "<unk>", "▁the", "▁cat", "s"]
    assert decode(symbols, [1, 4, 5, 6, 2, 0, 0]) == "the cats"
    assert decode(symbols, [4, UNK, 6]) == "the<unk>s"
    assert decode(symbols, NOTHING) == ""
