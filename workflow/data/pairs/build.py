"""From a name to pairs of sentences in pieces: read, checked, split, cut into pieces learned on train."""

from pathlib import Path

import numpy as np
from sentencepiece import SentencePieceProcessor

from workflow.config.errors import ConfigError
from workflow.data.pairs import phrases
from workflow.data.pairs.catalogue import USERS, Named, PairCatalogue, paths_of, refuse_unknown_file
from workflow.data.pairs.pieces import learn
from workflow.data.pairs.sentences import Bitext, Side, bitext, refuse_empty, side
from workflow.data.pairs.store import Pairs, Split
from workflow.data.sources.lookup import look
from workflow.data.sources.source import Source, verify
from workflow.data.text.files import official
from workflow.data.text.store import SPLITS

HELD_OUT = 1000  # the last of the embedded phrases are test, as many before them dev
# Pieces a sentence may have. Longer ones are left out of train (as fairseq's scripts do, in words); dev and test are
# scored whole, and the longest sentence of the official ones has about 250.
LONGEST = {"train": 175, "dev": 1000, "test": 1000}


def load(catalogue: PairCatalogue, name: str, data_dir: str | None) -> Pairs:
    """The pairs of a name, ready for training; `ConfigError` in one line for anything that is not as it should be."""
    entry, users = catalogue.entry(name), name.startswith(USERS)
    checksum = catalogue.checksum(name, data_dir)
    texts = _users(name) if users else _named(name, entry, data_dir)
    lines = [line for one in texts["train"] for line in one.lines]
    learned = learn(lines, entry.vocabulary, f"data set '{name}'", exact=not users)
    symbols = [learned.id_to_piece(i) for i in range(learned.get_piece_size())]
    splits = {split: _encoded(learned, texts[split], split) for split in SPLITS}
    dropped = len(texts["train"][0].lines) - len(splits["train"].source)
    if not splits["train"].source:
        raise ConfigError(f"data set '{name}': every pair of train has more than {LONGEST['train']} pieces on a side")
    about = {key: getattr(entry, key) for key in ("source", "target", "about", "tokenised", "compounds")}
    return Pairs(name=name, symbols=symbols, checksum=checksum, dropped=dropped, **splits, **about)


def _named(name: str, entry: Named, data_dir: str | None) -> dict[str, Bitext]:
    if entry.kind == "embedded":
        return _embedded(name, entry)
    texts = {}
    for split, parts in entry.files.items():
        sides = [_part(name, parts[one], data_dir, entry) for one in (entry.source, entry.target)]
        texts[split] = bitext(*sides, entry.pairs.get(split))
    for split in ("dev", "test"):
        refuse_empty(texts[split])
    return texts


def _embedded(name: str, entry: Named) -> dict[str, Bitext]:
    """All but the last 2,000 phrases are train. No phrase occurs twice, in any language."""
    content = phrases.bitext(entry.source, entry.target)
    made = f"it is made with {' and '.join(phrases.PINS)}, here are {phrases.installed()}: install the pinned ones"
    verify(content, Source(checksum=entry.checksum), f"data set '{name}'", made)
    rows = [line.split("\t") for line in content.decode().splitlines()]
    sides = [side("\n".join(row[n] for row in rows).encode(), name, entry.lowercase) for n in range(2)]
    return _cut(sides, HELD_OUT)


def _users(name: str) -> dict[str, Bitext]:
    """90, 5 and 5 % of the lines, at least one each."""
    sides = bitext(*(side(path.read_bytes(), str(path), lowercase=False) for path in paths_of(name)))
    count = len(sides[0].lines)
    if count < 3:
        raise ConfigError(f"data set '{name}': {count} lines are too few to split into train, dev and test; at least 3")
    refuse_empty(sides)
    return _cut(sides, max(1, count * 5 // 100))


def _cut(sides: list[Side] | Bitext, held_out: int) -> dict[str, Bitext]:
    """The last `held_out` lines are test, as many before them dev."""
    stop = len(sides[0].lines)
    places = [(0, stop - 2 * held_out), (stop - 2 * held_out, stop - held_out), (stop - held_out, stop)]
    return {split: tuple(one.cut(*place) for one in sides) for split, place in zip(SPLITS, places, strict=True)}


def _part(name: str, part: Source, data_dir: str | None, entry: Named) -> Side:
    """One official file, from `data_dir` or fetched; called by its path, or by its name where it was fetched."""
    found = look(part, data_dir)
    if found is None and part.checksum is None:
        refuse_unknown_file(name, part, data_dir)
    read = side(official(name, part, data_dir), str(found or Path(part.files[0]).name), entry.lowercase)
    return read.unescaped() if entry.tokenised else read


def _encoded(learned: SentencePieceProcessor, text: Bitext, split: str) -> Split:
    """Empty or overlong sentences of train take their pair with them; one of dev or test is refused."""
    ids = [learned.encode(one.lines) for one in text]
    if split == "train":
        kept = [pair for pair in zip(*ids, strict=True) if all(0 < len(one) <= LONGEST[split] for one in pair)]
        return Split(*([np.array(pair[n], np.uint16) for pair in kept] for n in range(2)), [], [])
    for one, sentences in zip(text, ids, strict=True):
        for n, sentence in enumerate(sentences):
            if len(sentence) > LONGEST[split]:
                line = f"{one.line(n)}: {len(sentence):,} pieces, at most {LONGEST[split]:,} in {split}"
                raise ConfigError(f"{line}; break the sentence up")
    return Split(*([np.array(one, np.uint16) for one in sentences] for sentences in ids), *(one.lines for one in text))
