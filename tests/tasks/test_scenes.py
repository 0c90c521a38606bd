"""Drawn scenes: what is drawn, what is said of it, and the corpus made of both."""

import numpy as np
import pytest

from workflow.plan.scales import load_corpora
from workflow.tasks.captioning import scenes, store
from workflow.tasks.captioning.data import build_captions
from workflow.tasks.captioning.scenes import SceneObject
from workflow.tasks.store import decode


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
