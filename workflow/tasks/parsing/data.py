"""From a name to trees ready for training: read, verify and split them, learn pieces of the words
on train, encode.

They are stored as pairs, so that tasks read them like parallel texts: sources are the words in
pieces, targets the linearised trees. Symbols are the pieces, then the labels and tags of train. Dev
and test keep their texts: the words, and each tree in brackets.
"""

from pathlib import Path

import numpy as np
from nltk import Tree
from sentencepiece import SentencePieceProcessor

from workflow.config.errors import ConfigError
from workflow.tasks import store
from workflow.tasks.downloads import read_official
from workflow.tasks.embedded import PIN, verify_embedded
from workflow.tasks.parsing.catalogue import TreeCatalogue, TreeEntry, section_files
from workflow.tasks.parsing.statements import generate_trees
from workflow.tasks.parsing.trees import format_tree, linearise, read_trees
from workflow.tasks.pieces import learn_pieces, piece_names
from workflow.tasks.plain_text import decode, user_text
from workflow.tasks.store import SPLITS, UNK, Pairs, Split, describe

MAX_SYMBOLS = 1 << 16  # ids are uint16


def build_trees(catalogue: TreeCatalogue, name: str, data_dir: str | None) -> Pairs:
    """Make the trees of a name ready for training; `ConfigError` for files that cannot be used."""
    entry = catalogue.entry(name)
    checksum = catalogue.checksum(name, data_dir)
    if entry.kind == "folder":
        trees = _read_folder(name, entry, data_dir)
    else:
        trees = _split_trees(name, entry, _read_trees(name, entry, data_dir))
    exact = entry.kind == "file" and not catalogue.is_users(name)
    pieces = learn_pieces(
        map(_words, trees["train"]), entry.vocabulary, f"dataset '{name}'", exact=exact
    )
    labels = sorted({symbol for tree in trees["train"] for symbol in linearise(tree)})
    count = pieces.get_piece_size()
    if count + len(labels) > MAX_SYMBOLS:
        symbols = f"{count:,} pieces and {len(labels):,} labels"
        raise ConfigError(f"dataset '{name}': {symbols} are more than {MAX_SYMBOLS:,}")
    ids = {label: count + n for n, label in enumerate(labels)}
    splits = {split: _encode(pieces, ids, trees[split], split) for split in SPLITS}
    about = {"source": "words", "target": "tree", "about": entry.about, "tokenised": True}
    return Pairs(
        name=name, symbols=[*piece_names(pieces), *labels], checksum=checksum, **splits, **about
    )


def _words(tree: Tree) -> str:
    return " ".join(tree.leaves())


def _encode(
    pieces: SentencePieceProcessor, label_ids: dict[str, int], trees: list[Tree], split: str
) -> Split:
    """Encode words and linearised trees as ids; a label that train does not have is <unk>."""
    words = [*map(_words, trees)]
    sources = [np.array(sentence, np.uint16) for sentence in pieces.encode(words)]
    targets = []
    for tree in trees:
        ids = [label_ids.get(symbol, UNK) for symbol in linearise(tree)]
        targets.append(np.array(ids, np.uint16))
    if split == "train":
        return Split(sources, targets, [], [])
    return Split(sources, targets, words, [format_tree(tree) for tree in trees])


def _read_trees(name: str, entry: TreeEntry, data_dir: str | None) -> list[Tree]:
    if TreeCatalogue.is_users(name):
        path = entry.files[0]
        return read_trees(decode(user_text(Path(path)), path), path)
    if entry.kind == "file":
        what = f"dataset '{name}'"
        return read_trees(decode(read_official(name, entry, data_dir), what), what)
    content = generate_trees()
    verify_embedded(content, entry, f"dataset '{name}'", PIN)
    return read_trees(content.decode(), name)


def _read_folder(name: str, entry: TreeEntry, data_dir: str | None) -> dict[str, list[Tree]]:
    """Read the trees of each split's sections; `ConfigError` where their number is not the
    entry's.
    """
    trees = {}
    for split, paths in section_files(name, entry, data_dir).items():
        trees[split] = []
        for path in paths:
            content = decode(path.read_bytes(), str(path))
            trees[split] += read_trees(content, str(path))
    for split, count in (entry.trees or {}).items():
        if len(trees[split]) != count:
            raise ConfigError(
                f"dataset '{name}': {split} has {len(trees[split]):,} trees,"
                f" the official one {count:,}"
            )
    return trees


def _split_trees(name: str, entry: TreeEntry, trees: list[Tree]) -> dict[str, list[Tree]]:
    """Cut trees, in their order, into train, dev and test: as many as the entry says, else 90, 5
    and 5 %.
    """
    held_out = max(1, len(trees) * 5 // 100)
    sizes = entry.trees or {"train": len(trees) - 2 * held_out, "dev": held_out, "test": held_out}
    if sum(sizes.values()) != len(trees) or sizes["train"] < 1:
        expected = "at least 3 are needed"
        if entry.trees:
            expected = f"{sum(sizes.values()):,} were expected"
        raise ConfigError(f"dataset '{name}': {len(trees):,} trees; {expected}")
    dev = sizes["train"]
    test = dev + sizes["dev"]
    return {"train": trees[:dev], "dev": trees[dev:test], "test": trees[test:]}


def write(catalogue: TreeCatalogue, name: str, out: Path, data_dir: str | None) -> str:
    """Write the words and trees of a name to `out`, ready for training; return a line on them."""
    pairs = build_trees(catalogue, name, data_dir)
    store.write(out, pairs)
    return describe(pairs)
