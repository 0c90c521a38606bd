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
    raw = parse_json(read_plain(path, Source()), str(path))
    content = parse(_Images, raw, str(path))
    pictures = []
    seen = set()
    for n, image in enumerate(content.images):
        where = f"{path}: images[{n}]"
        captions = [_caption(sentence) for sentence in image.sentences]
        for m, caption in enumerate(captions):
            wrong = find_no_text(caption)
            if wrong:
                fault = f"{wrong}; the caption is {shown(caption)}"
                raise ConfigError(f"{where}.sentences[{m}], {fault}")
        place = (image.filepath, image.filename)
        if place in seen:
            raise ConfigError(f"{where} has the file of an earlier one, {ascii(image.filename)}")
        seen.add(place)
        split = SPLIT[image.split]
        pictures.append(Picture(image.filename, image.filepath, split, captions))
    return pictures


def _caption(sentence: _Sentence) -> str:
    """Write a caption in small letters, with single spaces between its words."""
    words = " ".join(sentence.tokens).lower().split()
    return " ".join(words)


def read_images(pictures: list[Picture], folder: Path, pixels: int) -> np.ndarray:
    """Read images as n 3 H W, uint8: the middle square of each, scaled to `pixels`."""
    return np.stack([_read_image(folder, picture, pixels) for picture in pictures])


def _read_image(folder: Path, picture: Picture, pixels: int) -> np.ndarray:
    path = image_path(folder, picture.file, picture.folder)
    try:
        with warnings.catch_warnings(action="error"), Image.open(path, formats=FORMATS) as file:
            mode = file.mode
            image = file.convert("RGB")
    except UNREADABLE_IMAGE as error:
        fault = f"not an image that can be read ({error})"
        raise ConfigError(f"{path}: {fault}; delete or replace the file") from None
    if mode not in MODES:  # PIL would clip its numbers
        expected = "expected 8 bits per channel, as in a JPEG"
        raise ConfigError(f"{path}: pixels of mode {mode}; {expected}")
    width, height = image.size
    side = min(width, height)
    left = (width - side) // 2
    top = (height - side) // 2
    right = left + side
    bottom = top + side
    square = image.crop((left, top, right, bottom))
    scaled = square.resize((pixels, pixels), Image.Resampling.BOX)
    return np.asarray(scaled, np.uint8).transpose(2, 0, 1)


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
        fault = f"not features that can be read ({kind})"
        raise ConfigError(f"{path}: {fault}; an .npy or .npz of floats") from None
    are_floats = features.dtype.kind == "f"
    is_for_all = features.ndim == 3 and len(features) == len(pictures)
    if not are_floats or not is_for_all or not features.size:
        shape = " x ".join(map(str, features.shape))
        expected = f"{len(pictures):,} x regions x features, of floats"
        raise ConfigError(f"{path}: {shape} of {features.dtype}; expected {expected}")
    if not (abs(features) <= LARGEST).all():
        fault = f"some features are not finite, or beyond +-{LARGEST:,}"
        raise ConfigError(f"{path}: {fault}; they are kept in 16 bits")
    return features.astype(np.float16)


def _load_features(path: Path, pictures: list[Picture]) -> np.ndarray:
    if zipfile.is_zipfile(path):
        with open_zip(path, largest()):
            pass
    with open(path, "rb") as file:
        content = np.load(file, allow_pickle=False)
        if isinstance(content, np.ndarray):
            return content
        return _stack_by_name(path, content, pictures)


def _stack_by_name(path: Path, arrays, pictures: list[Picture]) -> np.ndarray:
    keys = []
    for picture in pictures:
        names = (picture.file, Path(picture.file).stem)
        key = next((name for name in names if name in arrays), None)
        if key is None:
            raise ConfigError(f"{path}: no features of {picture.file}, which the captions name")
        keys.append(key)
    shapes = {arrays[key].shape for key in keys}
    if len(shapes) > 1:
        two = " and ".join(map(str, sorted(shapes)[:2]))
        raise ConfigError(f"{path}: features of different shapes, {two}")
    return np.stack([arrays[key] for key in keys])
