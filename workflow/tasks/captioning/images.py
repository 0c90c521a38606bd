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
    """List the file and the folder of each image; `ConfigError` for another schema, or a path that
    leads outside.
    """
    content = parse(
        _NamedImages, parse_json(read_plain(captions, Source()), str(captions)), str(captions)
    )
    return [(image.filename, image.filepath) for image in content.images]


def find_image(root: Path, file: str, folder: str) -> str | None:
    """Find an image in `root` or its own folder below, its ending in capitals or small letters;
    None where none is.
    """
    stem, dot, ending = file.rpartition(".")
    names = (file, f"{stem}{dot}{ending.lower()}", f"{stem}{dot}{ending.upper()}")
    places = (os.path.join(root, below, name) for name in names for below in ("", folder))
    return next(filter(os.path.isfile, places), None)


def image_path(root: Path, file: str, folder: str) -> Path:
    """Find an image; `ConfigError` where there is none."""
    if path := find_image(root, file, folder):
        return Path(path)
    raise ConfigError(f"{root / folder / file}: no such image; the captions name it")
