"""Write a text ready for training."""

from pathlib import Path

from workflow.tasks.char_lm import store
from workflow.tasks.char_lm.catalogue import TextCatalogue
from workflow.tasks.char_lm.embedded import read_embedded
from workflow.tasks.char_lm.files import read_file
from workflow.tasks.char_lm.splits import build_corpus
from workflow.tasks.char_lm.topics import TopicText
from workflow.tasks.npz import SPLITS
from workflow.tasks.sources import verify_checksum


def write(catalogue: TextCatalogue, name: str, out: Path, data_dir: str | None) -> str:
    """Read the text of that name and write its corpus to `out`; a line that says what was written."""
    entry = catalogue.entry(name)
    content = read_content(catalogue, name, data_dir)
    corpus = build_corpus(name, content, entry)
    store.write(out, corpus)
    sizes = ", ".join(f"{split} {len(getattr(corpus, split)):,}" for split in SPLITS)
    return f"{name}: {sizes} {entry.unit}s, {len(corpus.symbols)} symbols"


def read_content(catalogue: TextCatalogue, name: str, data_dir: str | None) -> bytes:
    """The bytes of a text, generated or read, with their checksum verified."""
    entry = catalogue.entry(name)
    if entry.topics:
        content = TopicText(entry.topics).draw(entry.bytes)
        verify_checksum(content, entry, f"corpus '{name}'", "its parameters in config/tasks/char_lm.yaml have changed")
        return content
    return read_embedded(name, entry) if entry.kind == "embedded" else read_file(catalogue, name, data_dir)
