"""A user's text: what is none is refused in one line; how its lines end makes no difference."""

import gzip
import io
import tarfile

import pytest

from tests.tasks._texts import zipped
from workflow.config.errors import ConfigError
from workflow.tasks.char_lm import data
from workflow.tasks.parsing.data import build_trees
from workflow.tasks.spec import load_corpora
from workflow.tasks.translation.data import build_pairs

TEXT = b"some text\n" * 900


def tarred(content: bytes) -> bytes:
    packed = io.BytesIO()
    about = tarfile.TarInfo("text")
    about.size = len(content)
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.addfile(about, io.BytesIO(content))
    return packed.getvalue()


@pytest.mark.parametrize(
    "content, value",
    [
        (b"", "empty"),
        (gzip.compress(TEXT, mtime=0), "line 1: .*0x8b .*1 .*archive"),
        (tarred(TEXT), r"character 5: U\+0000.*archive"),
        (zipped(TEXT), r"line 1(: .*0x..|, character .*: U\+00..)"),
        (b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", "line 2: .*0xe2 .*10 "),
        (TEXT.decode().encode("utf-16"), "0xff .*0 "),
        (b"caf\xe9 au lait\n", "line 1: .*0xe9 .*3 "),
        ("a\n\ufdd0b\n".encode(), r"line 2, character 1: U\+FDD0"),
    ],
)
def test_a_users_file_that_is_no_text_is_refused_in_every_task(content, value, tmp_path):
    path = tmp_path / "mine"
    path.write_bytes(content)
    names = {"char_lm": f"file:{path}", "parsing": f"trees:{path}"}
    names["translation"] = f"pairs:{path},{path}"
    for task, name in names.items():
        with pytest.raises(ConfigError, match=value):
            load_corpora(task).checksum(name)


# Joiners of Persian, of Sinhala and of an emoji, and what else languages and published corpora
# hold. U+0378 is not assigned yet; U+0093 is a quotation mark of Windows-1252, as WMT 2014 has it.
LETTERS = [
    "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "\u0d9a\u0dca\u200d\u0dc2 \U0001f469\u200d\U0001f4bb",
    "Schiff\u00adfahrt",
    "a\ufeffb",
    "a\ue000",
    "a\u0378",
    "a\x93b",
]


@pytest.mark.parametrize("word", LETTERS, ids=ascii)
def test_characters_that_languages_need_pass_in_every_task(word, tmp_path):
    line = f"the {word} is here"
    token = word.replace(" ", "")
    tree = f"(S (NP (NN {token})) (VP (V is)))"
    (tmp_path / "mine").write_text(f"{line}\n" * 20, encoding="utf-8")
    (tmp_path / "trees").write_text(f"{tree}\n" * 20, encoding="utf-8")
    text = data.read_file(load_corpora("char_lm"), f"file:{tmp_path}/mine", None)
    assert text.decode() == f"{line}\n" * 20
    pairs = build_pairs(load_corpora("translation"), f"pairs:{tmp_path}/mine,{tmp_path}/mine", None)
    assert pairs.test.source_text == [line]
    trees = build_trees(load_corpora("parsing"), f"trees:{tmp_path}/trees", None)
    assert trees.test.source_text == [f"{token} is"]


@pytest.mark.parametrize("end", ["\r\n", "\r", "\r\r\n"])
def test_a_text_is_the_same_however_its_lines_end(end, tmp_path):
    plain = "some text,\n\tin naïve lines\n" * 90
    (tmp_path / "unix").write_bytes(plain.encode())
    ended = plain.replace("\n", end)
    (tmp_path / "other").write_bytes(f"\ufeff{ended}\x1a".encode())
    corpora = load_corpora("char_lm")
    unix, other = f"file:{tmp_path}/unix", f"file:{tmp_path}/other"
    assert data.read_file(corpora, other, None) == plain.encode()
    assert corpora.checksum(unix) == corpora.checksum(other)
