"""What would climb out, swell, or run: none does, and none takes the memory."""

import gzip
import io
import json
import lzma
import re
import tracemalloc
import zipfile
from contextlib import contextmanager
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image

from tests._jobs import job
from workflow.compare.result_set import read_set
from workflow.config.errors import ConfigError
from workflow.data import npz
from workflow.data.captions.karpathy import Picture
from workflow.data.captions.pictures import read_images
from workflow.data.sources import archives
from workflow.data.sources.source import Source
from workflow.report.pages.root import root_page
from workflow.report.pages.site import render
from workflow.results.csv_text import csv_text
from workflow.training import checkpoint

MUCH = 120 << 20  # bytes that the bombs swell to
LITTLE = 40 << 20  # bytes that looking at one may take


@contextmanager
def in_little_memory():
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < LITTLE
    finally:
        tracemalloc.stop()


def swelling(method: int, says: int | None = None) -> bytes:
    """A bundle whose manifest swells. says: the size that its list gives in place of the true one."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive, archive.open("manifest.json", "w", force_zip64=False) as entry:
        for _ in range(MUCH >> 20):
            entry.write(bytes(1 << 20))
    content = file.getvalue()
    return content if says is None else content.replace(MUCH.to_bytes(4, "little"), says.to_bytes(4, "little"))


@pytest.mark.parametrize("says", [None, 9], ids=["honest", "lying"])
def test_a_bundle_that_swells_is_refused_before_it_does(says, tmp_path):
    (tmp_path / "b.zip").write_bytes(swelling(zipfile.ZIP_DEFLATED, says))
    with in_little_memory(), pytest.raises(ConfigError):
        read_set(tmp_path / "b.zip")


def test_an_archive_of_very_many_entries_is_not_listed(tmp_path):
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        for n in range(400):
            archive.writestr(f"{n}-{'a' * 60_000}", b"")
    with in_little_memory(), pytest.raises(ConfigError, match="lists more entries than are read"):
        read_set(tmp_path / "b.zip")


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress], ids=["gz", "xz"])
def test_a_text_that_swells_is_read_as_far_as_it_should_go(pack, tmp_path, monkeypatch):
    path = tmp_path / f"a.{'gz' if pack is gzip.compress else 'xz'}"
    path.write_bytes(pack(bytes(MUCH)))
    monkeypatch.setattr(archives, "SMALL", 1 << 20)
    with in_little_memory():
        for source in (Source(bytes=1000), Source()):
            with pytest.raises(ConfigError, match="unpacks to more than"):
                archives.read_plain(path, source)


def test_a_corpus_that_swells_is_not_unpacked(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "a.npz", meta=np.array("{}"), train=np.zeros(MUCH, np.uint8))
    monkeypatch.setattr(npz, "largest", lambda: LITTLE)
    with in_little_memory(), pytest.raises(ConfigError, match="would unpack to"):
        npz.read_npz(tmp_path / "a.npz", ["train"], 1)


def test_weights_that_swell_are_not_unpacked(tmp_path):
    torch.save({"version": 1, "net": torch.zeros(MUCH >> 2)}, tmp_path / "plain.pt")
    with zipfile.ZipFile(tmp_path / "plain.pt") as plain, zipfile.ZipFile(tmp_path / "a.pt", "w", 8) as packed:
        for name in plain.namelist():
            packed.writestr(name, plain.read(name))
    with in_little_memory(), pytest.raises(ConfigError, match="would unpack to"):
        checkpoint.load(tmp_path / "a.pt", job().digest, torch.device("cpu"))


def test_a_picture_that_swells_is_not_drawn(tmp_path):
    Image.new("1", (12_000, 12_000)).save(tmp_path / "a.png")
    with in_little_memory(), pytest.raises(ConfigError, match="12,000 x 12,000 pixels|bomb"):
        read_images([Picture("a.png", "", "train", ["a"])], tmp_path, 8)


class Elements(HTMLParser):
    """The elements of a page, the attributes of theirs that run something, and where links lead."""

    def __init__(self, page: str):
        super().__init__()
        self.tags, self.attributes, self.links = set(), set(), []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes |= {pair for pair in attributes if pair[0].startswith("on")}
        self.links += [value for name, value in attributes if name in ("href", "src")]


def test_no_element_attribute_or_link_of_a_page_comes_from_the_records(reports):
    """The records of these pages carry markup in reasons, logs and origins."""
    for path in reports.rglob("*.html"):
        page = path.read_text()
        seen = Elements(page)
        assert seen.attributes <= {("onsubmit", "return false")}, path  # ours, of the pivot table
        assert not seen.tags & {"iframe", "object", "embed", "base", "foreignobject"}, path
        assert all(re.match(r"data:,|data:image/png|[^:]*$", link) for link in seen.links), path
        for script in re.findall(r"<script(?! type=.application/json)[^>]*>(.*?)</script>", page, re.DOTALL):
            assert "alert(" not in script, path
        for text in re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL):
            assert json.loads(text) is not None and "<" not in text


def test_a_folder_with_the_name_of_a_script_is_a_folder(tmp_path):
    (tmp_path / "javascript:alert(1)").mkdir()
    (tmp_path / "javascript:alert(1)" / "index.html").write_text("a")
    links = Elements(render("root.html.j2", "index.html", **root_page(tmp_path))).links
    assert "javascript%3Aalert%281%29/index.html" in links and not [link for link in links if ":" in link[5:]]


def test_the_strongest_evidence_comes_first(tmp_path):
    for scale in ("laptop", "mine", "overnight", "smoke"):
        (tmp_path / scale).mkdir()
        (tmp_path / scale / "index.html").write_text("a")
    assert [scale["name"] for scale in root_page(tmp_path)["scales"]] == ["overnight", "laptop", "smoke", "mine"]


def test_no_spreadsheet_computes_a_text():
    frame = pd.DataFrame({"text": ["=1+1", "+a", "@b", "-c", "plain", None], "number": [-1.5, 2, 3, 4, 5, 6]})
    lines = csv_text(frame).splitlines()
    assert lines == ["text,number", "'=1+1,-1.5", "'+a,2.0", "'@b,3.0", "'-c,4.0", "plain,5.0", ",6.0"]
