"""Texts: the same bytes everywhere, checked, split, and refused in one line when they are not what they should be."""

import hashlib

import pytest

from tests.tasks._texts import entry
from workflow.config.errors import ConfigError
from workflow.plan.scales import load_corpora
from workflow.tasks import embedded
from workflow.tasks.char_lm import data

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
    actual = hashlib.sha256(b"other").hexdigest()
    line = f"sha256 {actual} .*{pinned.checksum[7:]}; .*sympy==1.14.0, here is sympy==1.15.0"
    with pytest.raises(ConfigError, match=line):
        data.read_embedded("sources", pinned)


def test_a_missing_package_is_refused_with_the_pin(monkeypatch):
    monkeypatch.setattr(embedded, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="sympy==1.14.0, which is not installed"):
        data.read_sources()


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Hello, World!", "hello world"),
        ("x_1 = 20", "x one two zero"),
        ("  a\n\n b1c ", "a b one c"),
        ("naïve É don't", "na ve don t"),
        ("\u212a", ""),  # the Kelvin sign, whose small letter is an ASCII k, is no ASCII capital
    ],
)
def test_twenty_seven_characters(text, expected):
    assert data.reduce_to_letters(text.encode()) == expected.encode()


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


@pytest.mark.parametrize(
    "length, sizes", [(1000, [900, 50, 50]), (999, [899, 50, 50]), (4154064, [3738657, 207703, 207704])]
)
def test_our_own_split_is_of_90_5_and_5_per_cent(length, sizes):
    content = bytes(length)
    assert [len(part) for part in data.split_content(content, None)] == sizes


def test_a_byte_that_train_never_shows_is_refused_unless_the_text_is_the_users():
    content = b"ab" * 45 + b"abz" + b"ab" * 5
    with pytest.raises(ConfigError, match="byte 122 occurs in dev and never in train"):
        data.build_corpus("text", content, entry(content))
    corpus = data.build_corpus("file:x", content, entry(content))
    assert corpus.symbols == ["<eos>", "a", "b", "z"] and 3 in corpus.dev and 3 not in corpus.train


def test_too_short_a_text_is_refused():
    with pytest.raises(ConfigError, match="5 bytes are too few to split"):
        data.build_corpus("file:x", b"a" * 5, entry(b"a" * 5))


@pytest.mark.parametrize("byte, name", [(10, "<eos>"), (32, " "), (0, "\\x00"), (255, "\\xff"), (65, "A")])
def test_names_of_tokens(byte, name):
    assert data.symbol_name(byte) == name
