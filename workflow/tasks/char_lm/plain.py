"""A text of a language model as plain files."""

from pathlib import Path

from workflow.tasks.char_lm.store import read
from workflow.tasks.store import SPLITS

NEWLINE = "<eos>"  # its symbol


def plain_files(path: Path) -> dict[str, str]:
    """Write out each split of a dataset, by the name of a file."""
    corpus = read(path)
    symbols = ["\n" if symbol == NEWLINE else symbol for symbol in corpus.symbols]
    return {
        f"{split}.txt": "".join(symbols[id] for id in getattr(corpus, split)) for split in SPLITS
    }
