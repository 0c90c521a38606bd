"""A set of results, read alike wherever it comes from: a results folder, a set under results/precomputed, or a bundle."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from workflow.compare import bundles
from workflow.config.errors import ConfigError
from workflow.config.strict import parse_json, read_yaml
from workflow.plan.ablations import CONFIG, load_config
from workflow.plan.plan import plan, read_plan
from workflow.results.record import Record, read_record
from workflow.results.runs_table import MEASURES, frame, gather


@dataclass(frozen=True)
class Results:
    """runs: as `workflow.results.runs_table` makes them, of every record that is there; records by digest."""

    name: str
    runs: pd.DataFrame
    records: dict[str, Record]


def read(path: Path) -> Results:
    """`ConfigError` in a line where there is nothing to read."""
    if path.is_file():
        with tempfile.TemporaryDirectory() as folder:
            bundles.unpack(path, Path(folder))
            return _folder(Path(folder) / "results", str(path))
    if not path.is_dir():
        raise ConfigError(f"{path}: no such results folder, published set or bundle")
    return _folder(path, str(path)) if (path / "plan.json").exists() else _published(path)


def _folder(path: Path, name: str) -> Results:
    if not (path / "plan.json").exists():
        raise ConfigError(f"{name}: no plan.json in it; expected a results folder that the workflow has written")
    rows = read_plan(path / "plan.json")
    files = {row["digest"]: path / "runs" / row["digest"] / "record.json" for row in rows}
    return _made(name, rows, {digest: read_record(file) for digest, file in files.items() if file.exists()}, path)


def _published(path: Path) -> Results:
    """Records by digest in one folder; who asked for them is planned again from the config of their scale."""
    found = {file.stem: read_record(file) for file in sorted(path.glob("*.json"))}
    if not found:
        raise ConfigError(f"{path}: neither plan.json nor records in it; expected results of this suite")
    config = read_yaml(CONFIG / "config.yaml")
    scales = sorted({record.job.scale for record in found.values()})
    asked = [row for scale in scales for row in plan(load_config({**config, "scale": scale}))]
    rows = [{**row.model_dump(), "digest": row.job.digest, "configuration": row.job.configuration} for row in asked]
    return _made(str(path), rows, found, path)


def _made(name: str, rows: list[dict], records: dict[str, Record], path: Path) -> Results:
    for digest, record in records.items():
        if record.digest != digest:
            raise ConfigError(f"{name}: the record of {digest} says that it is {record.digest}'s")
    there = [row for row in rows if row["digest"] in records]
    if not there:
        raise ConfigError(f"{name}: none of its {len(records)} records is asked for by its plan")
    files = {kind: path / "measures" / f"{kind}.json" for kind in MEASURES}
    measures = {kind: parse_json(one.read_bytes(), str(one)) for kind, one in files.items() if one.exists()}
    try:
        return Results(name, frame(gather(there, records, measures)), records)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ConfigError(
            f"{name}: measures or facts that are not this suite's ({type(error).__name__}: {error})"
        ) from None
