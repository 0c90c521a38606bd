"""From bytes to token ids and splits (Adaptive Attention Span, released code, data.py and get_data.sh)."""

import numpy as np

from workflow.config.errors import ConfigError
from workflow.data.text.catalogue import USERS, Entry
from workflow.data.text.store import SPLITS, Corpus

NEWLINE = 10


def build(name: str, content: bytes, entry: Entry) -> Corpus:
    """One token per byte. The newline is the token <eos>; a split that does not end in one gets one more.

    Texts in characters (text8, words) have no newline: their splits lose outer blanks, and that <eos> is their only
    one, so V is 28. The vocabulary of a named text is that of its train split, as released, and a byte seen only in
    dev or test is refused where the released code crashes. A user's file has the vocabulary of all three splits: such
    a byte is scored with weights that were never trained, and costs what it costs.
    """
    parts = [_close(part.strip() if entry.unit == "character" else part) for part in cut(content, entry.split)]
    if min(map(len, parts)) < 2:
        raise ConfigError(f"corpus '{name}': {len(content)} bytes are too few to split into train, dev and test")
    seen = [set(part) for part in parts]
    known = set.union(*seen) if name.startswith(USERS) else seen[0]
    for split, found in zip(SPLITS, seen, strict=True):
        if found - known:
            raise ConfigError(f"corpus '{name}': byte {min(found - known)} occurs in {split} and never in train")
    ids_of = np.zeros(256, np.uint16)
    ids_of[sorted(known)] = np.arange(len(known))
    ids = [ids_of[np.frombuffer(part, np.uint8)] for part in parts]
    return Corpus(name, *ids, [symbol(byte) for byte in sorted(known)], entry.checksum, entry.unit, entry.about)


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
