"""Draw the records that an audit trains again: of those that came with the project, or of another's bundle."""

import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workflow.config.errors import ConfigError
from workflow.config.files import PRECOMPUTED, user_path
from workflow.config.strict import read_json
from workflow.plan.planned_runs import PlannedRuns
from workflow.results import archive

SHORT = 40  # seconds that a run took which is drawn before longer ones: three of them fit into two minutes


@contextmanager
def runs_of(path: str | None) -> Iterator[Path]:
    """Yield the folder with the records of a scale's results or a bundle; None: of what came with the project."""
    if path is None:
        yield PRECOMPUTED / "runs"
        return
    place = user_path(path, f"audit_of '{path}'")
    if (place / "plan.json").is_file():
        yield place.parent / "runs"
        return
    if not place.is_file():
        raise ConfigError(f"audit_of '{path}': neither a scale's results, such as results/small, nor a bundle")
    with tempfile.TemporaryDirectory() as folder:
        archive.unpack(place, Path(folder))
        yield Path(folder, "results", "runs")


def recorded(runs: PlannedRuns, folder: Path) -> list[str]:
    """List the runs of a plan that have a record there, and whose data set is at hand."""
    known = (digest for digest, job in runs.jobs.items() if job.corpus not in runs.missing)
    return sorted(digest for digest in known if (folder / digest / "record.json").is_file())


def draw(runs: PlannedRuns, wanted: int | str, seed: str, of: str | None) -> list[str]:
    """Draw so many runs, or take all of a question; `ConfigError` where none has a record.

    Short ones first, and among them as the seed has it: whoever names the seed, and not who made the records, chooses.
    """
    with runs_of(of) as folder:
        found = recorded(runs, folder)
        if isinstance(wanted, str):
            found = [digest for digest in found if digest in {row.job.digest for row in runs.rows_of(wanted)}]
            wanted = len(found)
        if not found:
            raise ConfigError("audit: none of the runs of this config has a record there")
        random.Random(seed).shuffle(found)
        return sorted(found, key=lambda digest: _seconds(folder / digest / "record.json") > SHORT)[:wanted]


def _seconds(path: Path) -> float:
    """Return how long a run took, as its record says, edited or not; of one that failed, forever."""
    record = read_json(path)
    cost = record.get("cost") if isinstance(record, dict) else None
    return float((cost or {}).get("seconds", "inf"))
