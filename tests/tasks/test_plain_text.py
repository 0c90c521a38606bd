"""A user's text: what is none is refused in one line, and how its lines end makes no difference."""

import bz2
import gzip
import io
import lzma
import tarfile

import pytest

from tests.tasks._texts import catalogue, zipped
from workflow.config.errors import ConfigError
from workflow.plan.scales import load_corpora
from workflow.tasks.char_lm import data

TEXT = b"some text\n" * 900


def tarred(content: bytes) -> bytes:
    with tarfile.open(fileobj=(packed := io.BytesIO()), mode="w") as archive:
        (about := tarfile.TarInfo("text")).size = len(content)
        archive.addfile(about, io.BytesIO(content))
    return packed.getvalue()


@pytest.mark.parametrize(
    "content, line",
    [
        (None, "no such file"),
        (b"", "the file is empty"),
        (gzip.compress(TEXT, mtime=0), "line 1: byte 0x8b at offset 1 is not UTF-8; .*an archive: unpack it first"),
        (bz2.compress(TEXT), "is not UTF-8"),
        (lzma.compress(TEXT), "byte 0xfd at offset 0 is not UTF-8"),
        (b"\x28\xb5\x2f\xfd\x04\x58some text", "byte 0xb5 at offset 1 is not UTF-8"),  # zstandard
        (tarred(TEXT), "byte 0x00 at offset 4 is a control character"),
        (zipped(TEXT), "line 1: byte 0x.. at offset"),
        (b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", "line 2: byte 0xe2 at offset 10 is not UTF-8"),
        (b"\x89PNG\r\n\x1a\n", "byte 0x89 at offset 0 is not UTF-8"),
        (TEXT.decode().encode("utf-16"), "byte 0xff at offset 0 is not UTF-8"),
        (TEXT.decode().encode("utf-16-be"), "byte 0x00 at offset 0 is a control character"),
        (b"caf\xe9 au lait\n", "line 1: byte 0xe9 at offset 3 is not UTF-8"),
        (b"a\nb\0c\n", "line 2: byte 0x00 at offset 3 is a control character"),
    ],
)
def test_a_users_file_that_is_no_text_is_refused(content, line, tmp_path):
    if content is not None:
        (tmp_path / "mine").write_bytes(content)
    for task, name in (("char_lm", "file:mine"), ("parsing", "trees:mine"), ("translation", "pairs:mine,mine")):
        with pytest.raises(ConfigError, match=line) as refused:
            load_corpora(task).checksum(name.replace("mine", f"{tmp_path}/mine"))
        assert "\n" not in str(refused.value)


def test_an_archive_that_an_entry_names_is_no_text_either(tmp_path):
    packed = bz2.compress(TEXT)
    (tmp_path / "text").write_bytes(packed)
    with pytest.raises(ConfigError, match="corpus 'text', line .: byte .* is not UTF-8"):
        data.read_file(catalogue(packed), "text", str(tmp_path))


@pytest.mark.parametrize("end", ["\r\n", "\r", "\r\r\n", "\u2028", "\u2029", "\x85"])
def test_a_text_is_the_same_however_its_lines_end(end, tmp_path):
    plain = "some text,\n\tin naïve lines\n" * 90
    for name, text in (("unix", plain), ("other", "\ufeff" + plain.replace("\n", end) + "\x1a")):
        (tmp_path / name).write_bytes(text.encode())
    texts, names = load_corpora("char_lm"), [f"file:{tmp_path}/{name}" for name in ("unix", "other")]
    assert data.read_file(texts, names[1], None) == plain.encode()
    assert texts.checksum(names[0]) == texts.checksum(names[1])


def test_what_ends_a_line_elsewhere_is_a_space_within_a_line_and_a_cut_character_stays(tmp_path):
    (tmp_path / "mine").write_bytes("one\u2028two\rthree\n\tfour\ffive\nsix\x85\nmehr Ü".encode()[:-1])
    read = data.read_file(load_corpora("char_lm"), f"file:{tmp_path}/mine", None)
    assert read == b"one two three\n\tfour\ffive\nsix \nmehr \xc3"
