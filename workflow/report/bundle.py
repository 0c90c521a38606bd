"""A set of results from a scale's folder under results/, a folder of results/precomputed, or a bundle."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from workflow.compare import bundles
from workflow.config.errors import ConfigError
from workflow.config.files import ROOT
from workflow.config.strict import read_json, read_yaml
from workflow.plan.config import load_config
from workflow.plan.plan import plan, read_plan
from workflow.results.precomputed import content_of
from workflow.results.record import Record, read_record
from workflow.results.registry import COSTS
from workflow.results.rows import rows_of
from workflow.results.runs_table import as_frame, as_layers, build_rows, check_layers


@dataclass(frozen=True)
class ResultSet:
    """runs: a frame of every record, with all costs, as `workflow.results.runs_table` makes it. records: by digest.

    layers: of Attention Is All You Need, Table 1; None where they were not timed.
    """

    name: str
    runs: pd.DataFrame
    records: dict[str, Record]
    layers: pd.DataFrame | None


def read_set(path: Path) -> ResultSet:
    """`ConfigError` in a line where there is nothing to read."""
    if path.is_file():
        with tempfile.TemporaryDirectory() as folder:
            manifest = bundles.unpack(path, Path(folder))
            return _read_scale(Path(folder) / "results" / manifest.scale, str(path))
    if not path.is_dir():
        raise ConfigError(f"{path}: no such results folder, precomputed set or bundle")
    return _read_scale(path, str(path)) if (path / "plan.json").exists() else _read_precomputed(path)


def _read_scale(path: Path, name: str) -> ResultSet:
    """The folder of one scale; the records of all scales are next to it."""
    if not (path / "plan.json").exists():
        raise ConfigError(f"{name}: no plan.json in it; expected a scale's results, such as results/laptop")
    rows = read_plan(path / "plan.json")
    files = {row["digest"]: path.parent / "runs" / row["digest"] / "record.json" for row in rows}
    records = {digest: read_record(file) for digest, file in files.items() if file.exists()}
    costs = {kind: _read_costs(kind, sorted((path / kind).glob("*.json"))) for kind in COSTS}
    timed = path / "layers.json"
    layers = _read_layers({timed: read_json(timed)} if timed.exists() else {})
    return _join(name, rows, records, costs, layers)


def _read_precomputed(path: Path) -> ResultSet:
    """Records by digest in one folder; their ablations are planned again from the config of their scale."""
    records = {file.stem: read_record(file) for file in sorted(path.glob("*.json"))}
    if not records:
        scales = sorted(folder.parent.name for folder in path.glob("*/plan.json"))
        hint = f"; did you mean {path}/{scales[0]}?" if scales else ""
        raise ConfigError(f"{path}: neither plan.json nor records in it; expected results of this suite{hint}")
    config = read_yaml(ROOT / "config" / "config.yaml")
    scales = sorted({record.job.scale for record in records.values()})
    rows = [row.record() for scale in scales for row in plan(load_config({**config, "scale": scale}))]
    costs = {kind: _read_costs(kind, sorted((path / "costs").glob(f"{kind}.json"))) for kind in COSTS}
    layers = _read_layers({file: content_of(file) for file in sorted(path.glob("whole/layers/*.json"))})
    return _join(str(path), rows, records, costs, layers)


def _read_costs(kind: str, files: list[Path]) -> list[dict]:
    return [row for file in files for row in rows_of(kind, read_json(file), file)]


def _read_layers(contents: dict[Path, object]) -> pd.DataFrame | None:
    """The layers in what was read from these files; None of no file."""
    rows = [row for file, content in contents.items() for row in check_layers(rows_of("layers", content, file), file)]
    return as_layers(rows) if contents else None


def _join(
    name: str,
    rows: list[dict],
    records: dict[str, Record],
    costs: dict[str, list[dict]],
    layers: pd.DataFrame | None,
) -> ResultSet:
    for digest, record in records.items():
        if record.digest != digest:
            raise ConfigError(f"{name}: the record of {digest} says that it is {record.digest}'s")
    present = [row for row in rows if row["digest"] in records]
    if not present:
        raise ConfigError(f"{name}: none of its {len(records)} records belongs to its plan")
    try:
        return ResultSet(name, as_frame(build_rows(present, records), costs), records, layers)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"{type(error).__name__}: {error}"
        raise ConfigError(f"{name}: measures or facts that are not this suite's ({what})") from None
