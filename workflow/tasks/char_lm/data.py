"""From a name to a text ready for training: generate, find or fetch it, verify it, and cut it into
three splits of ids.

Splits as in Adaptive Attention Span, released code, data.py and get_data.sh.
"""

import re
from pathlib import Path

import numpy as np

from workflow.config.errors import ConfigError, check_known
from workflow.tasks.char_lm import store
from workflow.tasks.char_lm.catalogue import TextCatalogue, TextEntry, path_of
from workflow.tasks.char_lm.store import Corpus
from workflow.tasks.char_lm.topics import TopicText
from workflow.tasks.downloads import read_official
from workflow.tasks.embedded import PIN, read_source_files, verify_embedded
from workflow.tasks.plain_text import refuse_binary, user_text
from workflow.tasks.sources import verify_checksum
from workflow.tasks.store import SPLITS

NEWLINE = 10
DIGITS = (b"zero", b"one", b"two", b"three", b"four", b"five", b"six", b"seven", b"eight", b"nine")


def write(catalogue: TextCatalogue, name: str, out: Path, data_dir: str | None) -> str:
    """Write the corpus of a name to `out`, ready for training; return a line on it."""
    entry = catalogue.entry(name)
    content = read_content(catalogue, name, data_dir)
    corpus = build_corpus(name, content, entry)
    store.write(out, corpus)
    sizes = []
    for split in SPLITS:
        length = len(getattr(corpus, split))
        sizes.append(f"{split} {length:,}")
    return f"{name}: {', '.join(sizes)} {entry.unit}s, {len(corpus.symbols)} symbols"


def read_content(catalogue: TextCatalogue, name: str, data_dir: str | None) -> bytes:
    """Generate or read the bytes of a text, and verify their checksum."""
    entry = catalogue.entry(name)
    if entry.topics:
        content = TopicText(entry.topics).draw(entry.bytes)
        hint = "its parameters in config/tasks/char_lm.yaml have changed"
        verify_checksum(content, entry, f"corpus '{name}'", hint)
        return content
    if entry.kind == "embedded":
        return read_embedded(name, entry)
    return read_file(catalogue, name, data_dir)


def read_file(catalogue: TextCatalogue, name: str, data_dir: str | None) -> bytes:
    """Read the plain content of a text of kind `file`, and verify its checksum."""
    if catalogue.is_users(name):
        return user_text(path_of(name))
    entry = catalogue.entry(name)
    if entry.prefix_of:
        whole = catalogue.entry(entry.prefix_of)
        files = [*entry.files, *whole.files]
        entry = entry.model_copy(update={"files": files, "urls": whole.urls})
    content = read_official(name, entry, data_dir, kept_as=entry.prefix_of or name)
    refuse_binary(content, f"corpus '{name}'")
    return content


def build_corpus(name: str, content: bytes, entry: TextEntry) -> Corpus:
    """Make a token of each byte.

    The newline is the token <eos>; a split that does not end in one gets one more. Texts in
    characters (text8, words) have no newline: blanks at both ends of their splits are removed, and
    the added <eos> is their only one, so V is 28. The vocabulary of a named text is that of its
    train split, as in the released code; a byte that occurs only in dev or test is a `ConfigError`
    where the released code crashes. The vocabulary of a user's file is that of all three splits:
    such a byte is scored with weights that were never trained.
    """
    parts = []
    for part in split_content(content, entry.split):
        if entry.unit == "character":
            part = part.strip()
        if not part.endswith(b"\n"):
            part += b"\n"
        parts.append(part)
    if min(map(len, parts)) < 2:
        fault = f"{len(content)} bytes are too few to split into train, dev and test"
        raise ConfigError(f"corpus '{name}': {fault}")
    alphabets = [set(part) for part in parts]
    vocabulary = alphabets[0]
    if TextCatalogue.is_users(name):
        vocabulary = set.union(*alphabets)
    for split, alphabet in zip(SPLITS, alphabets, strict=True):
        unknown = alphabet - vocabulary
        if unknown:
            fault = f"byte {min(unknown)} occurs in {split} but not in train"
            raise ConfigError(f"corpus '{name}': {fault}")
    in_order = sorted(vocabulary)
    id_of_byte = np.zeros(256, np.uint16)
    id_of_byte[in_order] = np.arange(len(in_order))
    train, dev, test = [id_of_byte[np.frombuffer(part, np.uint8)] for part in parts]
    return Corpus(
        name=name,
        train=train,
        dev=dev,
        test=test,
        symbols=[symbol_name(byte) for byte in in_order],
        checksum=entry.checksum,
        unit=entry.unit,
        about=entry.about,
    )


def split_content(content: bytes, lengths: list[int] | None) -> list[bytes]:
    """Cut a text into train, dev and test: by their official lengths, else 90, 5 and 5 %."""
    if lengths is None:
        total = len(content)
        dev = total * 90 // 100
        test = total * 95 // 100
    else:
        dev = lengths[0]
        test = dev + lengths[1]
    return [content[:dev], content[dev:test], content[test:]]


def symbol_name(byte: int) -> str:
    """Name a token by what can be printed."""
    if byte == NEWLINE:
        return "<eos>"
    is_printable = 32 <= byte < 127
    return chr(byte) if is_printable else f"\\x{byte:02x}"


def read_embedded(name: str, entry: TextEntry) -> bytes:
    """Read an embedded text; `ConfigError` with the pin where the installed package gives another
    one.
    """
    check_known("embedded dataset", name, READERS)
    content = READERS[name]()
    verify_embedded(content, entry, f"corpus '{name}'", PIN)
    return content


def read_sources() -> bytes:
    """Join the Python files of ten packages of sympy."""
    return b"".join(read_source_files())


def reduce_to_letters(text: bytes) -> bytes:
    """Reduce a text to a to z and single spaces, by the rules that make text8 of enwik8 (M.
    Mahoney, wikifil.pl).

    ASCII capitals become small letters, each digit its name between spaces, every run of anything
    else one space.
    """
    text = text.lower()
    for digit, name in enumerate(DIGITS):
        text = text.replace(b"%d" % digit, b" " + name + b" ")
    return re.sub(rb"[^a-z]+", b" ", text).strip()


READERS = {"sources": read_sources, "words": lambda: reduce_to_letters(read_sources())}
