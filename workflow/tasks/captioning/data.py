"""From a name to captioned pictures ready for training: draw or read them, verify, learn pieces on
train, encode.
"""

from pathlib import Path

import numpy as np

from workflow.config.errors import ConfigError
from workflow.tasks.captioning import scenes, store
from workflow.tasks.captioning.catalogue import CaptionCatalogue, CaptionEntry, find_paths
from workflow.tasks.captioning.files import Picture, read_captions, read_features, read_images
from workflow.tasks.captioning.store import CaptionCorpus
from workflow.tasks.pieces import learn_pieces, piece_names
from workflow.tasks.sources import Source, verify_checksum
from workflow.tasks.store import SPLITS, Split, as_ids

HELD_OUT = 300  # the last of the scenes are test, as many before them dev


def build_captions(catalogue: CaptionCatalogue, name: str, data_dir: str | None) -> CaptionCorpus:
    """Make the pictures and captions of a name ready for training; `ConfigError` for files that
    cannot be used.
    """
    entry = catalogue.entry(name)
    checksum = catalogue.checksum(name, data_dir)
    if entry.kind == "embedded":
        pictures, pixels = _draw_scenes(name, entry)
    else:
        pictures, pixels = _read_files(name, entry, data_dir)
    numbers: dict[str, list[int]] = {}
    for split in SPLITS:
        numbers[split] = []
    for number, picture in enumerate(pictures):
        numbers[picture.split].append(number)
    for split in SPLITS:
        if not numbers[split]:
            raise ConfigError(f"dataset '{name}': no image belongs to {split}")
    train_captions = []
    for number in numbers["train"]:
        train_captions += pictures[number].captions
    pieces = learn_pieces(train_captions, entry.vocabulary, f"dataset '{name}'", exact=False)
    splits = {}
    for split in SPLITS:
        part = Split()
        for number in numbers[split]:
            captions = pieces.encode(pictures[number].captions)
            for ids in captions:
                part.source.append(np.array([number], np.int32))
                part.target.append(as_ids(ids))
        splits[split] = part
    held_out = numbers["dev"] + numbers["test"]
    return CaptionCorpus(
        name,
        pixels,
        **splits,
        references={number: pictures[number].captions for number in held_out},
        names={number: pictures[number].file for number in held_out},
        symbols=piece_names(pieces),
        checksum=checksum,
        about=entry.about,
    )


def _draw_scenes(name: str, entry: CaptionEntry) -> tuple[list[Picture], np.ndarray]:
    """Draw the embedded scenes; `ConfigError` where pictures and captions do not have the
    catalogue's checksum.
    """
    drawn_scenes = scenes.generate_scenes()
    pixels = np.stack([scenes.draw(scene) for scene in drawn_scenes])
    captions = [scenes.write_captions(scene) for scene in drawn_scenes]
    lines = [line for written in captions for line in written]
    content = pixels.tobytes() + "\n".join(lines).encode()
    verify_checksum(
        content,
        Source(checksum=entry.checksum),
        f"dataset '{name}'",
        "this machine renders it differently",
    )
    trained = len(captions) - 2 * HELD_OUT
    splits = ["train"] * trained + ["dev"] * HELD_OUT + ["test"] * HELD_OUT
    pictures = []
    for split, written in zip(splits, captions, strict=True):
        number = len(pictures) + 1
        pictures.append(Picture(f"scene {number}", "", split, written))
    return pictures, pixels


def _read_files(
    name: str, entry: CaptionEntry, data_dir: str | None
) -> tuple[list[Picture], np.ndarray]:
    json_path, image_path = find_paths(name, entry, data_dir)
    pictures = read_captions(json_path)
    if image_path.is_dir():
        return pictures, read_images(pictures, image_path, entry.pixels)
    return pictures, read_features(pictures, image_path)


def write(catalogue: CaptionCatalogue, name: str, out: Path, data_dir: str | None) -> str:
    """Write the pictures and captions of a name to `out`, ready for training, and return a line on
    what was written.
    """
    corpus = build_captions(catalogue, name, data_dir)
    store.write(out, corpus)
    sizes = []
    for split in SPLITS:
        count = len(getattr(corpus, split).source)
        sizes.append(f"{split} {count:,}")
    shape = " x ".join(map(str, corpus.pictures.shape[1:]))
    captions = f"{', '.join(sizes)} captions"
    pictures = f"{len(corpus.pictures):,} pictures of {shape}"
    return f"{name}: {captions} of {pictures}, {len(corpus.symbols):,} pieces"
