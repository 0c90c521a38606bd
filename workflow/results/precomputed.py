"""What came with the project, made on other machines: results/precomputed, with the folders of a bundle's results.

runs/DIGEST/record.json: each run. SCALE/KIND/all.json: the costs of all configurations of a scale. Beside them stands
what was measured of the scale as a whole, and SCALE/settings.json, which says with which settings.
"""

from functools import cache
from pathlib import Path

from workflow.config.files import PRECOMPUTED
from workflow.config.strict import read_json
from workflow.results.registry import OF_TEXTS
from workflow.results.rows import read_rows

SETTINGS = "settings.json"
NOT_MEASURED = "not measured: the scale was run in part"  # the reason of what nobody tried
NOT_RUN = "not run"  # the status of what nobody tried: it is no failure


def precomputed_scales() -> list[str]:
    """Name the scales whose results came with the project."""
    return sorted(path.parent.name for path in PRECOMPUTED.glob(f"*/{SETTINGS}"))


def precomputed(digest: str) -> Path | None:
    """Find the record of this job, if it came with the project."""
    path = PRECOMPUTED / "runs" / digest / "record.json"
    return path if path.exists() else None


@cache
def precomputed_costs(kind: str, scale: str = "*") -> list[dict]:
    """Read the rows of one kind of cost, one for each configuration."""
    return [row for file in sorted(PRECOMPUTED.glob(f"{scale}/{kind}/all.json")) for row in read_rows(file)[1]]


def came_with(scale: str, name: str, settings: str) -> bool:
    """Say whether KIND/NAME, measured of a scale as a whole, came with the project and had these settings."""
    path = PRECOMPUTED / scale / SETTINGS
    return path.exists() and read_json(path).get(name) == settings


def file_of_scale(name: str) -> str:
    """Name the file of KIND/NAME in a scale's folder: KIND/NAME.json where it is of a text, else KIND.json."""
    kind = name.partition("/")[0]
    return f"{name}.json" if kind in OF_TEXTS else f"{kind}.json"
