"""Small texts, what a corpus holds, and where real data lies."""

import hashlib
import io
import zipfile

from workflow.tasks.char_lm.catalogue import TextCatalogue, TextEntry
from workflow.tasks.store import decode


def entry(content: bytes, **settings) -> TextEntry:
    checksum = f"sha256:{hashlib.sha256(content).hexdigest()}"
    about = {"kind": "file", "title": "a test", "about": "a test", "unit": "byte"}
    about |= {"bytes": len(content), "checksum": checksum}
    return TextEntry(**about | settings)


def catalogue(content: bytes, **settings) -> TextCatalogue:
    text = entry(content, files=["text"], **settings)
    return TextCatalogue(metric="bpc", corpora={"text": text})


def zipped(content: bytes, *others: str) -> bytes:
    """Pack a text behind what Finder puts into an archive."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in others:
            archive.writestr(name, b"")
        archive.writestr("texts/text", content)
    return packed.getvalue()


def sizes(corpus) -> list[int]:
    """Count the sentences of train, dev and test."""
    splits = (corpus.train, corpus.dev, corpus.test)
    return [len(split.target) for split in splits]


def decoded(corpus, sentences) -> list[str]:
    return [decode(corpus.symbols, ids) for ids in sentences]
