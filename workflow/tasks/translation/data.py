"""From a name to pairs ready for training: read, verify and split the texts, learn pieces on train,
encode.

One sentence a line; line n of one file is the translation of line n of the other.
"""

import re
from dataclasses import dataclass, replace
from html import unescape
from pathlib import Path

from sentencepiece import SentencePieceProcessor

from workflow.config.errors import ConfigError
from workflow.tasks import store
from workflow.tasks.downloads import read_official
from workflow.tasks.embedded import verify_embedded
from workflow.tasks.pieces import learn_pieces, piece_names
from workflow.tasks.plain_text import decode, user_text
from workflow.tasks.sources import Source, find_file
from workflow.tasks.store import SPACE, Pairs, Split, as_ids, describe
from workflow.tasks.translation import phrases
from workflow.tasks.translation.catalogue import NamedPairEntry, PairCatalogue, user_paths
from workflow.tasks.translation.planted import plant_some


@dataclass(frozen=True)
class Side:
    """Sentences of one language. where: the file in error messages; first: the line of its first
    sentence.
    """

    where: str
    lines: list[str]
    first: int = 1

    def locate(self, n: int) -> str:
        """Name file and line of sentence n, for error messages."""
        return f"{self.where}, line {n + self.first}"

    def cut(self, start: int, stop: int) -> "Side":
        lines = self.lines[start:stop]
        return Side(self.where, lines, self.first + start)

    def unescape(self) -> "Side":
        """Replace the entities that Moses' tokeniser writes, such as &apos; and &#91;."""
        lines = [unescape(line) for line in self.lines]
        return replace(self, lines=lines)

    def join(self) -> "Side":
        """Join the words that tools have cut."""
        lines = [_join_words(line) for line in self.lines]
        return replace(self, lines=lines)


Bitext = tuple[Side, Side]
JOINER = re.compile("@@( |$)")


def _join_words(line: str) -> str:
    """Join wor@@ ld of subword-nmt, ▁wor ld of sentencepiece, a @-@ b of Moses."""
    if line.startswith(SPACE):
        line = "".join(line.split())
    joined = JOINER.sub("", line)
    joined = joined.replace(" @-@ ", "-")
    joined = joined.replace(SPACE, " ")
    return " ".join(joined.split())


def read_side(content: bytes, where: str, lowercase: bool) -> Side:
    """Read a sentence per line, each run of white space as one space.

    A byte order mark and empty lines at the end are left out.
    """
    text = decode(content, where)
    if lowercase:
        text = text.lower()
    lines = []
    for line in text.split("\n"):
        words = line.split()
        lines.append(" ".join(words))
    while lines and not lines[-1]:
        lines.pop()
    return Side(where, lines)


def align(source: Side, target: Side, count: int | None = None) -> Bitext:
    """Join both sides; `ConfigError` if their lengths differ, or are not `count`."""
    length = len(source.lines)
    has = f"{source.where} has {length:,} lines"
    if length != len(target.lines):
        other = f"{target.where} has {len(target.lines):,} lines"
        counts = f"{has} and {other}"
        raise ConfigError(f"{counts}: line n of one must be the translation of line n of the other")
    if count not in (None, length):
        raise ConfigError(f"{has}, expected {count:,}: replace both files")
    return source, target


def refuse_empty(bitext: Bitext) -> None:
    """Raise `ConfigError` for the first line without a sentence."""
    for side in bitext:
        if "" in side.lines:
            first = side.lines.index("")
            raise ConfigError(f"{side.locate(first)}: empty; every line must hold a sentence")


HELD_OUT = 1000  # the last of the embedded phrases are test, as many before them dev
# Pieces a sentence may have. Longer ones are left out of train (as fairseq's scripts do, in words);
# dev and test are scored whole, and the longest sentence of the official ones has about 250. A
# picture has room for 16, with <eos>.
MAX_PIECES = {"train": 175, "dev": 1000, "test": 1000, "second_test": 1000, "example": 15}


def build_pairs(catalogue: PairCatalogue, name: str, data_dir: str | None) -> Pairs:
    """Make the pairs of a name ready for training; `ConfigError` for files that cannot be used."""
    entry = catalogue.entry(name)
    is_users = catalogue.is_users(name)
    checksum = catalogue.checksum(name, data_dir)
    texts = _read_user_files(name) if is_users else _read_named(name, entry, data_dir)
    source, target = texts["train"]
    lines = source.lines + target.lines
    pieces = learn_pieces(lines, entry.vocabulary, f"dataset '{name}'", exact=not is_users)
    splits = {}
    for split, bitext in texts.items():
        splits[split] = _encode(pieces, bitext, split)
    kept = len(splits["train"].source)
    if not kept:
        limit = MAX_PIECES["train"]
        fault = f"every training pair has more than {limit} pieces on a side"
        raise ConfigError(f"dataset '{name}': {fault}")
    if entry.planted:
        splits["train"] = plant_some(splits["train"], entry.planted, seed=0)
        splits["dev"] = plant_some(splits["dev"], entry.planted, seed=1)
    return Pairs(
        name=name,
        source=entry.source,
        target=entry.target,
        symbols=piece_names(pieces),
        checksum=checksum,
        about=entry.about,
        dropped=len(source.lines) - kept,
        tokenised=entry.tokenised,
        compounds=entry.compounds,
        uncased=entry.uncased,
        planted=entry.planted,
        **splits,
    )


