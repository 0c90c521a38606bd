"""What came with the project, made on other machines: results/precomputed/SCALE/DIGEST.json, and costs/ beside them.

whole/KIND/NAME.json beside them holds what is measured of a scale as a whole, with the settings that it was made with.
"""

from functools import cache
from pathlib import Path

from workflow.config.files import PRECOMPUTED
from workflow.config.strict import StrictModel, parse, read_json
from workflow.results.registry import OF_TEXTS
from workflow.results.rows import read_rows


def precomputed(digest: str) -> Path | None:
    """The record of this job among those that came with the project."""
    return next(iter(sorted(PRECOMPUTED.glob(f"*/{digest}.json"))), None)


class Whole(StrictModel):
    """The file of what is measured of a scale as a whole. settings: what it was made with. content: the file itself."""

    settings: str
    content: dict

    @classmethod
    def read(cls, path: Path) -> "Whole":
        return parse(cls, read_json(path), str(path))


@cache
def precomputed_costs(kind: str, scale: str = "*") -> list[dict]:
    """The rows of one kind of cost, one for each configuration."""
    return [row for file in sorted(PRECOMPUTED.glob(f"{scale}/costs/{kind}.json")) for row in read_rows(file)[1]]


def came_with(scale: str, name: str, settings: str) -> dict | None:
    """The content of KIND/NAME, measured of a scale as a whole, if it came with the project and had these settings."""
    path = PRECOMPUTED / scale / "whole" / f"{name}.json"
    kept = Whole.read(path) if path.exists() else None
    return kept.content if kept and kept.settings == settings else None


def content_of(path: Path) -> dict:
    """What whole/KIND/NAME.json holds, whatever the settings it was made with."""
    return Whole.read(path).content


def file_of_scale(folder: str, name: str) -> str:
    """Where the workflow keeps KIND/NAME: of a text under its kind, of the scale under the kind's name."""
    kind = name.partition("/")[0]
    return f"results/{folder}/{name}.json" if kind in OF_TEXTS else f"results/{folder}/{kind}.json"
