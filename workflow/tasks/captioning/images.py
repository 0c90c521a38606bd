"""The images that captions name: where they lie, found without reading any of them."""

import os
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field

from workflow.config.errors import ConfigError
from workflow.config.strict import parse, parse_json
from workflow.tasks.sources import Source, read_once, read_plain


def _inside(path: str) -> str:
    if os.path.isabs(path) or ".." in Path(path).parts:
        raise ConfigError(f"{ascii(path)}: is outside the folder of images")
    return path


class NamedImage(BaseModel):
    filename: Annotated[str, AfterValidator(_inside)] = Field(min_length=1)
    filepath: Annotated[str, AfterValidator(_inside)] = ""


class _NamedImages(BaseModel):
    images: list[NamedImage] = Field(min_length=1)


@read_once
def images_named_by(captions: Path) -> list[tuple[str, str]]:
    """List file and folder of each image; `ConfigError` for a path that leads outside."""
    where = str(captions)
    raw = parse_json(read_plain(captions, Source()), where)
    content = parse(_NamedImages, raw, where)
    return [(image.filename, image.filepath) for image in content.images]


def find_image(root: Path, file: str, folder: str) -> str | None:
    """Find an image in `root` or its own folder below; None if there is none.

    Its ending may be in capitals or small letters.
    """
    stem, dot, ending = file.rpartition(".")
    small = f"{stem}{dot}{ending.lower()}"
    capital = f"{stem}{dot}{ending.upper()}"
    names = (file, small, capital)
    for name in names:
        for below in ("", folder):
            place = os.path.join(root, below, name)
            if os.path.isfile(place):
                return place
    return None


def image_path(root: Path, file: str, folder: str) -> Path:
    """Find an image; `ConfigError` where there is none."""
    path = find_image(root, file, folder)
    if path:
        return Path(path)
    raise ConfigError(f"{root / folder / file}: no such image; the captions name it")
