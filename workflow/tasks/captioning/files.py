"""Captions in the schema of dataset_coco.json (Karpathy and Fei-Fei 2015).

{"images": [{"filename": "a.jpg", "filepath": "val2014", "split": "train | restval | val | test",
             "sentences": [{"tokens": ["a", "dog"]}, ..]}, ..]}

The pictures are image files, or features of regions from a detector.
"""

import warnings
import zipfile
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
from PIL import Image
from pydantic import BaseModel, Field

from workflow.config.errors import ConfigError, shown
from workflow.config.files import open_zip
from workflow.config.strict import one_of, parse, parse_json
from workflow.tasks.captioning.images import NamedImage, image_path
from workflow.tasks.plain_text import find_no_text
from workflow.tasks.sources import Source, read_plain
from workflow.tasks.store import largest

SPLIT = {"train": "train", "restval": "train", "val": "dev", "test": "test"}
# some others of PIL start other programs
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "PPM")
UNREADABLE_IMAGE = (OSError, SyntaxError, ValueError, Image.DecompressionBombError, Warning)
LARGEST = float(np.finfo(np.float16).max)
# of PIL: 8 bits a channel at most
MODES = ("1", "L", "LA", "P", "PA", "RGB", "RGBA", "CMYK", "YCbCr")


class Picture(NamedTuple):
    """A picture: its file, the split it belongs to, its captions as words with spaces between
    them.
    """

    file: str
    folder: str
    split: str
    captions: list[str]


class _Sentence(BaseModel):
    tokens: list[Annotated[str, Field(pattern=r"\S")]] = Field(min_length=1)


class _Image(NamedImage):
    split: Annotated[str, one_of("split", SPLIT)]
    sentences: list[_Sentence] = Field(min_length=1)


class _Images(BaseModel):
    """What is read of the json; it has more."""

    images: list[_Image] = Field(min_length=1)


def read_captions(path: Path) -> list[Picture]:
    """Read all pictures of a json; `ConfigError` with the place in the file where it does not
    follow the schema.
    """
    content = parse(_Images, parse_json(read_plain(path, Source()), str(path)), str(path))
    pictures, seen = [], set()
    for n, image in enumerate(content.images):
        captions = [" ".join(" ".join(each.tokens).lower().split()) for each in image.sentences]
        for m, caption in enumerate(captions):
            if wrong := find_no_text(caption):
                raise ConfigError(
                    f"{path}: images[{n}].sentences[{m}], {wrong}; the caption is {shown(caption)}"
                )
        if (place := (image.filepath, image.filename)) in seen:
            raise ConfigError(
                f"{path}: images[{n}] has the file of an earlier one, {ascii(image.filename)}"
            )
        seen.add(place)
        pictures.append(Picture(image.filename, image.filepath, SPLIT[image.split], captions))
    return pictures


def read_images(pictures: list[Picture], folder: Path, pixels: int) -> np.ndarray:
    """Read images as n 3 H W, uint8: the middle square of each, scaled to `pixels`."""
    return np.stack([_read_image(folder, picture, pixels) for picture in pictures])


def _read_image(folder: Path, picture: Picture, pixels: int) -> np.ndarray:
    path = image_path(folder, picture.file, picture.folder)
    try:
        with warnings.catch_warnings(action="error"), Image.open(path, formats=FORMATS) as file:
            mode, image = file.mode, file.convert("RGB")
    except UNREADABLE_IMAGE as error:
        raise ConfigError(
            f"{path}: not an image that can be read ({error}); delete or replace the file"
        ) from None
    if mode not in MODES:  # PIL would clip its numbers
        raise ConfigError(
            f"{path}: pixels of mode {mode}; expected 8 bits per channel, as in a JPEG"
        )
    side, (width, height) = min(image.size), image.size
    left, top = (width - side) // 2, (height - side) // 2
    square = image.crop((left, top, left + side, top + side)).resize(
        (pixels, pixels), Image.Resampling.BOX
    )
    return np.asarray(square, np.uint8).transpose(2, 0, 1)


def read_features(pictures: list[Picture], path: Path) -> np.ndarray:
    """Read features n N F, float16, from an .npy in the order of the json, or an .npz with N F by
    file name.
    """
    try:
        features = _load_features(path, pictures)
    except ConfigError:
        raise
    except Exception as error:  # numpy raises a dozen kinds of error on damaged files
        kind = type(error).__name__
        raise ConfigError(
            f"{path}: not features that can be read ({kind}); an .npy or .npz of floats"
        ) from None
    if (
        features.ndim != 3
        or features.dtype.kind != "f"
        or len(features) != len(pictures)
        or not features.size
    ):
        shape = " x ".join(map(str, features.shape))
        expected = f"{len(pictures):,} x regions x features, of floats"
        raise ConfigError(f"{path}: {shape} of {features.dtype}; expected {expected}")
    if not (abs(features) <= LARGEST).all():
        raise ConfigError(
            f"{path}: some features are not finite, or beyond +-{LARGEST:,};"
            " they are kept in 16 bits"
        )
    return features.astype(np.float16)


def _load_features(path: Path, pictures: list[Picture]) -> np.ndarray:
    if zipfile.is_zipfile(path):
        with open_zip(path, largest()):
            pass
    with open(path, "rb") as file:
        content = np.load(file, allow_pickle=False)
        return (
            content if isinstance(content, np.ndarray) else _stack_by_name(path, content, pictures)
        )


def _stack_by_name(path: Path, arrays, pictures: list[Picture]) -> np.ndarray:
    keys = []
    for picture in pictures:
        key = next((key for key in (picture.file, Path(picture.file).stem) if key in arrays), None)
        if key is None:
            raise ConfigError(f"{path}: no features of {picture.file}, which the captions name")
        keys.append(key)
    shapes = {arrays[key].shape for key in keys}
    if len(shapes) > 1:
        raise ConfigError(
            f"{path}: features of different shapes, {' and '.join(map(str, sorted(shapes)[:2]))}"
        )
    return np.stack([arrays[key] for key in keys])
