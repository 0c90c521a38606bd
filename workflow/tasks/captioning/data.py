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
from workflow.tasks.store import SPLITS, Split

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
        numbers[split] = [n for n, picture in enumerate(pictures) if picture.split == split]
        if not numbers[split]:
            raise ConfigError(f"dataset '{name}': no image belongs to {split}")
    train_captions = [caption for n in numbers["train"] for caption in pictures[n].captions]
    pieces = learn_pieces(train_captions, entry.vocabulary, f"dataset '{name}'", exact=False)
    splits = {}
    for split in SPLITS:
        part = Split()
        for n in numbers[split]:
            for ids in pieces.encode(pictures[n].captions):
                part.source.append(np.array([n], np.int32))
                part.target.append(np.array(ids, np.uint16))
        splits[split] = part
    held_out = [n for split in ("dev", "test") for n in numbers[split]]
    references = {n: pictures[n].captions for n in held_out}
    names = {n: pictures[n].file for n in held_out}
    about = {"symbols": piece_names(pieces), "checksum": checksum, "about": entry.about}
    return CaptionCorpus(name, pixels, **splits, references=references, names=names, **about)


def _draw_scenes(name: str, entry: CaptionEntry) -> tuple[list[Picture], np.ndarray]:
    """Draw the embedded scenes; `ConfigError` where pictures and captions do not have the
    catalogue's checksum.
    """
    drawn_scenes = scenes.generate_scenes()
    pixels = np.stack([scenes.draw(scene) for scene in drawn_scenes])
    captions = [scenes.write_captions(scene) for scene in drawn_scenes]
    content = pixels.tobytes() + "\n".join(sum(captions, [])).encode()
    verify_checksum(
        content,
        Source(checksum=entry.checksum),
        f"dataset '{name}'",
        "this machine renders it differently",
    )
    count = len(captions)
    splits = ["train"] * (count - 2 * HELD_OUT) + ["dev"] * HELD_OUT + ["test"] * HELD_OUT
    pictures = []
    for number, (split, written) in enumerate(zip(splits, captions, strict=True), start=1):
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
    sizes = ", ".join(f"{split} {len(getattr(corpus, split).source):,}" for split in SPLITS)
    shape = " x ".join(map(str, corpus.pictures.shape[1:]))
    pictures = f"{len(corpus.pictures):,} pictures of {shape}"
    return f"{name}: {sizes} captions of {pictures}, {len(corpus.symbols):,} pieces"
