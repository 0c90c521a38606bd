"""Captioned pictures from their names: drawn scenes, Karpathy's json with images or features, what
is refused.
"""

import json
import os

import numpy as np
import pytest
from PIL import Image

from workflow.config.errors import ConfigError
from workflow.tasks import sources
from workflow.tasks.captioning import scenes, store
from workflow.tasks.captioning.catalogue import CaptionCatalogue
from workflow.tasks.captioning.data import build_captions
from workflow.tasks.captioning.scenes import SceneObject
from workflow.tasks.spec import load_corpora
from workflow.tasks.store import decode

SPLITS = ["train", "restval", "train", "val", "test"]
CATALOGUE = CaptionCatalogue(metric="cider", captions={})


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def content(**changes) -> dict:
    """Describe five pictures with two captions each."""
    images = []
    for n, split in enumerate(SPLITS):
        sentences = [{"tokens": ["A", "picture", f"{n}"]}, {"tokens": ["number", f"{n}"]}]
        images.append(
            {"filename": f"{n}.png", "filepath": "sub", "split": split, "sentences": sentences}
        )
    return {"images": images, "dataset": "toy", **changes}


def write_data(tmp_path, captions=None) -> str:
    """Write five pictures of 8 x 4 pixels, the left half n x 10 grey, the right one white, and name
    the dataset.
    """
    folder = tmp_path / "images" / "sub"
    folder.mkdir(parents=True, exist_ok=True)
    (tmp_path / "my.json").write_text(json.dumps(content() if captions is None else captions))
    for n in range(len(SPLITS)):
        pixels = np.full((4, 8, 3), 255, np.uint8)
        pixels[:, :4] = 10 * n
        Image.fromarray(pixels).save(folder / f"{n}.png")
    return f"captions:{tmp_path / 'my.json'},{tmp_path / 'images'}"


def test_images_are_cut_to_their_middle_and_scaled(tmp_path):
    """The middle 4 x 4 of 8 x 4 pixels: half of each colour."""
    corpus = build_captions(CATALOGUE, write_data(tmp_path), None)
    assert corpus.pictures.shape == (5, 3, 48, 48) and corpus.pictures.dtype == np.uint8
    assert (corpus.pictures[2][:, :, :22] == 20).all() and (
        corpus.pictures[2][:, :, 26:] == 255
    ).all()
    # restval is train
    assert [len(split.target) for split in (corpus.train, corpus.dev, corpus.test)] == [6, 2, 2]
    assert corpus.references == {3: ["a picture 3", "number 3"], 4: ["a picture 4", "number 4"]}


@pytest.mark.parametrize("form", ["npy", "npz"])
def test_features_of_regions_are_read_as_they_are(form, tmp_path):
    """images x regions x features in the order of the json, or an array for each file name."""
    write_data(tmp_path)
    features = np.arange(5 * 3 * 2, dtype=np.float32).reshape(5, 3, 2)
    path = tmp_path / f"features.{form}"
    if form == "npy":
        np.save(path, features)
    else:
        np.savez(path, **{f"{n}": array for n, array in reversed(list(enumerate(features)))})
    corpus = build_captions(CATALOGUE, f"captions:{tmp_path / 'my.json'},{path}", None)
    np.testing.assert_array_equal(corpus.pictures, features.astype(np.float16))


@pytest.mark.parametrize(
    "content, value",
    [
        (np.zeros((4, 3, 2), np.float32), "4 x 3 x 2 of float32"),
        (np.zeros((5, 3, 2), np.int64), "5 x 3 x 2 of int64"),
        (np.full((5, 3, 2), 1e6), "65,504"),
        (b"PK\x03\x04 and no more", "BadZipFile"),
        ({"0": np.zeros((3, 2))}, "1.png"),
        ({f"{n}": np.zeros((3, n + 1)) for n in range(5)}, "shapes"),
    ],
)
def test_features_that_do_not_fit_are_refused(content, value, tmp_path):
    write_data(tmp_path)
    path = tmp_path / ("features.npz" if isinstance(content, dict) else "features.npy")
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif isinstance(content, dict):
        np.savez(path, **content)
    else:
        np.save(path, content)
    with pytest.raises(ConfigError, match=value):
        build_captions(CATALOGUE, f"captions:{tmp_path / 'my.json'},{path}", None)


def change_image(**changes) -> dict:
    captions = content()
    captions["images"][1] |= changes
    return captions


