"""The captioned pictures by name, from config/tasks/captioning.yaml, and the checksums that
identify them in a job.
"""

from pathlib import Path
from typing import ClassVar, Literal

from pydantic import model_validator

from workflow.config.errors import ConfigError
from workflow.config.job import Job
from workflow.config.strict import Name, PositiveStrictInt, StrictModel
from workflow.tasks import sources
from workflow.tasks.captioning.images import find_image, image_path, images_named_by
from workflow.tasks.catalogue import BaseCatalogue, VocabularySize
from workflow.tasks.sources import Checksum, Source

USER_VOCABULARY, USER_PIXELS = 8000, 48  # pixels: as the nets of the lower scales read them
RULES = 1  # version of the rules of drawing, reading and scaling: counted up when they change


class CaptionEntry(StrictModel):
    """One dataset. vocabulary: pieces, with the four special ones. pixels: the side that pictures
    are scaled to.

    embedded: drawn by `scenes`; `checksum` is that of pictures and captions. karpathy: `json` in
    the schema of dataset_coco.json, with either `images`, a folder, or `features`, an .npy of n N F
    in the order of the json's images or an .npz with an array N F for each file name.
    """

    kind: Literal["embedded", "karpathy"]
    title: str
    about: str
    vocabulary: VocabularySize
    pixels: PositiveStrictInt
    checksum: Checksum | None = None
    captions: Source | None = None
    images: list[str] = []
    features: list[str] = []

    @model_validator(mode="after")
    def has_what_its_kind_needs(self):
        if self.kind == "embedded":
            if self.checksum is None or self.captions:
                raise ValueError("an embedded set has a checksum and no captions file")
            return self
        has_pictures = self.images or self.features
        if not self.captions or not has_pictures:
            raise ValueError("kind karpathy takes captions, and images or features")
        return self


class CaptionCatalogue(BaseCatalogue):
    user_form: ClassVar[str] = "captions:JSON,IMAGES"
    captions: dict[Name, CaptionEntry]

    def user_entry(self, name: str) -> CaptionEntry:
        json_path, image_path = user_paths(name)
        about = f"{json_path.name} with {image_path.name}, your own, in the file's split"
        reads = {
            "vocabulary": USER_VOCABULARY,
            "pixels": USER_PIXELS,
            "captions": Source(files=[str(json_path)]),
        }
        reads["images" if image_path.is_dir() else "features"] = [str(image_path)]
        return CaptionEntry(kind="karpathy", title=self.title(name), about=about, **reads)

    def most_keys(self, name: str, job: Job) -> int:
        """Count the pieces of the longest caption, or the patches of a picture.

        A picture has no more regions than patches.
        """
        return max(job.net.max_length, job.net.patches)

    def checksum(self, name: str, data_dir: str | None = None) -> str:
        """Digest what identifies the dataset in a job.

        That is captions and pictures, number of pieces, size and rules.
        """
        entry = self.entry(name)
        content = entry.checksum
        if entry.kind == "karpathy":
            content = _checksum_of_files(name, entry, data_dir)
        return sources.json_checksum([content, entry.vocabulary, entry.pixels, RULES])


def user_paths(name: str) -> tuple[Path, Path]:
    """Return JSON and the images or features of `captions:JSON,IMAGES`."""
    expected = "captions:JSON,IMAGES, IMAGES a folder of images or a file of features"
    json_path, image_path = sources.two_user_paths(name, expected)
    if not json_path.is_file():
        raise ConfigError(f"dataset '{name}': {json_path}: no such file")
    if not image_path.exists():
        expected = "no such folder of images or file of features (.npy or .npz)"
        raise ConfigError(f"dataset '{name}': {image_path}: {expected}")
    return json_path, image_path


def find_paths(name: str, entry: CaptionEntry, data_dir: str | None) -> tuple[Path, Path]:
    """Find the json, and the file of features or, if there is none, the folder of images."""
    if CaptionCatalogue.is_users(name):
        return user_paths(name)
    json_path = sources.find_file(entry.captions, data_dir)
    if json_path is None:
        missing = sources.describe_missing(name, entry.captions, data_dir)
        raise ConfigError(f"{missing}; it is not downloaded, put it there")
    for features in sources.find(entry.features, data_dir):
        if features.is_file():
            return json_path, features
    images = images_named_by(json_path)
    places = sources.find(entry.images, data_dir)
    folders = [place for place in places if place.is_dir()]
    for enough in (all, any):  # a folder that has all of them goes before one that has some
        for folder in folders:
            if enough(find_image(folder, *image) for image in images):
                return json_path, folder
    names = " or ".join([*entry.features, *entry.images])
    missing = f"no images and no features in data_dir '{data_dir}'"
    raise ConfigError(f"dataset '{name}': {missing} ({names})")


def _checksum_of_files(name: str, entry: CaptionEntry, data_dir: str | None) -> list[str]:
    """Return the checksums of the captions, and of the images that they name or the features."""
    json_path, folder = find_paths(name, entry, data_dir)
    captions = sources.file_checksum(json_path)
    if folder.is_file():
        return [captions, sources.file_checksum(folder)]
    images = []
    for file, below in images_named_by(json_path):
        images.append(image_path(folder, file, below))
    return [captions, sources.files_checksum(images)]
