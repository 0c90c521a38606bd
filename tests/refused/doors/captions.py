"""Captioned pictures of the user's own, `captions:JSON,IMAGES`."""

import io

import numpy as np
from PIL import Image

from tests.data.test_captions import change_image, content
from tests.refused._kind import Kind


def picture(form: str = "PNG", mode: str = "RGB") -> bytes:
    file = io.BytesIO()
    Image.new(mode, (8, 8)).save(file, form)
    return file.getvalue()


def array(values: np.ndarray, **options) -> bytes:
    file = io.BytesIO()
    np.save(file, values, **options)
    return file.getvalue()


PICTURES = {f"images/sub/{n}.png": picture() for n in range(5)}
POSTSCRIPT = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 8 8\n(touch evil) system\n"


def kind(says: str, captions: object = None, files: dict | None = None, words: str = "a.json,images") -> Kind:
    lies = {"a.json": content() if captions is None else captions, **PICTURES, **(files or {})}
    return Kind(f"scripts.corpus captions:{words} out.npz", says, lies)


def features(says: str, values: bytes, name: str = "f.npy") -> Kind:
    return kind(says, files={name: values}, words=f"a.json,{name}")


KINDS = {
    "one path": kind("expected captions:JSON,IMAGES", words="a.json"),
    "no json": kind("none.json: no such file", words="none.json,images"),
    "no images": kind("none: no such folder of images", words="a.json,none"),
    "no JSON": kind("not JSON", "{"),
    "a list": kind('expected an object with a list "images"', []),
    "no picture": kind('expected an object with a list "images"', {"images": []}),
    "a name that is none": kind('images[1]: "filename" must be a str', change_image(filename=None)),
    "an unknown split": kind("images[1]: 'trian': did you mean 'train'?", change_image(split="trian")),
    "no caption": kind('"sentences" must be a list that is not empty', change_image(sentences=[])),
    "a caption of no words": kind('"tokens" must be a list of words', change_image(sentences=[{"tokens": [1]}])),
    "a caption that moves the cursor": kind(
        "characters that are no text", change_image(sentences=[{"tokens": ["\x1b[2J"]}])
    ),
    "half a letter": kind("a.json", '{"images": [{"filename": "\\ud800"}]}'),
    "the same picture twice": kind("images[1] has the file of images[0]", change_image(filename="0.png")),
    "a picture of another folder": kind("lies outside the folder of images", change_image(filename="../../a.json")),
    "a picture at the root": kind("lies outside the folder of images", change_image(filename="/etc/passwd")),
    "a picture that is not there": kind("9.png: no such image", change_image(filename="9.png")),
    "a picture that is none": kind("not an image that can be read", files={"images/sub/3.png": b"nonsense"}),
    "a picture cut off": kind("not an image that can be read", files={"images/sub/3.png": picture("JPEG")[:200]}),
    "a picture that is a program": kind("not an image that can be read", files={"images/sub/3.png": POSTSCRIPT}),
    "a picture of 16 bits": kind("pixels of mode I;16", files={"images/sub/3.png": picture(mode="I;16")}),
    "features of four": features("4 x 3 x 2 of float64; expected 5 x regions", array(np.zeros((4, 3, 2)))),
    "features of whole numbers": features("5 x 3 x 2 of int64; expected", array(np.zeros((5, 3, 2), int))),
    "features that are none": features("some features are not finite", array(np.full((5, 3, 2), np.nan))),
    "features of code": features("not features that can be read", array(np.array([print], object), allow_pickle=True)),
    "features cut off": features("not features that can be read", array(np.zeros((5, 3, 2)))[:-9]),
    "features of another kind": features("not features that can be read", b"PK\x03\x04 and no more", "f.npz"),
}
