"""Find results of other scales and other machines, which the ledger shows with this scale's.

They ship with the project, or are folders and archives that the config names.
"""

from dataclasses import dataclass
from pathlib import Path
from zipfile import is_zipfile

from workflow.config.errors import ConfigError
from workflow.config.files import PRECOMPUTED, user_path
from workflow.plan.sources import DIGITS
from workflow.results.precomputed import precomputed_scales
from workflow.tasks.sources import json_checksum


@dataclass(frozen=True)
class OtherResults:
    """Other results, by the `name` that the ledger gives them.

    path: as `workflow.report.bundle` reads it.
    """

    name: str
    path: Path

    @property
    def stamp(self) -> str:
        """Digest the names, sizes and times of the files."""
        files = [self.path] if self.path.is_file() else self._files
        seen = []
        for file in files:
            about = file.stat()
            seen.append((str(file), about.st_size, about.st_mtime_ns))
        return json_checksum(seen)

    @property
    def _files(self) -> list[Path]:
        """List the files of a folder; shipped records are in it, a user's are not."""
        endings = (".json", ".jsonl", ".zip")
        files = (path for path in self.path.rglob("[!.]*") if path.suffix in endings)
        return sorted(files)


def find_bundle(key: str, word: str) -> Path:
    """Find what a config's key names: a scale's results or a bundle; else `ConfigError`."""
    path = user_path(word, f"{key} '{word}'")
    if not _ships(path) and not is_zipfile(path) and not (path / "plan.json").is_file():
        raise ConfigError(
            f"{key} '{word}': neither a scale's results, such as results/small, nor a bundle"
        )
    return path


def _ships(path: Path) -> bool:
    """Say whether a path is that of results that ship with the project."""
    return path.resolve() in [PRECOMPUTED / name for name in precomputed_scales()]


def find_other_results(scale: str, named: list[str]) -> dict[str, OtherResults]:
    """Find other results by the name of their file.

    Precomputed results of `scale` itself are its own runs, left out.

    named: folders of other scales (`results/small`) or archives (`theirs.zip`); `ConfigError` where
    there is none. In the ledger they are called as they are here, without results/; in names of
    files they are a digest.
    """
    results = {}
    for name in precomputed_scales():
        if name != scale:
            results[name] = OtherResults(name, PRECOMPUTED / name)
    for word in named:
        path = find_bundle("other_results", word)
        if _ships(path):
            continue  # they are listed already, or are this scale's own runs
        if path.resolve() == Path("results", scale).resolve():
            raise ConfigError(f"other_results '{word}': these are the results of {scale} itself")
        is_a_scale = path.parent == Path("results") and path.name not in results
        called = json_checksum(str(path)).removeprefix("sha256:")[:DIGITS]
        results[called] = OtherResults(path.name if is_a_scale else word, path)
    return results
