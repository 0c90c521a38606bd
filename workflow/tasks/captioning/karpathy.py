"""Captions in the schema of dataset_coco.json (Karpathy and Fei-Fei 2015).

{"images": [{"filename": "a.jpg", "filepath": "val2014", "split": "train | restval | val | test",
             "sentences": [{"tokens": ["a", "dog"]}, ..]}, ..]}
"""

import json
from pathlib import Path
from typing import NamedTuple

from workflow.config.errors import ConfigError, check_known
from workflow.tasks.archives import read_plain
from workflow.tasks.sources import Source

SPLIT = {"train": "train", "restval": "train", "val": "dev", "test": "test"}
REQUIRED = {"filename": str, "split": str, "sentences": list}


class Picture(NamedTuple):
    """A picture: its file, the split it belongs to, its captions as words with spaces between them."""

    file: str
    folder: str
    split: str
    captions: list[str]


def read_captions(path: Path) -> list[Picture]:
    """All pictures of a json; `ConfigError` with the place in the file where it does not follow the schema."""
    try:
        content = json.loads(read_plain(path, Source()))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not JSON: {error}") from None
    if not isinstance(content, dict) or not isinstance(content.get("images"), list) or not content["images"]:
        raise ConfigError(f'{path}: expected an object with a list "images", as in dataset_coco.json')
    pictures = [_parse_picture(f"{path}: images[{n}]", image) for n, image in enumerate(content["images"])]
    numbers: dict[tuple, int] = {}
    for n, picture in enumerate(pictures):
        if (earlier := numbers.setdefault((picture.folder, picture.file), n)) != n:
            raise ConfigError(f"{path}: images[{n}] has the file of images[{earlier}], {ascii(picture.file)}")
    return pictures


def _parse_picture(where: str, image) -> Picture:
    for key, kind in REQUIRED.items():
        value = image.get(key) if isinstance(image, dict) else None
        if not isinstance(value, kind) or not value:
            raise ConfigError(f'{where}: "{key}" must be a {kind.__name__} that is not empty, got {str(value)[:40]!r}')
    check_known(f"split in {where}:", image["split"], SPLIT)
    folder = image.get("filepath", "")
    if not isinstance(folder, str):
        raise ConfigError(f'{where}: "filepath" must be a str, or left out, got {str(folder)[:40]!r}')
    captions = [_join_tokens(f"{where}.sentences[{n}]", sentence) for n, sentence in enumerate(image["sentences"])]
    return Picture(image["filename"], folder, SPLIT[image["split"]], captions)


def _join_tokens(where: str, sentence) -> str:
    tokens = sentence.get("tokens") if isinstance(sentence, dict) else None
    if not isinstance(tokens, list) or not tokens or not all(isinstance(word, str) and word.strip() for word in tokens):
        raise ConfigError(f'{where}: "tokens" must be a list of words, got {str(tokens)[:40]!r}')
    text = " ".join(" ".join(tokens).lower().split())
    if not text.isprintable():
        raise ConfigError(f"{where}: {ascii(text)[:60]} has characters that are no text")
    return text
