"""Small texts for the tests of character modelling, and where real data lies."""

import hashlib
import io
import os
import zipfile
from pathlib import Path

import pytest

from workflow.tasks.char_lm.catalogue import TextCatalogue, TextEntry

ROOT = Path(__file__).parents[2]
REAL = Path(os.environ.get("ATTENTION_DATA_DIR") or ROOT.parent / "shared" / "data")


def needs(folder: str) -> pytest.MarkDecorator:
    """Skip a test of real data where its folder is missing."""
    missing = not (REAL / folder).is_dir()
    return pytest.mark.skipif(
        missing, reason=f"no {folder} in ATTENTION_DATA_DIR or beside the project"
    )


def entry(content: bytes, **settings) -> TextEntry:
    checksum = f"sha256:{hashlib.sha256(content).hexdigest()}"
    about = {"kind": "file", "title": "a test", "about": "a test", "unit": "byte"}
    return TextEntry(**about | {"bytes": len(content), "checksum": checksum} | settings)


def catalogue(content: bytes, **settings) -> TextCatalogue:
    return TextCatalogue(metric="bpc", corpora={"text": entry(content, files=["text"], **settings)})


def zipped(content: bytes, *others: str) -> bytes:
    """Pack a text behind what Finder puts into an archive."""
    with zipfile.ZipFile(packed := io.BytesIO(), "w") as archive:
        for name in others:
            archive.writestr(name, b"\0" if name[-1] != "/" else b"")
        archive.writestr("texts/text", content)
    return packed.getvalue()
