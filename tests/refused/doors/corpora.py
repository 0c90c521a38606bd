"""A data set that is ready for training, as a run reads it."""

import io
import json

import numpy as np

from tests._jobs import corpus, job, translation
from tests.refused._kind import Kind
from workflow.data.text import store

SPLITS = {split: getattr(corpus(), split) for split in ("train", "dev", "test")}
META = {"version": 1, **{key: getattr(corpus(), key) for key in store.METADATA}}


def packed(meta: object, **arrays) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, meta=np.array(meta if isinstance(meta, str) else json.dumps(meta)), **arrays)
    return file.getvalue()


def kind(says: str, content: bytes, made_for=job) -> Kind:
    files = {"job.json": made_for().canonical(), "a.npz": content}
    return Kind("scripts.train job.json --data a.npz --device cpu", says, files)


def changed(says: str, **changes) -> Kind:
    return kind(says, packed({**META, **changes}, **SPLITS))


KINDS = {
    "empty": kind("not a corpus of this suite, or truncated", b""),
    "another file": kind("not a corpus of this suite, or truncated", b"nonsense"),
    "cut off": kind("not a corpus of this suite, or truncated", packed(META, **SPLITS)[:-99]),
    "a split is missing": kind("not a corpus of this suite, or truncated", packed(META, train=SPLITS["train"])),
    "metadata that are no JSON": kind("not a corpus of this suite, or truncated", packed("{", **SPLITS)),
    "metadata that are a list": kind("not a corpus of this suite, or truncated", packed([1], **SPLITS)),
    "code": kind(
        "not a corpus of this suite, or truncated", packed(META, **(SPLITS | {"dev": np.array([print], object)}))
    ),
    "of another version": changed("corpus of version 9, this suite reads 1", version=9),
    "of other keys": changed("other keys or types", colour="red"),
    "symbols that are none": changed("other keys or types", symbols=5),
    "tokens beyond the symbols": changed("a token beyond its 1 symbols", symbols=["a"]),
    "of other types": kind("other keys or types", packed(META, **(SPLITS | {"dev": np.zeros(9)}))),
    "another than the job's": changed(
        "corpus checksum sha256:other, the job was made for sha256:toy", checksum="sha256:other"
    ),
    "a text for a translator": kind("not a corpus of this suite", packed(META, **SPLITS), translation),
}
