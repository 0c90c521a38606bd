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
PICTURE = Picture("a.png", "", "train", ["a"])


def bundle(path, says: int | None) -> None:
    """Write a bundle whose manifest swells. says: the size that its list gives in place of the true
    one.
    """
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", bytes(MUCH))
    if says is not None:
        path.write_bytes(
            path.read_bytes().replace(MUCH.to_bytes(4, "little"), says.to_bytes(4, "little"))
        )


def packed_weights(path) -> None:
    """Pack tensors so that they swell, as nobody who writes them does."""
    torch.save({"version": 1, "net": torch.zeros(MUCH >> 2)}, file := io.BytesIO())
    with zipfile.ZipFile(file) as plain, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in plain.namelist():
            packed.writestr(name, plain.read(name))


SWELLING = {  # name: (what writes it, what reads it)
    "b.zip": (partial(bundle, says=None), read_bundle),
    "lying.zip": (partial(bundle, says=9), read_bundle),
    "a.gz": (
        lambda path: path.write_bytes(gzip.compress(bytes(MUCH))),
        lambda path: read_plain(path, Source()),
    ),
    "a.npz": (
        lambda path: np.savez_compressed(path, a=np.zeros(MUCH, np.uint8)),
        lambda path: stored.read_npz(path, 1, lambda metadata, arrays: arrays["a"]),
    ),
    "a.pt": (packed_weights, lambda path: checkpoint.load(path, job().digest, torch.device("cpu"))),
    "a.png": (
        Image.new("1", (12_000, 12_000)).save,
        lambda path: read_images([PICTURE], path.parent, 8),
    ),
}


@pytest.mark.parametrize("name", SWELLING)
def test_what_swells_is_refused_before_it_does(name, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "SMALL", 1 << 20)
    monkeypatch.setattr(stored, "largest", lambda: LITTLE)
    write, read = SWELLING[name]
    write(tmp_path / name)
    tracemalloc.start()
    try:
        with pytest.raises(ConfigError, match="unpacks? to|of more than|Bad CRC|pixels|bomb"):
            read(tmp_path / name)
        assert tracemalloc.get_traced_memory()[1] < LITTLE
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "name", ["../a", "results/../../a", "C:\\a", "results/a\0b", "a/b", "results/.bashrc"]
)
def test_no_file_of_a_bundle_lies_outside_it(name, tmp_path):
    rewrite(
        bundled(write_set(tmp_path)),
        lambda content: rewrite_manifest(content, files={name: 64 * "0"}),
    )
    with pytest.raises(ConfigError, match="is outside"):
        read_bundle(tmp_path / "b.zip")


def test_no_spreadsheet_computes_a_text():
    frame = pd.DataFrame(
        {"text": ["=1+1", "+a", "@b", "-c", "plain", None], "number": [-1.5, 2, 3, 4, 5, 6]}
    )
    lines = csv_text(frame).splitlines()
    assert lines == [
        "text,number",
        "'=1+1,-1.5",
        "'+a,2.0",
        "'@b,3.0",
        "'-c,4.0",
        "plain,5.0",
        ",6.0",
    ]
