"""Files that hold a text: found, unpacked, verified; and the file a run reads its corpus from."""

import gzip
import hashlib

import pytest

from tests.tasks._texts import REAL, catalogue, entry, needs
from workflow.config.errors import ConfigError
from workflow.scripts import corpus as script
from workflow.tasks.char_lm import data, store
from workflow.tasks.char_lm.catalogue import TextCatalogue

TEXT = b"some text\n" * 900


@pytest.mark.parametrize("ending, pack", [("", bytes), (".gz", gzip.compress)])
@pytest.mark.parametrize("folder", [".", "below"])
def test_a_file_is_found_in_the_data_folder_or_one_below(folder, ending, pack, tmp_path):
    (tmp_path / folder).mkdir(exist_ok=True)
    (tmp_path / folder / f"text{ending}").write_bytes(pack(TEXT))
    assert data.read_file(catalogue(TEXT), "text", str(tmp_path)) == TEXT


@pytest.mark.parametrize("spoil", [lambda b: b[:-20], lambda b: b[:30] + b"\xff\xff" + b[32:], lambda b: b"plain"])
def test_a_broken_archive_is_refused_with_what_was_expected(spoil, tmp_path):
    (tmp_path / "text.gz").write_bytes(spoil(gzip.compress(TEXT)))
    with pytest.raises(ConfigError, match=f"truncated or corrupted .* unpack to 9,000 bytes, {entry(TEXT).checksum}"):
        data.read_file(catalogue(TEXT), "text", str(tmp_path))


@pytest.mark.parametrize("content, size", [(TEXT[:-1], r" \(8,999 bytes, expected 9,000\)"), (TEXT[:-1] + b"x", "")])
def test_a_truncated_or_corrupted_file_is_refused_with_both_checksums(content, size, tmp_path):
    (tmp_path / "text").write_bytes(content)
    actual, expected = (hashlib.sha256(text).hexdigest() for text in (content, TEXT))
    with pytest.raises(ConfigError, match=f"text: sha256 {actual}{size}, expected {expected}; delete or replace"):
        data.read_file(catalogue(TEXT), "text", str(tmp_path))


@pytest.mark.parametrize("folder, line", [(".", "not found in data_dir .*text; plain"), ("no", "no such fold")])
def test_a_missing_file_or_folder_is_refused_with_the_names_looked_for(folder, line, tmp_path):
    with pytest.raises(ConfigError, match=line):
        data.read_file(catalogue(TEXT), "text", str(tmp_path / folder))


@pytest.mark.parametrize("pack, name", [(bytes, "text"), (gzip.compress, "text.gz")])
def test_a_prefix_is_cut_from_the_official_file(pack, name, tmp_path):
    start = entry(TEXT[:999], files=["start"], prefix_of="text")
    texts = TextCatalogue(metric="bpc", corpora={**catalogue(TEXT).corpora, "start": start})
    (tmp_path / name).write_bytes(pack(TEXT))
    assert data.read_file(texts, "start", str(tmp_path)) == TEXT[:999]
    (tmp_path / name).write_bytes(pack(b"another" * 999))
    with pytest.raises(ConfigError, match="the start of .* expected"):
        data.read_file(texts, "start", str(tmp_path))


def test_a_split_shorter_than_a_block_is_refused():
    corpus = data.build_corpus("file:x", TEXT, entry(TEXT))
    corpus.require("dev", 9, 49)  # 450 bytes, 50 for each stream
    with pytest.raises(ConfigError, match="dev has 450 bytes, 50 for each of 9 streams; it takes more than 50"):
        corpus.require("dev", 9, 50)


def test_the_script_makes_a_corpus_of_a_users_file(tmp_path, capsys):
    (tmp_path / "mine.txt").write_bytes(TEXT)
    script.main([f"file:{tmp_path / 'mine.txt'}", str(tmp_path / "data" / "mine.npz")])
    assert "train 8,100, dev 450, test 450 bytes, 8 symbols" in capsys.readouterr().out
    assert store.read(tmp_path / "data" / "mine.npz").about == "mine.txt, a file of the user's; our own split 90/5/5"


@needs("enwik8")
@pytest.mark.parametrize("name, symbols", [("enwik8-4mb", 200), ("text8-3mb", 28), ("tinyshakespeare", 65)])
def test_real_texts(name, symbols, tmp_path):
    script.main([name, str(tmp_path / "c.npz"), "--data-dir", str(REAL)])
    copy = store.read(tmp_path / "c.npz")
    assert len(copy.symbols) == symbols and len(copy.train) > 15 * len(copy.dev) > 0
