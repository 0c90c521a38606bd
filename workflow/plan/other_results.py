"""Find bundles shown beside this scale's results in the ledger: precomputed ones, and those that the config names."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from workflow.config.errors import ConfigError
from workflow.config.files import PRECOMPUTED
from workflow.results.precomputed import precomputed_scales


@dataclass(frozen=True)
class OtherResults:
    """Other results in the ledger. path: a scale's folder or an archive, as `workflow.report.bundle` reads it."""

    path: Path

    @property
    def stamp(self) -> str:
        """Digest names, sizes and times of the files; of precomputed results all, because they share their records."""
        folder = PRECOMPUTED if self.path.is_relative_to(PRECOMPUTED) else self.path
        files = [self.path] if self.path.is_file() else sorted(folder.rglob("[!.]*.json"))
        seen = [(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
        return hashlib.sha256(json.dumps(seen).encode()).hexdigest()[:12]


def find_other_results(scale: str, named: list[str]) -> dict[str, OtherResults]:
    """Find other results by name; precomputed results of `scale` itself are left out, because they are its own runs.

    named: folders of other scales (`results/small`) or archives (`theirs.zip`); `ConfigError` where there is none.
    """
    results = {name: OtherResults(PRECOMPUTED / name) for name in precomputed_scales() if name != scale}
    for path in map(Path, named):
        name = path.stem if path.suffix == ".zip" else path.name
        if not (path.is_file() and path.suffix == ".zip") and not (path / "plan.json").is_file():
            raise ConfigError(f"other_results '{path}': neither a scale's results, such as results/small, nor a bundle")
        if name in results or name == scale:
            raise ConfigError(f"other_results '{path}': other results are already named {name}")
        results[name] = OtherResults(path)
    return results
