"""From bytes to token ids in three splits (Adaptive Attention Span, released code, data.py and get_data.sh)."""

import numpy as np

from workflow.config.errors import ConfigError
from workflow.tasks.char_lm.catalogue import USER_PREFIX, TextEntry
from workflow.tasks.char_lm.store import Corpus
from workflow.tasks.npz import SPLITS

NEWLINE = 10


def build_corpus(name: str, content: bytes, entry: TextEntry) -> Corpus:
    """One token per byte. The newline is the token <eos>; a split that does not end in one gets one more.

    Texts in characters (text8, words) have no newline: blanks at both ends of their splits are removed, and the added
    <eos> is their only one, so V is 28. The vocabulary of a named text is that of its train split, as in the released
    code; a byte that occurs only in dev or test is a `ConfigError` where the released code crashes. The vocabulary of
    a user's file is that of all three splits: such a byte is scored with weights that were never trained.
    """
    parts = [part.strip() if entry.unit == "character" else part for part in split_content(content, entry.split)]
    parts = [part if part.endswith(b"\n") else part + b"\n" for part in parts]
    if min(map(len, parts)) < 2:
        raise ConfigError(f"corpus '{name}': {len(content)} bytes are too few to split into train, dev and test")
    alphabets = [set(part) for part in parts]
    vocabulary = set.union(*alphabets) if name.startswith(USER_PREFIX) else alphabets[0]
    for split, alphabet in zip(SPLITS, alphabets, strict=True):
        if unknown := alphabet - vocabulary:
            raise ConfigError(f"corpus '{name}': byte {min(unknown)} occurs in {split} and never in train")
    id_of_byte = np.zeros(256, np.uint16)
    id_of_byte[sorted(vocabulary)] = np.arange(len(vocabulary))
    ids = [id_of_byte[np.frombuffer(part, np.uint8)] for part in parts]
    symbols = [symbol_name(byte) for byte in sorted(vocabulary)]
    return Corpus(name, *ids, symbols, entry.checksum, entry.unit, entry.about)


def split_content(content: bytes, lengths: list[int] | None) -> list[bytes]:
    """Train, dev and test by their official lengths; 90, 5 and 5 % where there are none."""
    if lengths is None:
        first, second = len(content) * 90 // 100, len(content) * 95 // 100
    else:
        first, second = lengths[0], lengths[0] + lengths[1]
    return [content[:first], content[first:second], content[second:]]


def symbol_name(byte: int) -> str:
    """A printable name of a token."""
    if byte == NEWLINE:
        return "<eos>"
    return chr(byte) if 32 <= byte < 127 else f"\\x{byte:02x}"
