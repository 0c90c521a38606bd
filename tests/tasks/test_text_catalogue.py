"""The catalogue of texts: what is named, what is refused."""

import gzip
import hashlib
import os

import pytest

from tests.tasks._texts import entry
from workflow.config.errors import ConfigError
from workflow.config.strict import parse
from workflow.plan.scales import load_corpora
from workflow.tasks.char_lm import data
from workflow.tasks.char_lm.catalogue import TextCatalogue


@pytest.mark.parametrize(
    "change, line",
    [
        ({"checksum": "sha1:abc"}, "text: corpora.text.checksum = 'sha1:abc'"),
        ({"split": [1, 2, 3]}, "split adds up to 6, the text has 9 bytes"),
        ({"kind": "topics"}, "`topics` are the parameters of a text of kind topics, and of no other"),
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
        assert texts.slug(f"file:{path}") == f"file-{digest[:8]}" and texts.slug("text8-3mb") == "text8-3mb"
        assert data.read_file(texts, f"file:{path}", None) == content


@pytest.mark.parametrize(
    "content, line",
    [
        (None, "no such file"),
        (b"", "the file is empty"),
        (gzip.compress(b"some text", mtime=0), "is an archive; unpack it first"),
    ],
)
def test_a_users_file_that_is_no_text_is_refused(content, line, tmp_path):
    if content is not None:
        (tmp_path / "mine").write_bytes(content)
    with pytest.raises(ConfigError, match=line):
        load_corpora("char_lm").checksum(f"file:{tmp_path / 'mine'}")
