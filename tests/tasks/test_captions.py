"""Captioned pictures: drawn scenes, and Karpathy's json with images or features."""

import json
import os
from unittest.mock import Mock, call

import numpy as np
import pytest
from PIL import Image

from tests.tasks._texts import sizes
from workflow.config.errors import ConfigError
from workflow.tasks import sources
from workflow.tasks.captioning import scenes
from workflow.tasks.captioning.catalogue import CaptionCatalogue
from workflow.tasks.captioning.data import build_captions
from workflow.tasks.captioning.scenes import SceneObject

SPLITS = ["train", "restval", "train", "val", "test"]
CATALOGUE = CaptionCatalogue(metric="cider", captions={})


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def content(**second) -> dict:
    """Describe five pictures with two captions each; change what is said of the second."""
    images = []
    for n, split in enumerate(SPLITS):
        captions = (f"A picture {n}", f"number {n}")
        sentences = [{"tokens": caption.split()} for caption in captions]
        image = {
            "filename": f"{n}.png",
            "filepath": "sub",
            "split": split,
            "sentences": sentences,
        }
        images.append(image)
    images[1] |= second
    return {"images": images, "dataset": "toy"}


def write_data(folder, captions=None) -> str:
    """Write five pictures of 8 x 4 pixels, left half n x 10 grey, right half white."""
    images = folder / "images" / "sub"
    images.mkdir(parents=True, exist_ok=True)
    described = json.dumps(captions or content())
    (folder / "my.json").write_text(described)
    for n in range(len(SPLITS)):
        pixels = np.full((4, 8, 3), 255, np.uint8)
        pixels[:, :4] = 10 * n
        picture = Image.fromarray(pixels)
        picture.save(images / f"{n}.png")
    return f"captions:{folder / 'my.json'},{folder / 'images'}"


def test_images_are_cut_to_their_middle_and_scaled(tmp_path):
    """The middle 4 x 4 of 8 x 4 pixels: half of each colour."""
    name = write_data(tmp_path)
    corpus = build_captions(CATALOGUE, name, None)
    assert corpus.pictures.shape == (5, 3, 48, 48)
    picture = corpus.pictures[2]
    left = picture[..., :22]
    right = picture[..., 26:]
    assert (left == 20).all()
    assert (right == 255).all()
    # restval is train
    assert sizes(corpus) == [6, 2, 2]
    assert corpus.references == {
        3: ["a picture 3", "number 3"],
        4: ["a picture 4", "number 4"],
    }


def save_features(folder, features) -> str:
    """Save an array as .npy, arrays by name as .npz, bytes as they are; return the corpus."""
    write_data(folder)
    path = folder / "features.npy"
    if isinstance(features, bytes):
        path.write_bytes(features)
    elif isinstance(features, dict):
        path = path.with_suffix(".npz")
        np.savez(path, **features)
    else:
        np.save(path, features)
    return f"captions:{folder / 'my.json'},{path}"


@pytest.mark.parametrize("named", [False, True])
def test_features_of_regions_are_read_in_the_order_of_the_json_or_by_name(named, tmp_path):
    chance = np.random.default_rng(0)
    features = chance.random((5, 3, 2)).astype(np.float16)
    by_name = {f"{n}": features[n] for n in (4, 3, 2, 1, 0)}
    name = save_features(tmp_path, by_name if named else features)
    corpus = build_captions(CATALOGUE, name, None)
    np.testing.assert_array_equal(corpus.pictures, features)


SHAPES = {f"{n}": np.zeros((3, 2)) for n in range(4)}
SHAPES["4"] = np.zeros((3, 5))


@pytest.mark.parametrize(
    "features, value",
    [
        (np.zeros((4, 3, 2), np.float32), "4 x 3 x 2 of float32"),
        (np.zeros((5, 3, 2), np.int64), "5 x 3 x 2 of int64"),
        (np.full((5, 3, 2), 1e6), "65,504"),
        (b"PK\x03\x04 and no more", "BadZipFile"),
        ({"0": np.zeros((3, 2))}, "1.png"),
        (SHAPES, "shapes"),
    ],
)
def test_features_that_do_not_fit_are_refused(features, value, tmp_path):
    name = save_features(tmp_path, features)
    with pytest.raises(ConfigError, match=value):
        build_captions(CATALOGUE, name, None)


@pytest.mark.parametrize(
    "captions, value",
    [
        ({"images": []}, "images = "),
        ({"images": content()["images"][:3]}, "dev"),
        (content(filename=None), "images.1.filename = None"),
        (content(split="trian"), "'trian'.*'train'"),
        (content(sentences=[{"tokens": ["a", 3]}]), "images.1.sentences.0.tokens.1 = 3"),
        (content(sentences=[{"tokens": ["a\0"]}]), r"images\[1\].sentences\[0\].*U\+0000"),
        (content(filename="../../my.json"), "my.json"),
        (content(filename="0.png"), r"images\[1\].*'0.png'"),
        (content(filename="missing.png"), "sub/missing.png"),
        (content(filename="cut.png"), "cut.png"),
        (content(filename="deep.tif"), "deep.tif.*F"),
    ],
)
def test_captions_and_images_that_cannot_be_read_are_refused(captions, value, tmp_path):
    name = write_data(tmp_path, captions)
    images = tmp_path / "images" / "sub"
    cut = b"\x89PNG\r\n\x1a\n" + bytes(20)
    (images / "cut.png").write_bytes(cut)
    deep = Image.new("F", (8, 8), 6e4)
    deep.save(images / "deep.tif")
    with pytest.raises(ConfigError, match=value):
        build_captions(CATALOGUE, name, None)


def test_what_identifies_a_job_is_the_content_of_the_images_that_captions_name(
    tmp_path, monkeypatch
):
    before = CATALOGUE.checksum(write_data(tmp_path / "here"))
    there = tmp_path / "there"
    name = write_data(there)
    assert CATALOGUE.checksum(name) == before
    (there / "images" / ".DS_Store").write_bytes(b"left behind")
    read = Mock(side_effect=sources.file_checksum)
    monkeypatch.setattr(sources, "file_checksum", read)
    # there may be 100,000: each is read once for all processes
    assert CATALOGUE.checksum(name) == before
    assert read.mock_calls == [call(there / "my.json")]
    path = there / "images" / "sub" / "3.png"
    was = path.stat()
    path.write_bytes(b"another".ljust(was.st_size))
    # as one that was unpacked from the same archive
    os.utime(path, ns=(was.st_mtime_ns, was.st_mtime_ns))
    assert CATALOGUE.checksum(name) != before


def test_a_scene_is_drawn_and_described():
    """A large white square in the middle: 15 pixels wide, from 17 to 31."""
    scene = (SceneObject("square", "white", "large", 1, 1),)
    white = (scenes.draw(scene) == 245).all(0)
    square = white[17:32, 17:32]
    assert square.all()
    assert white.sum() == 15 * 15
    alone, *_ = scenes.write_captions(scene)
    assert alone == "a large white square in the middle"
    circle = SceneObject("circle", "red", "small", 0, 2)
    ring_below = SceneObject("ring", "blue", "large", 2, 0)
    below = scenes.write_captions((circle, ring_below))
    assert below[0] == "a small red circle above a large blue ring"
    assert below[1] == "there is a blue ring below a red circle"
    ring_left = SceneObject("ring", "blue", "large", 0, 0)
    left = scenes.write_captions((circle, ring_left))
    assert left[4] == "two things , a small circle right of a blue ring"
