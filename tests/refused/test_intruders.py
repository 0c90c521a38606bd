"""What would climb out, swell, or run: none does, and none takes the memory."""

import gzip
import io
import tracemalloc
import zipfile
from functools import partial

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image

from tests._jobs import job
from tests.results.test_bundles import bundled, rewrite, rewrite_manifest, write_set
from workflow.config.errors import ConfigError
from workflow.report.bundle import read_bundle
from workflow.results.runs_table import csv_text
from workflow.tasks import sources
from workflow.tasks import store as stored
from workflow.tasks.captioning.files import Picture, read_images
from workflow.tasks.sources import Source, read_plain
from workflow.training import checkpoint

MUCH = 80 << 20  # bytes that the bombs swell to
LITTLE = 32 << 20  # bytes that looking at one may take


def write_bundle(path, says: int = MUCH) -> None:
    """Write a bundle whose manifest swells. says: the size that its list gives."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", bytes(MUCH))
    true, said = (size.to_bytes(4, "little") for size in (MUCH, says))
    path.write_bytes(path.read_bytes().replace(true, said))


def write_gzip(path) -> None:
    path.write_bytes(gzip.compress(bytes(MUCH)))


def write_arrays(path) -> None:
    np.savez_compressed(path, a=np.zeros(MUCH, np.uint8))


def write_weights(path) -> None:
    """Pack tensors so that they swell, as nobody who writes them does."""
    file = io.BytesIO()
    torch.save({"version": 1, "net": torch.zeros(MUCH >> 2)}, file)
    with zipfile.ZipFile(file) as plain, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in plain.namelist():
            packed.writestr(name, plain.read(name))


def read_gzip(path):
    return read_plain(path, Source())


def read_arrays(path):
    with stored.open_npz(path, 1) as (_, arrays):
        return arrays["a"]


def read_weights(path):
    return checkpoint.load(path, job().digest, torch.device("cpu"))


def read_picture(path):
    return read_images([Picture("a.png", "", "train", ["a"])], path.parent, 8)


@pytest.mark.parametrize(
    "name, write, read",
    [
        ("b.zip", write_bundle, read_bundle),
        ("lying.zip", partial(write_bundle, says=9), read_bundle),
        ("a.gz", write_gzip, read_gzip),
        ("a.npz", write_arrays, read_arrays),
        ("a.pt", write_weights, read_weights),
        ("a.png", Image.new("1", (12_000, 12_000)).save, read_picture),
    ],
)
def test_what_swells_is_refused_before_it_does(name, write, read, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "SMALL", 1 << 20)
    monkeypatch.setattr(stored, "largest", lambda: LITTLE)
    write(tmp_path / name)
    tracemalloc.start()
    try:
        with pytest.raises(ConfigError):
            read(tmp_path / name)
        assert tracemalloc.get_traced_memory()[1] < LITTLE
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "name", ["../a", "results/../../a", "C:\\a", "results/a\0b", "a/b", "results/.bashrc"]
)
def test_no_file_of_a_bundle_is_outside_it(name, tmp_path):
    path = bundled(write_set(tmp_path))
    rewrite(path, lambda content: rewrite_manifest(content, files={name: 64 * "0"}))
    with pytest.raises(ConfigError, match="is outside"):
        read_bundle(path)


def test_no_spreadsheet_computes_a_text():
    frame = pd.DataFrame({"text": ["=1+1", "+a", "@b", "-c", "plain", None], "number": [-1.5] * 6})
    _, *lines = csv_text(frame).splitlines()
    texts = [line.partition(",")[0] for line in lines]
    assert texts == ["'=1+1", "'+a", "'@b", "'-c", "plain", ""]
    assert lines[0].endswith(",-1.5")