@pytest.mark.parametrize(
    "captions, value",
    [
        ({"images": []}, "images = "),
        (change_image(filename=None), "images.1.filename = None"),
        (change_image(split="trian"), "'trian'.*'train'"),
        (change_image(sentences=[{"tokens": ["a", 3]}]), "images.1.sentences.0.tokens.1 = 3"),
        (change_image(sentences=[{"tokens": ["a\0"]}]), r"images\[1\].sentences\[0\].*U\+0000"),
        (change_image(filename="../../my.json"), "my.json"),
        (change_image(filename="0.png"), r"images\[1\].*'0.png'"),
        (change_image(filename="missing.png"), "sub/missing.png"),
        (content(images=content()["images"][:3]), "dev"),
        (change_image(filename="cut.png"), "cut.png"),
        (change_image(filename="deep.tif"), "deep.tif.*F"),
    ],
)
def test_captions_and_images_that_cannot_be_read_are_refused(captions, value, tmp_path):
    name = write_data(tmp_path, captions)
    (tmp_path / "images" / "sub" / "cut.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(20))
    Image.new("F", (8, 8), 6e4).save(tmp_path / "images" / "sub" / "deep.tif")
    with pytest.raises(ConfigError, match=value):
        build_captions(CATALOGUE, name, None)


@pytest.mark.parametrize("place", [".DS_Store", "._3.png", "sub/@eaDir/3.png", "sub/6.png"])
def test_files_that_no_caption_names_do_not_identify_the_job(place, tmp_path):
    name = write_data(tmp_path)
    before = CATALOGUE.checksum(name)
    path = tmp_path / "images" / place
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"left behind")
    assert CATALOGUE.checksum(name) == before


def test_an_image_of_the_same_size_and_date_is_another_job(tmp_path):
    name = write_data(tmp_path)
    before = CATALOGUE.checksum(name)
    path = tmp_path / "images" / "sub" / "3.png"
    was = path.stat()
    path.write_bytes(b"another".ljust(was.st_size))
    # as one that was unpacked from the same archive
    os.utime(path, ns=(was.st_mtime_ns, was.st_mtime_ns))
    assert CATALOGUE.checksum(name) != before


def test_pictures_are_the_same_in_another_folder_and_read_once(tmp_path, monkeypatch):
    """Once for all processes: there may be 100,000."""
    before = CATALOGUE.checksum(write_data(tmp_path / "here"))
    name = write_data(tmp_path / "there")
    assert CATALOGUE.checksum(name) == before
    read, digest = [], sources.file_checksum
    monkeypatch.setattr(sources, "file_checksum", lambda path: read.append(path) or digest(path))
    assert CATALOGUE.checksum(name) == before and read == [tmp_path / "there" / "my.json"]
    # where nothing can be kept, they are read again
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/none")
    assert CATALOGUE.checksum(name) == before and len(read) == 7


# Drawn scenes


def test_a_scene_is_drawn_and_described():
    """A large white square in the middle: 15 pixels wide, from 17 to 31."""
    scene = (SceneObject("square", "white", "large", 1, 1),)
    picture = scenes.draw(scene)
    white = (picture == 245).all(0)
    assert picture.shape == (3, 48, 48) and white[17:32, 17:32].all() and white.sum() == 225
    assert scenes.write_captions(scene)[0] == "a large white square in the middle"
    pair = (SceneObject("circle", "red", "small", 0, 2), SceneObject("ring", "blue", "large", 2, 0))
    assert scenes.write_captions(pair)[0] == "a small red circle above a large blue ring"
    assert scenes.write_captions(pair)[1] == "there is a blue ring below a red circle"
    row = (SceneObject("circle", "red", "small", 0, 2), SceneObject("ring", "blue", "large", 0, 0))
    assert scenes.write_captions(row)[4] == "two things , a small circle right of a blue ring"


@pytest.mark.slow
def test_the_scenes_are_those_of_the_catalogue(tmp_path):
    corpus = build_captions(load_corpora("captioning"), "scenes", None)
    store.write(tmp_path / "corpus.npz", corpus)
    copy = store.read(tmp_path / "corpus.npz")
    assert [len(split.target) for split in (copy.train, copy.dev, copy.test)] == [17000, 1500, 1500]
    np.testing.assert_array_equal(copy.pictures, corpus.pictures)
    for number, ids in zip(copy.test.source, copy.test.target, strict=True):
        assert decode(copy.symbols, ids) in copy.references[int(number[0])]
    assert copy.names[3999] == "scene 4000" and min(copy.references) == 3400
