"""Texts: found, unpacked, verified and split; or refused in one line."""

import gzip
import hashlib
import lzma
import os

import pytest

from tests._jobs import job
from tests.tasks._texts import catalogue, entry, zipped
from workflow.config.errors import ConfigError
from workflow.tasks.char_lm import data
from workflow.tasks.char_lm.catalogue import refuse_short
from workflow.tasks.spec import load_corpora

TEXT = b"some text\n" * 900
FINDER = ("texts/", "__MACOSX/texts/._text", ".DS_Store")


@pytest.mark.parametrize(
    "name, content",
    [
        ("text", TEXT),
        ("text.gz", gzip.compress(TEXT, mtime=0)),
        ("TEXT.Xz", lzma.compress(TEXT)),
        ("below/text.ZIP", zipped(TEXT, *FINDER)),
    ],
)
def test_a_file_is_found_in_the_data_folder_or_one_below(name, content, tmp_path):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    assert data.read_file(catalogue(TEXT), "text", str(tmp_path)) == TEXT


EXPECTED = entry(TEXT).checksum[7:]
SIZE_AND_CHECKSUM = rf"9,000\b.*{EXPECTED}"
PACKED = gzip.compress(TEXT, mtime=0)


@pytest.mark.parametrize(
    "name, content, value",
    [
        ("text.gz", PACKED[:-20], SIZE_AND_CHECKSUM),
        ("text.gz", PACKED[:30] + b"\xff\xff" + PACKED[32:], SIZE_AND_CHECKSUM),
        ("text.gz", b"plain", SIZE_AND_CHECKSUM),
        ("text", TEXT[:-1], f"8,999 .*{SIZE_AND_CHECKSUM}"),
        ("text", TEXT[:-1] + b"x", EXPECTED),
        ("other", TEXT, "data_dir .*text"),
    ],
)
def test_a_missing_or_broken_file_is_refused_with_what_was_expected(name, content, value, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ConfigError, match=value):
        data.read_file(catalogue(TEXT), "text", str(tmp_path))


@pytest.mark.parametrize(
    "sizes, dev_tokens, value",
    [
        ([68, 33, 34], 0, "dev .*33 .*16 .*2 streams"),
        ([67, 34, 34], 0, "train .*67 .*16 .*4 streams"),
        ([68, 34, 34], 30, "dev .*30 .*15 .*2 streams"),
    ],
)
def test_a_split_shorter_than_a_block_is_refused(sizes, dev_tokens, value):
    small = job(block=8, batch=4)  # two streams, of which 16 bytes each are scored at once
    refuse_short("file:x", [68, 34, 34], "byte", small)
    if dev_tokens:
        few = small.evaluation.model_copy(update={"dev_tokens": dev_tokens})
        small = small.model_copy(update={"evaluation": few})
    with pytest.raises(ConfigError, match=value):
        refuse_short("file:x", sizes, "byte", small)


@pytest.mark.parametrize(
    "text, reduced",
    [
        ("Hello, World!", b"hello world"),
        ("x_1 = 20", b"x one two zero"),
        ("  a\n\n b1c ", b"a b one c"),
        ("naïve É don't", b"na ve don t"),
        ("\u212a", b""),  # the Kelvin sign, whose small letter is an ASCII k
    ],
)
def test_twenty_seven_characters(text, reduced):
    assert data.reduce_to_letters(text.encode()) == reduced


def test_splits_and_the_end_of_sequence():
    corpus = data.build_corpus("file:x", b"ab\n" * 20, entry(b"ab\n" * 20))
    assert corpus.symbols == ["<eos>", "a", "b"]
    assert len(corpus.train) == 54
    assert corpus.dev.tolist() == corpus.test.tolist() == [1, 2, 0]
    sizes = [len(part) for part in data.split_content(bytes(4154064), None)]
    assert sizes == [3738657, 207703, 207704]  # 90 / 5 / 5 %


def test_a_byte_that_train_never_shows_is_refused_unless_the_text_is_the_users():
    content = b"ab" * 45 + b"abz" + b"ab" * 5
    with pytest.raises(ConfigError, match="byte 122 occurs in dev"):
        data.build_corpus("text", content, entry(content))
    corpus = data.build_corpus("file:x", content, entry(content))
    assert corpus.symbols == ["<eos>", "a", "b", "z"]
    assert 3 in corpus.dev


def test_a_users_file_is_named_by_its_checksum_as_it_is_now(tmp_path):
    path = tmp_path / "mine.txt"
    texts = load_corpora("char_lm")
    for content in (b"some text\n" * 90, b"same size\n" * 90):
        path.write_bytes(content)
        os.utime(path, (1, 1))
        digest = hashlib.sha256(content).hexdigest()
        assert texts.checksum(f"file:{path}") == f"sha256:{digest}"
        assert texts.slug(f"file:{path}") == f"file-{digest[:8]}"
        assert data.read_file(texts, f"file:{path}", None) == content
