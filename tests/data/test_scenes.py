"""Drawn scenes: what is drawn, what is said of it, and the corpus made of both."""

import numpy as np

from workflow.data.captions import build as captions
from workflow.data.captions import scenes
from workflow.data.captions import store as captioned
from workflow.data.captions.scenes import Thing
from workflow.data.pairs.store import decode
from workflow.plan.scales import load_corpora


def test_a_scene_is_drawn_and_described():
    """A large white square in the middle: 15 pixels wide, from 17 to 31."""
    scene = (Thing("square", "white", "large", 1, 1),)
    picture = scenes.drawn(scene)
    white = (picture == 245).all(0)
    assert picture.shape == (3, 48, 48) and white[17:32, 17:32].all() and white.sum() == 225
    assert scenes.captions(scene)[0] == "a large white square in the middle"
    pair = (Thing("circle", "red", "small", 0, 2), Thing("ring", "blue", "large", 2, 0))
    assert scenes.captions(pair)[0] == "a small red circle above a large blue ring"
    assert scenes.captions(pair)[1] == "there is a blue ring below a red circle"
    row = (Thing("circle", "red", "small", 0, 2), Thing("ring", "blue", "large", 0, 0))
    assert scenes.captions(row)[4] == "two things , a small circle right of a blue ring"


def test_no_scene_is_drawn_twice_and_its_captions_differ():
    made = scenes.scenes()
    assert len({scenes.drawn(one).tobytes() for one in made}) == len(made) == scenes.COUNT
    assert all(len(set(scenes.captions(one))) == 5 for one in made)
    for shape in scenes.SHAPES:
        assert len({scenes.drawn((Thing(shape, "red", size, 0, 0),)).tobytes() for size in scenes.SIZES}) == 2


def test_the_scenes_are_those_of_the_catalogue(tmp_path):
    made = captions.load(load_corpora("captioning"), "scenes", None)
    captioned.write(tmp_path / "made.npz", made)
    read = captioned.read(tmp_path / "made.npz")
    assert [len(one.target) for one in (read.train, read.dev, read.test)] == [17000, 1500, 1500]
    np.testing.assert_array_equal(read.pictures, made.pictures)
    for number, ids in zip(read.test.source, read.test.target, strict=True):
        assert decode(read.symbols, ids) in read.references[int(number[0])]
    assert read.names[3999] == "scene 4000" and min(read.references) == 3400
