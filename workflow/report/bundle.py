"""Read a bundle, the results of one scale, wherever they come from. Nothing else reads results made
elsewhere.

A bundle is the folder of a scale under results/, an archive of it (`workflow.results.archive`), or
a folder that came with the project, results/precomputed/SCALE. Records lie in ../runs; costs and
other measurements in the folder itself.
"""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from workflow.config.errors import ConfigError
from workflow.config.files import PRECOMPUTED, config_file, list_folder
from workflow.config.renamed import KINDS as RENAMED
from workflow.config.strict import read_yaml
from workflow.plan.plan import plan
from workflow.plan.rows import read_plan
from workflow.results import archive
from workflow.results.record import Record
from workflow.results.registry import COSTS, OF_TEXTS
from workflow.results.runs_table import Frames, build_rows, collect_rows, join_frames
from workflow.results.store import records_beside
from workflow.settings.config import load_setup


class NothingRun(ConfigError):
    """No run of a scale has a record."""


@dataclass(frozen=True)
class Bundle:
    """The results of one scale. records: by digest. frames: all that tables, figures and claims can
    read.
    """

    name: str
    records: dict[str, Record]
    frames: Frames

    @property
    def runs(self) -> pd.DataFrame:
        return self.frames.runs


def read_bundle(path: Path) -> Bundle:
    """Read the bundle at a path, a folder or an archive; `ConfigError` in a line where there is
    nothing to read.
    """
    if not path.is_dir() and not path.is_file():
        raise ConfigError(
            f"{path}: no such bundle; "
            "expected a scale's results, such as results/laptop, or an archive"
        )
    with archive.opened(path) as scale:
        return _read_scale(scale, str(path))


def _read_scale(path: Path, name: str) -> Bundle:
    planned = _read_questions(path, name)
    store = records_beside(path)
    digests = dict.fromkeys(row["digest"] for row in planned)
    records = {digest: store.read_or_refuse(digest) for digest in digests if digest in store}
    present = [row for row in planned if row["digest"] in records]
    if not present:
        raise NothingRun(f"{name}: none of its runs has a record")
    measured = [
        file for kind in (*COSTS, *OF_TEXTS, *RENAMED) for file in list_folder(path / kind, ".json")
    ]
    layers = path / "layers.json"
    rows = dict.fromkeys(COSTS, []) | collect_rows(
        [*measured, *([layers] if layers.exists() else [])]
    )
    return Bundle(name, records, join_frames(rows | {"runs": build_rows(present, records)}, name))


def _read_questions(path: Path, name: str) -> list[dict]:
    """List which question asks for which run: as planned then, or as today's config asks for
    precomputed results.
    """
    if (path / "plan.json").exists():
        return read_plan(path / "plan.json")
    if path.resolve().parent == PRECOMPUTED:
        config = read_yaml(config_file("config.yaml")) | {"scale": path.name}
        return [row.record() for row in plan(load_setup(config))]
    scales = sorted(folder.parent.name for folder in path.glob("*/plan.json"))
    hint = f"; did you mean {path}/{scales[0]}?" if scales else ""
    raise ConfigError(
        f"{name}: no plan.json in it; expected a scale's results, such as results/laptop{hint}"
    )
