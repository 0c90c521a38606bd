"""From a name to pairs ready for training: read, verify and split the texts, learn pieces on train,
encode.

One sentence a line; line n of one file is the translation of line n of the other.
"""

import re
from dataclasses import dataclass, replace
from html import unescape
from pathlib import Path

import numpy as np
from sentencepiece import SentencePieceProcessor

from workflow.config.errors import ConfigError
from workflow.tasks import store
from workflow.tasks.downloads import read_official
from workflow.tasks.embedded import verify_embedded
from workflow.tasks.pieces import learn_pieces, piece_names
from workflow.tasks.plain_text import decode, user_text
from workflow.tasks.sources import Source, find_file
from workflow.tasks.store import SPACE, Pairs, Split, describe
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
        return Side(self.where, self.lines[start:stop], self.first + start)

    def unescape(self) -> "Side":
        """Replace the entities that Moses' tokeniser writes, such as &apos; and &#91;."""
        return replace(self, lines=[unescape(line) for line in self.lines])

    def join(self) -> "Side":
        """Join the words that tools have cut."""
        return replace(self, lines=[_join_words(line) for line in self.lines])


Bitext = tuple[Side, Side]
JOINER = re.compile("@@( |$)")


def _join_words(line: str) -> str:
    """Join wor@@ ld of subword-nmt, ▁wor ld of sentencepiece, a @-@ b of Moses."""
    if line.startswith(SPACE):
        line = "".join(line.split())
    joined = JOINER.sub("", line).replace(" @-@ ", "-").replace(SPACE, " ")
    return " ".join(joined.split())


