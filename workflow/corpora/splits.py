"""From bytes to token ids and splits (Adaptive Attention Span, released code; reference: enwik8, text8)."""

import numpy as np

from workflow.choices import Refused
from workflow.corpora.catalogue import Entry
from workflow.corpora.store import Corpus

NEWLINE = 10


def build(name: str, content: bytes, entry: Entry) -> Corpus:
    """One token per byte; the newline is the token <eos>, and a split that does not end in one gets one more.

    text8-like texts (unit "character") are cut into lines nowhere: their splits are stripped of outer blanks and
    closed by <eos> too, as in the released loader. The vocabulary is built from all three splits for a user's file,
    from the training split for a named text, whose other splits must not surprise it.
    """
    parts = [_close(part.strip() if entry.unit == "character" else part) for part in cut(content, entry.split)]
    if not all(len(part) > 1 for part in parts):
        raise Refused(f"corpus '{name}': {len(content)} bytes are too few to split into train, dev and test")
    known = np.unique(np.frombuffer(b"".join(parts) if name.startswith("file:") else parts[0], np.uint8))
    table = np.full(256, -1, np.int32)
    table[known] = np.arange(len(known))
    ids = [table[np.frombuffer(part, np.uint8)] for part in parts]
    for split, part in zip(("dev", "test"), ids[1:], strict=True):
        if part.min() < 0:
            strange = np.frombuffer(parts[1 if split == "dev" else 2], np.uint8)[part < 0][0]
            raise Refused(f"corpus '{name}': byte {strange} occurs in {split} and never in train")
    train, dev, test = (part.astype(np.uint16) for part in ids)
    symbols = [symbol(byte) for byte in known.tolist()]
    return Corpus(name, train, dev, test, symbols, entry.checksum, entry.unit, entry.about)


def cut(content: bytes, split: list[int] | None) -> list[bytes]:
    """Official lengths where there are any, else 90, 5 and 5 %."""
    if split is None:
        first, second = len(content) * 90 // 100, len(content) * 95 // 100
    else:
        first, second = split[0], split[0] + split[1]
    return [content[:first], content[first:second], content[second:]]


def _close(part: bytes) -> bytes:
    return part if part.endswith(b"\n") else part + b"\n"


def symbol(byte: int) -> str:
    """A printable name of a token."""
    if byte == NEWLINE:
        return "<eos>"
    return chr(byte) if 32 <= byte < 127 else f"\\x{byte:02x}"
