"""Texts: the same bytes everywhere, checked, split, and refused in one line when they are not what they should be."""

import gzip
import hashlib
import http.server
import threading
from pathlib import Path

import numpy as np
import pytest

from workflow.choices import Refused
from workflow.corpora import embedded, files, splits, store
from workflow.corpora.catalogue import Catalogue, Entry, verify
from workflow.scripts import corpus as script
from workflow.settings import load_corpora

REAL = Path(__file__).parent.parent.parent / "shared" / "data"
needs_real = pytest.mark.skipif(not REAL.is_dir(), reason="no folder of real data beside the project")


def entry(content: bytes, **more) -> Entry:
    checksum = "sha256:" + hashlib.sha256(content).hexdigest()
    return Entry(kind="file", about="a test", unit="byte", bytes=len(content), checksum=checksum, **more)


def catalogue(content: bytes, **more) -> Catalogue:
    return Catalogue(metric="bpc", corpora={"text": entry(content, files=["text"], **more)})


@pytest.mark.parametrize("name", ["sources", "words"])
def test_embedded_texts_have_their_pinned_checksum(name):
    content, pinned = embedded.EMBEDDED[name](), load_corpora().entry(name)
    verify(content, pinned, name, "")
    assert len(content) == pinned.bytes > 3_000_000


def test_another_version_is_refused_with_the_pin():
    with pytest.raises(Refused, match=r"sha256 .* expected .*; it is read from sympy==1.14.0"):
        verify(b"other", load_corpora().entry("sources"), "corpus 'sources'", f"it is read from {embedded.PIN}")


@pytest.mark.parametrize(
    "text, expected",
    [("Hello, World!", "hello world"), ("x_1 = 20", "x one two zero"), ("  a\n\n b ", "a b"), ("é", "")],
)
def test_twenty_seven_characters(text, expected):
    assert embedded.twenty_seven(text) == expected


def test_splits_and_the_end_of_sequence():
    made = splits.build("file:x", b"ab\n" * 20, entry(b"ab\n" * 20))
    assert made.symbols == ["<eos>", "a", "b"]
    assert len(made.train) == 54 and made.train[:3].tolist() == [1, 2, 0]
    assert made.dev[-1] == made.test[-1] == 0


def test_a_split_that_does_not_end_in_a_newline_gets_one():
    made = splits.build("file:x", b"abcdefghij" * 4, entry(b"abcdefghij" * 4))
    assert len(made.train) == 36 + 1 and made.train[-1] == 0


def test_official_splits_by_length():
    assert splits.cut(b"0123456789", [6, 3, 1]) == [b"012345", b"678", b"9"]


def test_a_byte_that_train_never_shows_is_refused():
    content = b"ab" * 45 + b"abz" + b"ab" * 5
    with pytest.raises(Refused, match="byte 122 occurs in dev and never in train"):
        splits.build("text", content, entry(content))


def test_a_users_file_may_show_new_bytes_anywhere():
    content = b"ab" * 45 + b"abz" + b"ab" * 5
    assert "z" in splits.build("file:x", content, entry(content)).symbols


def test_too_short_a_text_is_refused():
    with pytest.raises(Refused, match="too few"):
        splits.build("file:x", b"", entry(b""))


@pytest.mark.parametrize("ending, pack", [("", bytes), (".gz", gzip.compress)])
def test_a_file_is_found_in_the_data_folder_or_one_below(ending, pack, tmp_path):
    content = b"some text\n" * 9
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / f"text{ending}").write_bytes(pack(content))
    assert files.load(catalogue(content), "text", str(tmp_path)) == content


def test_a_truncated_archive_is_refused(tmp_path):
    (tmp_path / "text.gz").write_bytes(gzip.compress(b"some text" * 1000)[:-20])
    with pytest.raises(Refused, match="truncated or corrupted"):
        files.load(catalogue(b"some text" * 1000), "text", str(tmp_path))


def test_a_corrupted_file_is_refused_with_both_checksums_and_sizes(tmp_path):
    (tmp_path / "text").write_bytes(b"another text")
    with pytest.raises(Refused, match=r"sha256 [0-9a-f]{64} \(12 bytes, expected 9\), expected [0-9a-f]{64}"):
        files.load(catalogue(b"some text"), "text", str(tmp_path))


def test_a_missing_file_without_address_is_refused_with_the_names_looked_for(tmp_path):
    with pytest.raises(Refused, match="looked for text, plain or .gz"):
        files.load(catalogue(b"some text"), "text", str(tmp_path))


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A mirror on this machine; downloads go to a cache of the test's own."""
    folder = tmp_path / "served"
    folder.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, directory=str(folder), **kwargs)

        def log_message(self, *args):
            pass

    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield folder, f"http://127.0.0.1:{made.server_port}"
    made.shutdown()
    made.server_close()


def test_a_text_is_fetched_from_the_first_mirror_that_serves_it(server):
    folder, address = server
    (folder / "good.gz").write_bytes(gzip.compress(b"some text"))
    (folder / "bad").write_bytes(b"something else")
    urls = [f"{address}/missing", f"{address}/bad", f"{address}/good.gz"]
    assert files.load(catalogue(b"some text", urls=urls), "text", None) == b"some text"


def test_a_mirror_that_serves_another_text_leaves_nothing_behind(server, tmp_path):
    folder, address = server
    (folder / "bad").write_bytes(b"something else")
    with pytest.raises(Refused, match="the address serves another file"):
        files.load(catalogue(b"some text", urls=[f"{address}/bad"]), "text", None)
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_store_writes_and_reads_back(tmp_path):
    made = splits.build("file:x", b"ab\n" * 20, entry(b"ab\n" * 20))
    store.write(tmp_path / "c.npz", made)
    read = store.read(tmp_path / "c.npz")
    assert read.symbols == made.symbols and np.array_equal(read.train, made.train) and read.checksum == made.checksum


@pytest.mark.parametrize("content", [b"", b"not a corpus", b"PK\x03\x04"])
def test_a_broken_corpus_is_refused(content, tmp_path):
    (tmp_path / "c.npz").write_bytes(content)
    with pytest.raises(Refused, match="not a corpus of this suite"):
        store.read(tmp_path / "c.npz")


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(Refused, match="did you mean 'enwik8'"):
        load_corpora().checksum("enwik")


@needs_real
@pytest.mark.parametrize("name, symbols", [("enwik8-4mb", 200), ("text8-3mb", 28), ("tinyshakespeare", 65)])
def test_real_texts(name, symbols, tmp_path):
    script.main([name, str(tmp_path / "c.npz"), "--data-dir", str(REAL)])
    made = store.read(tmp_path / "c.npz")
    assert len(made.symbols) == symbols
    assert len(made.train) > 15 * len(made.dev) > 0


@needs_real
def test_a_prefix_is_cut_from_the_official_file(tmp_path):
    content = gzip.decompress((REAL / "text8" / "text8.first3010294.gz").read_bytes())
    known = load_corpora()
    whole = known.entry("text8").model_copy(
        update={"bytes": len(content) + 4, "checksum": "sha256:" + hashlib.sha256(content + b"more").hexdigest()}
    )
    (tmp_path / "text8").write_bytes(content + b"more")
    made = known.model_copy(update={"corpora": {**known.corpora, "text8": whole}})
    assert files.load(made, "text8-3mb", str(tmp_path)) == content
