"""Say what failed and where the report is: `python -m workflow.scripts.summary`."""

from pathlib import Path

from workflow.cli._main import run
from workflow.config.errors import ConfigError
from workflow.config.strict import parse_json
from workflow.results.record import read_record
from workflow.results.runs_table import MEASURES


def broken(results: Path) -> list[str]:
    """One line per run of the plan that failed or left no record, and per failed measure."""
    path = results / "plan.json"
    if not path.exists():
        return [f"{path}: not made, so nothing was run: see logs/jobs.log"]
    plan = parse_json(path.read_bytes(), str(path))
    names = {row["digest"]: f"{row['ablation']}: {row['variant']} ({row['digest']})" for row in reversed(plan)}
    cells = {row["configuration"]: names[row["digest"]] for row in reversed(plan)}
    runs = {digest: _run(results / "runs" / digest / "record.json", digest) for digest in sorted(names)}
    lines = [f"{names[digest]}: {found}" for digest, found in runs.items() if found]
    for kind in MEASURES:
        lines += _measures(results / "measures" / f"{kind}.json", cells)
    lines += _layers(results / "measures" / "layers.json")
    return [" ".join(line.split()) for line in lines]


def _run(path: Path, digest: str) -> str | None:
    """What went wrong with one run; nothing where it ended well."""
    if not path.exists():
        return f"not run: see logs/train/{digest}.log"
    try:
        record = read_record(path)
    except (ConfigError, OSError) as error:
        return f"unreadable: {error}"
    return None if record.status == "ok" else f"{record.status}: {record.reason}"


def _measures(path: Path, cells: dict[str, str]) -> list[str]:
    """What went wrong in the measures of one kind."""
    return _bad(
        path, lambda one: f"{cells[one['configuration']]}: {path.stem}", lambda one: one["configuration"] in cells
    )


def _layers(path: Path) -> list[str]:
    """What went wrong in the measures of layers that belong to no run."""
    return _bad(path, lambda one: f"layers: {one['layer']}, n = {one['n']}")


def _bad(path: Path, name, counts=lambda one: True) -> list[str]:
    """Status and reason of each measure of a file that counts and is not well, after its name."""
    if not path.exists():
        return []
    try:
        found = parse_json(path.read_bytes(), str(path))
    except ConfigError as error:
        return [f"unreadable: {error}"]
    bad = [one for one in found if counts(one) and one["status"] != "ok"]
    return [f"{name(one)}: {one['status']}: {one['reason']}" for one in bad]


def main(argv: list[str] | None = None) -> None:
    lines = broken(Path("results"))
    print("\n".join(["failed:", *(f"  {line}" for line in lines)]) if lines else "no failed cells")
    index = Path("reports/index.html")
    print(f"report: {index.resolve()}" if index.exists() else "report: not written yet")


if __name__ == "__main__":
    run(main)