def _read_named(name: str, entry: NamedPairEntry, data_dir: str | None) -> dict[str, Bitext]:
    """Read the sentences of each split of a dataset of the catalogue."""
    if entry.kind == "embedded":
        return read_embedded(name, entry)
    texts = {}
    for split, files in entry.files.items():
        source = _read_side(name, files[entry.source], data_dir, entry)
        target = _read_side(name, files[entry.target], data_dir, entry)
        count = entry.pairs.get(split)
        texts[split] = align(source, target, count)
    if entry.example:
        where = f"example of '{name}'"
        read = entry.example[entry.source].encode()
        written = entry.example[entry.target].encode()
        source = read_side(read, where, entry.lowercase)
        target = read_side(written, where, entry.lowercase)
        texts["example"] = align(source, target, 1)
    for split in texts.keys() - {"train"}:
        refuse_empty(texts[split])
    return texts


def read_embedded(name: str, entry: NamedPairEntry) -> dict[str, Bitext]:
    """Generate the phrases and split them: all but the last 2,000 are train."""
    content = phrases.generate_bitext(entry.source, entry.target)
    expected = Source(checksum=entry.checksum)
    verify_embedded(content, expected, f"dataset '{name}'", *phrases.PINS)
    lines = content.decode().removesuffix("\n").split("\n")
    rows = [line.split("\t") for line in lines]
    sides = []
    for column in zip(*rows, strict=True):  # source, then target
        text = "\n".join(column).encode()
        side = read_side(text, name, entry.lowercase)
        sides.append(side)
    return _split_lines(sides, HELD_OUT)


def _read_user_files(name: str) -> dict[str, Bitext]:
    """Read two files of a user's, words joined, and split their lines 90, 5 and 5 %.

    Dev and test have at least one.
    """
    sides = []
    for path in user_paths(name):
        content = user_text(path)
        side = read_side(content, str(path), lowercase=False)
        sides.append(side.unescape().join())
    source, target = sides
    bitext = align(source, target)
    count = len(source.lines)
    if count < 3:
        fault = f"{count} lines are too few to split into train, dev and test; at least 3"
        raise ConfigError(f"dataset '{name}': {fault}")
    refuse_empty(bitext)
    held_out = max(1, count * 5 // 100)
    return _split_lines(bitext, held_out)


def _split_lines(sides: list[Side] | Bitext, held_out: int) -> dict[str, Bitext]:
    """Split a parallel text: the last `held_out` lines are test, as many before them dev."""
    end = len(sides[0].lines)
    test = end - held_out
    dev = test - held_out
    source, target = sides
    return {
        "train": (source.cut(0, dev), target.cut(0, dev)),
        "dev": (source.cut(dev, test), target.cut(dev, test)),
        "test": (source.cut(test, end), target.cut(test, end)),
    }


def _read_side(name: str, source: Source, data_dir: str | None, entry: NamedPairEntry) -> Side:
    """Read one official file. Error messages name its path, or its file name where it was fetched.

    Control characters stay: the published texts have some (U+0001 in WMT 2014), and are what other
    suites train on.
    """
    found = find_file(source, data_dir)
    where = Path(source.files[0]).name
    if found:
        where = str(found)
    content = read_official(name, source, data_dir)
    side = read_side(content, where, entry.lowercase)
    if entry.tokenised:
        return side.unescape()
    return side


def _encode(pieces: SentencePieceProcessor, bitext: Bitext, split: str) -> Split:
    """Encode a split.

    A pair of train with an empty or overlong sentence is left out; in dev or test it is an error.
    """
    limit = MAX_PIECES[split]
    source, target = bitext
    source_ids = pieces.encode(source.lines)
    target_ids = pieces.encode(target.lines)
    if split == "train":
        kept = Split()
        for ids, others in zip(source_ids, target_ids, strict=True):
            shortest, longest = sorted((len(ids), len(others)))
            if shortest > 0 and longest <= limit:
                kept.source.append(as_ids(ids))
                kept.target.append(as_ids(others))
        return kept
    _refuse_long(source, source_ids, split)
    _refuse_long(target, target_ids, split)
    return Split(
        source=[as_ids(ids) for ids in source_ids],
        target=[as_ids(ids) for ids in target_ids],
        source_text=source.lines,
        target_text=target.lines,
    )


def _refuse_long(side: Side, sentences: list[list[int]], split: str) -> None:
    limit = MAX_PIECES[split]
    for n, ids in enumerate(sentences):
        count = len(ids)
        if count > limit:
            found = f"{count:,} pieces, at most {limit:,} in {split}"
            raise ConfigError(f"{side.locate(n)}: {found}; split the sentence")


def write(catalogue: PairCatalogue, name: str, out: Path, data_dir: str | None) -> str:
    """Write the pairs of a name to `out`, ready for training; return a line on them."""
    pairs = build_pairs(catalogue, name, data_dir)
    store.write(out, pairs)
    return describe(pairs)
