"""From a name to sentences and their trees in symbols: read, checked, split, words cut into pieces learned on train.

The trees stand as targets of pairs, so that all that is there for pairs reads them: sources are words in pieces,
targets the linearised trees. Symbols are the pieces, then labels and tags as train has them. Of dev and test the texts
are kept: the words, and each tree in brackets.
"""

from pathlib import Path

import numpy as np
from nltk import Tree

from workflow.config.errors import ConfigError
from workflow.data.pairs.pieces import learn
from workflow.data.pairs.store import UNK, Pairs, Split
from workflow.data.sources.source import verify
from workflow.data.text.embedded import PIN, installed
from workflow.data.text.files import official
from workflow.data.text.store import SPLITS
from workflow.data.trees import brackets, statements
from workflow.data.trees.catalogue import USERS, Treebank, TreeCatalogue, section_files
from workflow.data.trees.linear import linear


def load(catalogue: TreeCatalogue, name: str, data_dir: str | None) -> Pairs:
    """The trees of a name, ready for training; `ConfigError` in one line for anything that is not as it should be."""
    entry = catalogue.entry(name)
    checksum = catalogue.checksum(name, data_dir)
    trees = (
        _folder(name, entry, data_dir) if entry.kind == "folder" else _cut(name, entry, _read(name, entry, data_dir))
    )
    exact = entry.kind == "file" and not name.startswith(USERS)
    words = {split: [" ".join(tree.leaves()) for tree in trees[split]] for split in SPLITS}
    pieces = learn(words["train"], entry.vocabulary, f"data set '{name}'", exact=exact)
    count = pieces.get_piece_size()
    labels = sorted({symbol for tree in trees["train"] for symbol in linear(tree)})
    place = {label: count + n for n, label in enumerate(labels)}
    if count + len(labels) > 1 << 16:
        raise ConfigError(f"data set '{name}': {count:,} pieces and {len(labels):,} labels are more than {1 << 16:,}")
    splits = {}
    for split in SPLITS:
        ids = [np.array(one, np.uint16) for one in pieces.encode(words[split])]
        targets = [np.array([place.get(symbol, UNK) for symbol in linear(tree)], np.uint16) for tree in trees[split]]
        texts = ([], []) if split == "train" else (words[split], [brackets.line(tree) for tree in trees[split]])
        splits[split] = Split(ids, targets, *texts)
    symbols = [*(pieces.id_to_piece(i) for i in range(count)), *labels]
    about = {"source": "words", "target": "tree", "about": entry.about, "tokenised": True}
    return Pairs(name=name, symbols=symbols, checksum=checksum, **splits, **about)


def _read(name: str, entry: Treebank, data_dir: str | None) -> list[Tree]:
    if name.startswith(USERS):
        content = Path(entry.files[0]).read_bytes()
        verify(content, entry, f"data set '{name}'", "it changed while it was read")
        return _trees(content, entry.files[0])
    if entry.kind == "file":
        return _trees(official(name, entry, data_dir), f"data set '{name}'")
    content = statements.trees()
    hint = f"it is made from {PIN}, here is {installed()}: install the pinned one"
    verify(content, entry, f"data set '{name}'", hint)
    return [Tree.fromstring(one) for one in content.decode().split("\n")]


def _trees(content: bytes, where: str) -> list[Tree]:
    try:
        return brackets.read(content.decode("utf-8-sig"), where)
    except UnicodeDecodeError as error:
        raise ConfigError(f"{where}: byte {error.start:,} is not UTF-8; trees are plain text in UTF-8") from None


def _folder(name: str, entry: Treebank, data_dir: str | None) -> dict[str, list[Tree]]:
    """Sections of files; how many trees each split has must be what the entry says."""
    files = section_files(name, entry, data_dir)
    found = {
        split: [tree for path in paths for tree in _trees(path.read_bytes(), str(path))]
        for split, paths in files.items()
    }
    for split, count in (entry.trees or {}).items():
        if len(found[split]) != count:
            raise ConfigError(f"data set '{name}': {split} has {len(found[split]):,} trees, the official one {count:,}")
    return found


def _cut(name: str, entry: Treebank, trees: list[Tree]) -> dict[str, list[Tree]]:
    """Train, dev and test one behind the other."""
    held_out = max(1, len(trees) * 5 // 100)
    default = {"train": len(trees) - 2 * held_out, "dev": held_out, "test": held_out}
    sizes = entry.trees or default
    if sum(sizes.values()) != len(trees) or sizes["train"] < 1:
        expected = f"{sum(sizes.values()):,} were expected" if entry.trees else "at least 3 are needed"
        raise ConfigError(f"data set '{name}': {len(trees):,} trees; {expected}")
    first, second = sizes["train"], sizes["train"] + sizes["dev"]
    return {"train": trees[:first], "dev": trees[first:second], "test": trees[second:]}