def read_side(content: bytes, where: str, lowercase: bool) -> Side:
    """Read a sentence per line, each run of white space as one space.

    A byte order mark and empty lines at the end are left out.
    """
    text = decode(content, where)
    if lowercase:
        text = text.lower()
    lines = [" ".join(line.split()) for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return Side(where, lines)


def align(source: Side, target: Side, count: int | None = None) -> Bitext:
    """Join both sides to one parallel text; `ConfigError` where their lengths differ, or are not
    `count`.
    """
    if len(source.lines) != len(target.lines):
        counts = " and ".join(
            f"{side.where} has {len(side.lines):,} lines" for side in (source, target)
        )
        raise ConfigError(f"{counts}: line n of one must be the translation of line n of the other")
    if count not in (None, len(source.lines)):
        raise ConfigError(
            f"{source.where} has {len(source.lines):,} lines, expected {count:,}:"
            " replace both files"
        )
    return source, target


def refuse_empty(bitext: Bitext) -> None:
    """Raise `ConfigError` for the first line without a sentence."""
    for side in bitext:
        if "" in side.lines:
            raise ConfigError(
                f"{side.locate(side.lines.index(''))}: empty; every line must hold a sentence"
            )


ABOUT = ("source", "target", "about", "tokenised", "compounds", "uncased", "planted")
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
    lines = [line for side in texts["train"] for line in side.lines]
    pieces = learn_pieces(lines, entry.vocabulary, f"dataset '{name}'", exact=not is_users)
    splits = {split: _encode(pieces, bitext, split) for split, bitext in texts.items()}
    dropped = len(texts["train"][0].lines) - len(splits["train"].source)
    if not splits["train"].source:
        limit = MAX_PIECES["train"]
        raise ConfigError(
            f"dataset '{name}': every training pair has more than {limit} pieces on a side"
        )
    if entry.planted:
        for seed, split in enumerate(("train", "dev")):
            splits[split] = plant_some(splits[split], entry.planted, seed)
    about = {key: getattr(entry, key) for key in ABOUT}
    return Pairs(
        name=name,
        symbols=piece_names(pieces),
        checksum=checksum,
        dropped=dropped,
        **splits,
        **about,
    )


def _read_named(name: str, entry: NamedPairEntry, data_dir: str | None) -> dict[str, Bitext]:
    if entry.kind == "embedded":
        return read_embedded(name, entry)
    texts = {}
    for split, files in entry.files.items():
        sides = [
            _read_side(name, files[language], data_dir, entry)
            for language in (entry.source, entry.target)
        ]
        texts[split] = align(*sides, entry.pairs.get(split))
    if entry.example:
        languages = (entry.source, entry.target)
        lines = [entry.example[language].encode() for language in languages]
        texts["example"] = align(
            *(read_side(line, f"example of '{name}'", entry.lowercase) for line in lines), 1
        )
    for split in texts.keys() - {"train"}:
        refuse_empty(texts[split])
    return texts


def read_embedded(name: str, entry: NamedPairEntry) -> dict[str, Bitext]:
    """Generate the phrases and split them: all but the last 2,000 are train; none occurs twice, in
    any language.
    """
    content = phrases.generate_bitext(entry.source, entry.target)
    verify_embedded(content, Source(checksum=entry.checksum), f"dataset '{name}'", *phrases.PINS)
    rows = [line.split("\t") for line in content.decode().removesuffix("\n").split("\n")]
    sides = [
        read_side("\n".join(row[n] for row in rows).encode(), name, entry.lowercase)
        for n in range(2)
    ]
    return _split_lines(sides, HELD_OUT)


def _read_user_files(name: str) -> dict[str, Bitext]:
    """Read two files of a user's, words joined, and split their lines 90, 5 and 5 %.

    Dev and test have at least one.
    """
    sides = (read_side(user_text(path), str(path), lowercase=False) for path in user_paths(name))
    bitext = align(*(side.unescape().join() for side in sides))
    count = len(bitext[0].lines)
    if count < 3:
        raise ConfigError(
            f"dataset '{name}': {count} lines are too few to split into train, dev and test;"
            " at least 3"
        )
    refuse_empty(bitext)
    return _split_lines(bitext, max(1, count * 5 // 100))


def _split_lines(sides: list[Side] | Bitext, held_out: int) -> dict[str, Bitext]:
    """Split a parallel text: the last `held_out` lines are test, as many before them dev."""
    end = len(sides[0].lines)
    test = end - held_out
    dev = test - held_out
    return {
        "train": tuple(side.cut(0, dev) for side in sides),
        "dev": tuple(side.cut(dev, test) for side in sides),
        "test": tuple(side.cut(test, end) for side in sides),
    }


def _read_side(name: str, source: Source, data_dir: str | None, entry: NamedPairEntry) -> Side:
    """Read one official file. Error messages name its path, or its file name where it was fetched.

    Control characters stay: the published texts have some (U+0001 in WMT 2014), and are what other
    suites train on.
    """
    where = str(find_file(source, data_dir) or Path(source.files[0]).name)
    side = read_side(read_official(name, source, data_dir), where, entry.lowercase)
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
                kept.source.append(np.array(ids, np.uint16))
                kept.target.append(np.array(others, np.uint16))
        return kept
    _refuse_long(source, source_ids, split)
    _refuse_long(target, target_ids, split)
    return Split(
        [np.array(ids, np.uint16) for ids in source_ids],
        [np.array(ids, np.uint16) for ids in target_ids],
        source.lines,
        target.lines,
    )


def _refuse_long(side: Side, sentences: list[list[int]], split: str) -> None:
    limit = MAX_PIECES[split]
    for n, ids in enumerate(sentences):
        if len(ids) > limit:
            length = f"{len(ids):,} pieces, at most {limit:,} in {split}"
            raise ConfigError(f"{side.locate(n)}: {length}; split the sentence")


def write(catalogue: PairCatalogue, name: str, out: Path, data_dir: str | None) -> str:
    """Write the pairs of a name to `out`, ready for training; return a line on them."""
    pairs = build_pairs(catalogue, name, data_dir)
    store.write(out, pairs)
    return describe(pairs)
