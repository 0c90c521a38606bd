"""Texts: found, unpacked, verified, cut into splits; refused in one line when they are not as they
should be.
"""

import gzip
import hashlib
import lzma
import os

import pytest

from tests._jobs import job
from tests.tasks._texts import catalogue, entry, zipped
from workflow.config.errors import ConfigError
from workflow.config.strict import parse
from workflow.scripts import corpus as script
from workflow.tasks import embedded
from workflow.tasks.char_lm import data, store
from workflow.tasks.char_lm.catalogue import TextCatalogue, refuse_short
from workflow.tasks.spec import load_corpora

TEXT = b"some text\n" * 900


@pytest.mark.parametrize(
    "name, pack",
    [
        ("text", bytes),
        ("text.gz", gzip.compress),
        ("TEXT.Xz", lzma.compress),
        ("text.ZIP", lambda text: zipped(text, "texts/", "__MACOSX/texts/._text", ".DS_Store")),
    ],
)
@pytest.mark.parametrize("folder", [".", "below"])
def test_a_file_is_found_in_the_data_folder_or_one_below(folder, name, pack, tmp_path):
    (tmp_path / folder).mkdir(exist_ok=True)
    (tmp_path / folder / name).write_bytes(pack(TEXT))
    assert data.read_file(catalogue(TEXT), "text", str(tmp_path)) == TEXT


@pytest.mark.parametrize(
    "spoil", [lambda b: b[:-20], lambda b: b[:30] + b"\xff\xff" + b[32:], lambda b: b"plain"]
)
def test_a_broken_archive_is_refused_with_what_was_expected(spoil, tmp_path):
    (tmp_path / "text.gz").write_bytes(spoil(gzip.compress(TEXT)))
    with pytest.raises(ConfigError, match=f"text.gz.*9,000 .*{entry(TEXT).checksum}"):
        data.read_file(catalogue(TEXT), "text", str(tmp_path))


@pytest.mark.parametrize("content, size", [(TEXT[:-1], "8,999 .*9,000"), (TEXT[:-1] + b"x", "")])
def test_a_truncated_or_corrupted_file_is_refused_with_both_checksums(content, size, tmp_path):
    (tmp_path / "text").write_bytes(content)
    actual = hashlib.sha256(content).hexdigest()
    expected = hashlib.sha256(TEXT).hexdigest()
    with pytest.raises(ConfigError, match=f"{actual}.*{size}.*{expected}"):
        data.read_file(catalogue(TEXT), "text", str(tmp_path))


@pytest.mark.parametrize("folder, value", [(".", "data_dir .*text"), ("no", "/no")])
def test_a_missing_file_or_folder_is_refused_with_the_names_looked_for(folder, value, tmp_path):
    with pytest.raises(ConfigError, match=value):
        data.read_file(catalogue(TEXT), "text", str(tmp_path / folder))


@pytest.mark.parametrize("pack, name", [(bytes, "text"), (gzip.compress, "text.gz")])
def test_a_prefix_is_cut_from_the_official_file(pack, name, tmp_path):
    start = entry(TEXT[:999], files=["start"], prefix_of="text")
    texts = TextCatalogue(metric="bpc", corpora={**catalogue(TEXT).corpora, "start": start})
    (tmp_path / name).write_bytes(pack(TEXT))
    assert data.read_file(texts, "start", str(tmp_path)) == TEXT[:999]
    (tmp_path / name).write_bytes(pack(b"another" * 999))
    with pytest.raises(ConfigError, match=f"{name}: sha256 .* expected"):
        data.read_file(texts, "start", str(tmp_path))


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


def test_the_script_makes_a_corpus_of_a_users_file(tmp_path, capsys):
    (tmp_path / "mine.txt").write_bytes(TEXT)
    script.main([f"file:{tmp_path / 'mine.txt'}", str(tmp_path / "data" / "mine.npz")])
    assert "train 8,100, dev 450, test 450 bytes, 8 symbols" in capsys.readouterr().out
    assert (
        store.read(tmp_path / "data" / "mine.npz").about == "mine.txt, your own file, split 90/5/5"
    )


# Embedded texts


@pytest.mark.parametrize("name", ["sources", "words"])
def test_embedded_texts_are_the_pinned_ones(name):
    pinned = load_corpora("char_lm").entry(name)
    content = data.read_embedded(name, pinned)
    assert len(content) == pinned.bytes > 3_000_000


