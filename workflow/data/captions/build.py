"""From a name to pictures and captions in pieces: drawn or read, checked, cut into pieces learned on train."""

import hashlib

import numpy as np

from workflow.config.errors import ConfigError
from workflow.data.captions import karpathy, scenes
from workflow.data.captions.catalogue import CaptionCatalogue, Captions, found
from workflow.data.captions.karpathy import Entry
from workflow.data.captions.store import Captioned
from workflow.data.pairs.pieces import learn
from workflow.data.pairs.store import Split
from workflow.data.text.store import SPLITS

HELD_OUT = 300  # the last of the scenes are test, as many before them dev


def load(catalogue: CaptionCatalogue, name: str, data_dir: str | None) -> Captioned:
    """The captions of a name, ready for training; `ConfigError` in one line for anything that is not as it should be."""
    entry = catalogue.entry(name)
    checksum = catalogue.checksum(name, data_dir)
    made, pictures = _scenes(name, entry) if entry.kind == "embedded" else _read(name, entry, data_dir)
    numbers = {split: [n for n, one in enumerate(made) if one.split == split] for split in SPLITS}
    for split in SPLITS:
        if not numbers[split]:
            raise ConfigError(f"data set '{name}': no picture belongs to {split}")
    train = [caption for n in numbers["train"] for caption in made[n].captions]
    pieces = learn(train, entry.vocabulary, f"data set '{name}'", exact=False)
    splits = {}
    for split in SPLITS:
        pairs = [(n, caption) for n in numbers[split] for caption in made[n].captions]
        ids = [np.array(one, np.uint16) for one in pieces.encode([caption for _, caption in pairs])]
        splits[split] = Split([np.array([n], np.int32) for n, _ in pairs], ids, [], [])
    held_out = [n for split in ("dev", "test") for n in numbers[split]]
    return Captioned(
        name=name,
        pictures=pictures,
        **splits,
        references={n: made[n].captions for n in held_out},
        names={n: made[n].file for n in held_out},
        symbols=[pieces.id_to_piece(i) for i in range(pieces.get_piece_size())],
        checksum=checksum,
        about=entry.about,
    )


def _scenes(name: str, entry: Captions) -> tuple[list[Entry], np.ndarray]:
    """Drawn here; what was drawn and written must be what the catalogue says."""
    made = scenes.scenes()
    pictures = np.stack([scenes.drawn(one) for one in made])
    written = [scenes.captions(one) for one in made]
    content = hashlib.sha256(pictures.tobytes() + "\n".join(sum(written, [])).encode()).hexdigest()
    if f"sha256:{content}" != entry.checksum:
        raise ConfigError(
            f"data set '{name}': sha256 {content}, expected {entry.checksum}; this machine draws it otherwise"
        )
    stops = len(made) - 2 * HELD_OUT, len(made) - HELD_OUT
    split = [SPLITS[(n >= stops[0]) + (n >= stops[1])] for n in range(len(made))]
    return [Entry(f"scene {n + 1}", "", split[n], one) for n, one in enumerate(written)], pictures


def _read(name: str, entry: Captions, data_dir: str | None) -> tuple[list[Entry], np.ndarray]:
    path, seen = found(name, entry, data_dir)
    made = karpathy.entries(path)
    if seen.is_dir():
        return made, karpathy.images(made, seen, entry.pixels)
    return made, karpathy.features(made, seen)
