"""Small texts for the tests of character modelling, and where real data lies."""

import hashlib
from pathlib import Path

import pytest

from workflow.tasks.char_lm.catalogue import TextCatalogue, TextEntry

ROOT = Path(__file__).parents[2]
REAL = ROOT.parent / "shared" / "data"
needs_real = pytest.mark.skipif(not REAL.is_dir(), reason="no folder of real data beside the project")


def entry(content: bytes, **settings) -> TextEntry:
    checksum = "sha256:" + hashlib.sha256(content).hexdigest()
    defaults = {
        "kind": "file",
        "title": "a test",
        "about": "a test",
        "unit": "byte",
        "bytes": len(content),
        "checksum": checksum,
    }
    return TextEntry(**defaults | settings)


def catalogue(content: bytes, **settings) -> TextCatalogue:
    return TextCatalogue(metric="bpc", corpora={"text": entry(content, files=["text"], **settings)})
