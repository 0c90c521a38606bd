"""Captions in the schema of dataset_coco.json (Karpathy and Fei-Fei 2015), and the pictures or features they belong to.

{"images": [{"filename": "a.jpg", "filepath": "val2014", "split": "train | restval | val | test",
             "sentences": [{"tokens": ["a", "dog"]}, ..]}, ..]}
"""

import json
import zipfile
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image

from workflow.config.errors import ConfigError, check_known
from workflow.data.sources.archives import plain
from workflow.data.sources.source import Source

SPLIT = {"train": "train", "restval": "train", "val": "dev", "test": "test"}
UNREADABLE = (OSError, ValueError, EOFError, MemoryError, AttributeError, zipfile.BadZipFile, zlib.error)
LARGEST = float(np.finfo(np.float16).max)
MODES = ("1", "L", "LA", "P", "PA", "RGB", "RGBA", "CMYK", "YCbCr")  # of PIL: 8 bits a channel at most
BROKEN = (OSError, SyntaxError, ValueError, Image.DecompressionBombError)  # what PIL meets in a damaged file


class Entry(NamedTuple):
    """One picture: its file, the split it belongs to, its captions as words with spaces between them."""

    file: str
    folder: str
    split: str
    captions: list[str]


def entries(path: Path) -> list[Entry]:
    """All pictures of a json; `ConfigError` in one line with the place where the schema is another."""
    try:
        content = json.loads(plain(path, Source()))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not JSON: {error}") from None
    if not isinstance(content, dict) or not isinstance(content.get("images"), list) or not content["images"]:
        raise ConfigError(f'{path}: expected an object with a list "images", as in dataset_coco.json')
    found = [_entry(f"{path}: images[{n}]", one) for n, one in enumerate(content["images"])]
    seen: dict[tuple, int] = {}
    for n, one in enumerate(found):
        if (before := seen.setdefault((one.folder, one.file), n)) != n:
            raise ConfigError(f"{path}: images[{n}] has the file of images[{before}], {ascii(one.file)}")
    return found


def _entry(where: str, one) -> Entry:
    expected = {"filename": str, "split": str, "sentences": list}
    for key, kind in expected.items():
        value = one.get(key) if isinstance(one, dict) else None
        if not isinstance(value, kind) or not value:
            raise ConfigError(f'{where}: "{key}" must be a {kind.__name__} that is not empty, got {str(value)[:40]!r}')
    check_known(f"split in {where}:", one["split"], SPLIT)
    folder = one.get("filepath", "")
    if not isinstance(folder, str):
        raise ConfigError(f'{where}: "filepath" must be a str, or left out, got {str(folder)[:40]!r}')
    captions = [_words(f"{where}.sentences[{n}]", sentence) for n, sentence in enumerate(one["sentences"])]
    return Entry(one["filename"], folder, SPLIT[one["split"]], captions)


def _words(where: str, sentence) -> str:
    tokens = sentence.get("tokens") if isinstance(sentence, dict) else None
    if not isinstance(tokens, list) or not tokens or not all(isinstance(one, str) and one.strip() for one in tokens):
        raise ConfigError(f'{where}: "tokens" must be a list of words, got {str(tokens)[:40]!r}')
    text = " ".join(" ".join(tokens).lower().split())
    if not text.isprintable():
        raise ConfigError(f"{where}: {ascii(text)[:60]} has characters that are no text")
    return text


def images(found: list[Entry], folder: Path, pixels: int) -> np.ndarray:
    """n 3 H W, uint8: the middle square of each image, scaled to `pixels`."""
    return np.stack([_image(folder, one, pixels) for one in found])


def _image(folder: Path, entry: Entry, pixels: int) -> np.ndarray:
    tried = [folder / entry.file, folder / entry.folder / entry.file]
    if not all(one.resolve().is_relative_to(folder.resolve()) for one in tried):
        raise ConfigError(f"{ascii(str(tried[-1]))}: lies outside the folder of images, {folder}")
    path = next((one for one in tried if one.is_file()), None)
    if path is None:
        raise ConfigError(f"{tried[-1]}: no such image; the captions name it")
    try:
        with Image.open(path) as opened:
            mode, picture = opened.mode, opened.convert("RGB")
    except BROKEN as error:
        raise ConfigError(f"{path}: not an image that can be read ({error}); delete or replace the file") from None
    if mode not in MODES:
        raise ConfigError(f"{path}: pixels of mode {mode}; expected 8 bits a channel, as in a JPEG")
    side, (width, height) = min(picture.size), picture.size
    left, top = (width - side) // 2, (height - side) // 2
    square = picture.crop((left, top, left + side, top + side)).resize((pixels, pixels), Image.Resampling.BOX)
    return np.asarray(square, np.uint8).transpose(2, 0, 1)


def features(found: list[Entry], path: Path) -> np.ndarray:
    """n N F, float16: an .npy of that shape in the order of the json, or an .npz with N F by file name."""
    try:
        content = _loaded(path, found)
    except UNREADABLE as error:
        raise ConfigError(
            f"{path}: not features that can be read ({type(error).__name__}); an .npy or .npz of floats"
        ) from None
    if content.ndim != 3 or content.dtype.kind != "f" or len(content) != len(found) or not content.size:
        shape = " x ".join(map(str, content.shape))
        raise ConfigError(
            f"{path}: {shape} of {content.dtype}; expected {len(found):,} x regions x features, of floats"
        )
    if not (abs(content) <= LARGEST).all():
        raise ConfigError(f"{path}: some features are not finite, or beyond +-{LARGEST:,}; they are kept in 16 bits")
    return content.astype(np.float16)


def _loaded(path: Path, found: list[Entry]) -> np.ndarray:
    with open(path, "rb") as file:
        content = np.load(file, allow_pickle=False)
        return content if isinstance(content, np.ndarray) else _by_name(path, content, found)


def _by_name(path: Path, content, found: list[Entry]) -> np.ndarray:
    keys = [next((key for key in (one.file, Path(one.file).stem) if key in content), None) for one in found]
    for key, one in zip(keys, found, strict=True):
        if key is None:
            raise ConfigError(f"{path}: no features of {one.file}, which the captions name")
    shapes = {content[key].shape for key in keys}
    if len(shapes) > 1:
        raise ConfigError(f"{path}: features of different shapes, {' and '.join(map(str, sorted(shapes)[:2]))}")
    return np.stack([content[key] for key in keys])
