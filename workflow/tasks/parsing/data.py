"""From a name to trees ready for training: read, verify and split them, learn pieces of the words
on train, encode.

They are stored as pairs, so that tasks read them like parallel texts: sources are the words in
pieces, targets the linearised trees. Symbols are the pieces, then the labels and tags of train. Dev
and test keep their texts: the words, and each tree in brackets.
"""

from pathlib import Path

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
from workflow.tasks.store import SPLITS, UNK, Pairs, Split, as_ids, describe

MAX_SYMBOLS = 1 << 16  # ids are uint16
TreesBySplit = dict[str, list[Tree]]


def build_trees(catalogue: TreeCatalogue, name: str, data_dir: str | None) -> Pairs:
    """Make the trees of a name ready for training; `ConfigError` for files that cannot be used."""
    entry = catalogue.entry(name)
    checksum = catalogue.checksum(name, data_dir)
    if entry.kind == "folder":
        trees = _read_folder(name, entry, data_dir)
    else:
        in_order = _read_trees(name, entry, data_dir)
        trees = _split_trees(name, entry, in_order)
    train = trees["train"]
    exact = entry.kind == "file" and not catalogue.is_users(name)
    words = map(_words, train)
    pieces = learn_pieces(words, entry.vocabulary, f"dataset '{name}'", exact=exact)
    symbols: set[str] = set()
    for tree in train:
        symbols.update(linearise(tree))
    labels = sorted(symbols)
    count = pieces.get_piece_size()
    if count + len(labels) > MAX_SYMBOLS:
        found = f"{count:,} pieces and {len(labels):,} labels"
        raise ConfigError(f"dataset '{name}': {found} are more than {MAX_SYMBOLS:,}")
    # labels come behind the pieces
    ids = {label: number for number, label in enumerate(labels, start=count)}
    splits = {}
    for split in SPLITS:
        splits[split] = _encode(pieces, ids, trees[split], split)
    return Pairs(
        name=name,
        source="words",
        target="tree",
        symbols=[*piece_names(pieces), *labels],
        checksum=checksum,
        about=entry.about,
        tokenised=True,
        **splits,
    )


def _words(tree: Tree) -> str:
    return " ".join(tree.leaves())


def _encode(
    pieces: SentencePieceProcessor, label_ids: dict[str, int], trees: list[Tree], split: str
) -> Split:
    """Encode words and linearised trees as ids; a label that train does not have is <unk>."""
    words = [_words(tree) for tree in trees]
    encoded = pieces.encode(words)
    sources = [as_ids(ids) for ids in encoded]
    targets = []
    for tree in trees:
        symbols = linearise(tree)
        ids = [label_ids.get(symbol, UNK) for symbol in symbols]
        targets.append(as_ids(ids))
    if split == "train":
        return Split(sources, targets)
    written = [format_tree(tree) for tree in trees]
    return Split(sources, targets, words, written)


def _read_trees(name: str, entry: TreeEntry, data_dir: str | None) -> list[Tree]:
    """Read the trees of one file, your own or an official one, or generate the embedded ones."""
    what = f"dataset '{name}'"
    if TreeCatalogue.is_users(name):
        path = entry.files[0]
        content = user_text(Path(path))
        return read_trees(decode(content, path), path)
    if entry.kind == "file":
        content = read_official(name, entry, data_dir)
        return read_trees(decode(content, what), what)
    content = generate_trees()
    verify_embedded(content, entry, what, PIN)
    return read_trees(content.decode(), name)


def _read_folder(name: str, entry: TreeEntry, data_dir: str | None) -> TreesBySplit:
    """Read the trees of each split's sections; `ConfigError` if their number is not the entry's."""
    trees: TreesBySplit = {}
    files = section_files(name, entry, data_dir)
    for split, paths in files.items():
        trees[split] = []
        for path in paths:
            content = decode(path.read_bytes(), str(path))
            trees[split] += read_trees(content, str(path))
    expected = entry.trees or {}
    for split, count in expected.items():
        found = len(trees[split])
        if found != count:
            fault = f"{split} has {found:,} trees, the official one {count:,}"
            raise ConfigError(f"dataset '{name}': {fault}")
    return trees


def _split_trees(name: str, entry: TreeEntry, trees: list[Tree]) -> TreesBySplit:
    """Cut trees, in their order, into splits: of the entry's sizes, else of 90, 5 and 5 %."""
    count = len(trees)
    held_out = max(1, count * 5 // 100)
    sizes = entry.trees
    if not sizes:
        sizes = {"train": count - 2 * held_out, "dev": held_out, "test": held_out}
    total = sum(sizes.values())
    if total != count or sizes["train"] < 1:
        expected = f"{total:,} were expected" if entry.trees else "at least 3 are needed"
        raise ConfigError(f"dataset '{name}': {count:,} trees; {expected}")
    dev = sizes["train"]
    test = dev + sizes["dev"]
    return {"train": trees[:dev], "dev": trees[dev:test], "test": trees[test:]}


def write(catalogue: TreeCatalogue, name: str, out: Path, data_dir: str | None) -> str:
    """Write the words and trees of a name to `out`, ready for training; return a line on them."""
    pairs = build_trees(catalogue, name, data_dir)
    store.write(out, pairs)
    return describe(pairs)
