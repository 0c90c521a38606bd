"""Results shown next to this scale's in the ledger: those that came with the project or that the config names."""

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from workflow.config.errors import ConfigError
from workflow.config.files import PRECOMPUTED, config_names
from workflow.plan.scales import load_scale


@dataclass(frozen=True)
class OtherResults:
    """A scale's folder, a folder of records that came with the project, or a bundle."""

    path: Path

    @property
    def stamp(self) -> str:
        """Changes with the files."""
        files = [self.path] if self.path.is_file() else sorted(self.path.rglob("*.json"))
        seen = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
        return hashlib.sha256(json.dumps(seen).encode()).hexdigest()[:12]


def find_other_results(scale: str, named: list[str]) -> dict[str, OtherResults]:
    """By name. Records of this very scale that came with the project are left out: they are its own runs.

    named: folders of other scales (`results/small`) or bundles (`theirs.zip`); `ConfigError` where there is none.
    """
    folders = (folder for folder in sorted(PRECOMPUTED.glob("*")) if folder.is_dir())
    results = {folder.name: OtherResults(folder) for folder in folders if folder.name != scale}
    for path in map(Path, named):
        name = path.stem if path.suffix == ".zip" else path.name
        if not (path.is_file() and path.suffix == ".zip") and not (path / "plan.json").is_file():
            raise ConfigError(f"other_results '{path}': neither a scale's results, such as results/small, nor a bundle")
        if name in results or name == scale:
            raise ConfigError(f"other_results '{path}': other results are already named {name}")
        results[name] = OtherResults(path)
    return results


@cache
def strength(scale: str) -> float:
    """Of what is measured at a scale: the work of its largest training. A scale that is not known here has none."""
    return max((load_scale(scale, task).work for task in config_names(f"scales/{scale}")), default=0.0)
