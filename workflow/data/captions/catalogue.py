"""Which pictures with captions there are, from config/tasks/captioning.yaml, and what identifies them in a job."""

import hashlib
import json
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import model_validator

from workflow.config.errors import ConfigError
from workflow.config.strict import PositiveStrictInt, StrictModel
from workflow.data.pairs.catalogue import Vocabulary
from workflow.data.sources import checksums as digests
from workflow.data.sources.catalogue import Names
from workflow.data.sources.lookup import data_folders, look, missing
from workflow.data.sources.source import Checksum, Source

USERS = "captions:"
USERS_PIECES, USERS_PIXELS = 8000, 48  # pixels: as the nets of the lower scales read
RULES = 1  # of drawing, reading and scaling: counted up when they change


class Captions(StrictModel):
    """One set. vocabulary: pieces, with the four special ones. pixels: the side that pictures are scaled to.

    embedded: drawn by workflow/data/scenes.py; `checksum` is that of pictures and captions. karpathy: `json` in the
    schema of dataset_coco.json, and beside it one of `images`, a folder, or of `features`, an .npy of n N F in the
    order of the json's images or an .npz with an array N F for each file name.
    """

    kind: Literal["embedded", "karpathy"]
    about: str
    vocabulary: Vocabulary
    pixels: PositiveStrictInt
    checksum: Checksum | None = None
    captions: Source | None = None
    images: list[str] = []
    features: list[str] = []

    @model_validator(mode="after")
    def has_what_its_kind_needs(self):
        if self.kind == "embedded" and (self.checksum is None or self.captions):
            raise ValueError("an embedded set has a checksum and no captions file")
        if self.kind == "karpathy" and not (self.captions and (self.images or self.features)):
            raise ValueError("kind karpathy takes captions, and images or features")
        return self


class CaptionCatalogue(Names):
    form: ClassVar[str] = f"{USERS}JSON,IMAGES"
    captions: dict[str, Captions]

    @property
    def named(self) -> dict[str, Captions]:
        return self.captions

    def of_user(self, name: str) -> Captions:
        path, seen = paths_of(name)
        part = {"images": [str(seen)]} if seen.is_dir() else {"features": [str(seen)]}
        given = {"kind": "karpathy", "vocabulary": USERS_PIECES, "pixels": USERS_PIXELS}
        about = f"{path.name} with {seen.name}, the user's, in the file's own split"
        return Captions(**given, **part, about=about, captions=Source(files=[str(path)]))

    def checksum(self, name: str, data_dir: str | None = None) -> str:
        """What identifies captions and pictures in a job: of the texts, what is looked at, pieces, size and rules."""
        entry = self.entry(name)
        there = entry.checksum if entry.kind == "embedded" else _found(name, entry, data_dir)
        said = [there, entry.vocabulary, entry.pixels, RULES]
        return f"sha256:{hashlib.sha256(json.dumps(said).encode()).hexdigest()}"


def paths_of(name: str) -> tuple[Path, Path]:
    """JSON and the images or features of `captions:JSON,IMAGES`."""
    words = name.removeprefix(USERS).split(",")
    if len(words) != 2 or not all(words):
        raise ConfigError(
            f"data set '{name}': expected captions:JSON,IMAGES, IMAGES a folder of images or a file of features"
        )
    path, seen = (Path(word.strip()).expanduser() for word in words)
    if not path.is_file():
        raise ConfigError(f"data set '{name}': {path}: no such file")
    if not seen.exists():
        raise ConfigError(f"data set '{name}': {seen}: no such folder of images or file of features (.npy or .npz)")
    return path, seen


def found(name: str, entry: Captions, data_dir: str | None) -> tuple[Path, Path]:
    """Where the json lies, and the features or the folder of images; features first, as they are asked for by hand."""
    if name.startswith(USERS):
        return paths_of(name)
    path = look(entry.captions, data_dir)
    if path is None:
        raise ConfigError(f"{missing(name, [entry.captions], data_dir)}; it is not fetched, put it there")
    places = [folder / one for one in (*entry.features, *entry.images) for folder in data_folders(data_dir)]
    seen = next((one for one in places if one.exists()), None)
    if seen is None:
        wanted = " or ".join((*entry.features, *entry.images))
        raise ConfigError(f"data set '{name}': no images and no features in data_dir '{data_dir}' ({wanted})")
    return path, seen


def _found(name: str, entry: Captions, data_dir: str | None) -> list[str]:
    """What the json says, and what is looked at."""
    path, seen = found(name, entry, data_dir)
    return [digests.of_text(path), _seen(seen)]


def _seen(path: Path) -> str:
    """A file of features by its bytes; a folder of images by names and sizes, as there may be a hundred thousand."""
    if path.is_file():
        return digests.of_bytes(path)
    files = sorted(one for one in path.rglob("*") if one.is_file())
    listed = [(one.relative_to(path).as_posix(), one.stat().st_size) for one in files]
    return f"sha256:{hashlib.sha256(json.dumps(listed).encode()).hexdigest()}"
