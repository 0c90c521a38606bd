"""A bundle of somebody else's results, as `merge` reads it."""

import json
import warnings
import zipfile
from collections.abc import Callable

from tests._site import SCALE
from tests.compare.test_sets import bundled, rewrite, rewrite_manifest, write_set
from tests.refused._kind import Kind

COMMAND = "cli.merge out.csv b.zip"


def kind(says: str, change: Callable[[dict], object]) -> Kind:
    return Kind(COMMAND, says, make=lambda folder: rewrite(bundled(write_set(folder)), change))


def manifest(says: str, **changes) -> Kind:
    return kind(says, lambda content: rewrite_manifest(content, **changes))


def file(says: str, name: str) -> Kind:
    return manifest(says, files={name: "0" * 64})


def twice(folder) -> None:
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(bundled(write_set(folder)), "a") as archive:
        archive.writestr("manifest.json", "{}")


def otherwise(method: int) -> Callable:
    def make(folder) -> None:
        with zipfile.ZipFile(folder / "b.zip", "w", method) as archive:
            archive.writestr("manifest.json", json.dumps({"version": 2, "scale": SCALE, "commits": [], "files": {}}))

    return make


KINDS = {
    "not there": Kind(COMMAND, "b.zip: no such results folder, precomputed set or bundle"),
    "another file": Kind(COMMAND, "not a bundle that can be read", {"b.zip": b"nonsense"}),
    "empty": Kind(COMMAND, "not a bundle that can be read", {"b.zip": b""}),
    "cut off": Kind(
        COMMAND,
        "not a bundle that can be read",
        make=lambda folder: (path := bundled(write_set(folder))).write_bytes(path.read_bytes()[:-300]),
    ),
    "no manifest": kind("which is not a bundle of this suite", lambda content: content.pop("manifest.json")),
    "two manifests": Kind(COMMAND, "manifest.json", make=twice),
    "a manifest that is none": kind("truncated or not JSON", lambda content: content.update({"manifest.json": b"{"})),
    "a manifest that is a list": kind(
        "Input should be a valid dictionary", lambda content: content.update({"manifest.json": b"[]"})
    ),
    "of another version": manifest("bundle version 1, this suite reads 2", version=1),
    "an unknown key": manifest("unknown key 'commit': did you mean 'commits'?", commit="a"),
    "a scale that leads out": manifest("scale = '../other': String should match", scale="../other"),
    "a scale that is not in it": manifest("no plan.json in it", scale="other"),
    "a file that leads out": file("'../evil' lies outside", "../evil"),
    "a file that leads out from within": file("'results/../../evil' lies outside", "results/../../evil"),
    "a file at the root": file("'/evil' lies outside", "/evil"),
    "a file on a drive": file("lies outside", "C:\\evil"),
    "a file on a drive, below": file("lies outside", "results/C:/evil"),
    "a file with a zero byte": file("lies outside", "results/a\0b"),
    "a file of neither room": file("'evil/x' lies outside", "evil/x"),
    "a hidden file": file("lies outside", "results/.bashrc"),
    "a file that is not in it": file("not a bundle that can be read", "results/none.json"),
    "another content": kind(
        "is not what the manifest says", lambda content: content.update({"reports/index.html": b"x"})
    ),
    "a file that is missing": kind("not a bundle that can be read", lambda content: content.pop("reports/index.html")),
    "packed by another method": Kind(
        COMMAND, "packed by another method than deflate", make=otherwise(zipfile.ZIP_LZMA)
    ),
    "packed by a third": Kind(COMMAND, "packed by another method than deflate", make=otherwise(zipfile.ZIP_BZIP2)),
    "a record in it that is none": kind(
        "is not what the manifest says",
        lambda content: content.update({next(name for name in content if name.endswith("record.json")): b"{}"}),
    ),
}