def test_another_version_is_refused_with_the_pin_and_both_checksums(monkeypatch):
    monkeypatch.setitem(data.READERS, "sources", lambda: b"other")
    monkeypatch.setattr(embedded, "version", lambda name: "1.15.0")
    pinned = load_corpora("char_lm").entry("sources")
    value = f"{pinned.checksum[7:]}.*sympy==1.14.0.*sympy==1.15.0"
    with pytest.raises(ConfigError, match=value):
        data.read_embedded("sources", pinned)


def test_twenty_seven_characters():
    """The Kelvin sign, whose small letter is an ASCII k, is no ASCII capital."""
    reduced = {
        "Hello, World!": b"hello world",
        "x_1 = 20": b"x one two zero",
        "  a\n\n b1c ": b"a b one c",
    }
    reduced |= {"naïve É don't": b"na ve don t", "\u212a": b""}
    assert {text: data.reduce_to_letters(text.encode()) for text in reduced} == reduced


# Splits and vocabulary


def test_splits_and_the_end_of_sequence():
    corpus = data.build_corpus("file:x", b"ab\n" * 20, entry(b"ab\n" * 20))
    assert corpus.symbols == ["<eos>", "a", "b"]
    assert len(corpus.train) == 54 and corpus.train[:3].tolist() == [1, 2, 0]
    assert [corpus.dev.tolist(), corpus.test.tolist()] == [[1, 2, 0], [1, 2, 0]]


def test_a_split_without_a_newline_gets_one_and_characters_lose_outer_blanks():
    content = b"ab " * 30  # cut at 81 and 85: "... ab ", " ab " and "b ab "
    corpus = data.build_corpus("text", content, entry(content, unit="character"))
    assert corpus.symbols == ["<eos>", " ", "a", "b"]
    assert "".join(corpus.symbols[i] for i in corpus.dev) == "ab a<eos>"
    assert "".join(corpus.symbols[i] for i in corpus.test) == "b ab<eos>"


def test_our_own_split_is_of_90_5_and_5_per_cent():
    sizes = {1000: [900, 50, 50], 999: [899, 50, 50], 4154064: [3738657, 207703, 207704]}
    assert {
        length: [*map(len, data.split_content(bytes(length), None))] for length in sizes
    } == sizes


def test_a_byte_that_train_never_shows_is_refused_unless_the_text_is_the_users():
    content = b"ab" * 45 + b"abz" + b"ab" * 5
    with pytest.raises(ConfigError, match="byte 122 occurs in dev but not in train"):
        data.build_corpus("text", content, entry(content))
    corpus = data.build_corpus("file:x", content, entry(content))
    assert corpus.symbols == ["<eos>", "a", "b", "z"] and 3 in corpus.dev and 3 not in corpus.train


# The catalogue


@pytest.mark.parametrize(
    "change, line",
    [
        ({"checksum": "sha1:abc"}, "text: corpora.text.checksum = 'sha1:abc'"),
        ({"split": [1, 2, 3]}, "split adds up to 6, but the file has 9 bytes"),
        ({"kind": "topics"}, "`topics` is valid only for a corpus of kind topics"),
        ({"prefix_of": "txt"}, "did you mean 'text'"),
    ],
)
def test_a_wrong_entry_is_refused_in_one_line(change, line):
    raw = {"metric": "bpc", "corpora": {"text": entry(b"some text").model_dump() | change}}
    with pytest.raises(ConfigError, match=line):
        parse(TextCatalogue, raw, "text")


def test_a_users_file_is_named_by_its_checksum_as_it_is_now(tmp_path):
    path, texts = tmp_path / "mine.txt", load_corpora("char_lm")
    for content in (b"some text\n" * 90, b"same size\n" * 90):
        path.write_bytes(content)
        os.utime(path, ns=(hash(content) % 10**9,) * 2)
        digest = hashlib.sha256(content).hexdigest()
        assert texts.checksum(f"file:{path}") == f"sha256:{digest}"
        assert (
            texts.slug(f"file:{path}") == f"file-{digest[:8]}"
            and texts.slug("text8-3mb") == "text8-3mb"
        )
        assert data.read_file(texts, f"file:{path}", None) == content
