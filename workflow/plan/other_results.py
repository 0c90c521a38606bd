"""Find bundles shown beside this scale's results in the ledger: precomputed ones, and those that
the config names.
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
    """Other results, by the `name` that the ledger gives them. path: as `workflow.report.bundle`
    reads it.
    """

    name: str
    path: Path

    @property
    def stamp(self) -> str:
        """Digest the names, sizes and times of the files."""
        files = [self.path] if self.path.is_file() else self._files
        seen = [(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
        return json_checksum(seen)

    @property
    def _files(self) -> list[Path]:
        """List the files of a folder; shipped records are in it, those of a user's scale are not."""
        endings = (".json", ".jsonl", ".zip")
        files = (path for path in self.path.rglob("[!.]*") if path.suffix in endings)
        return sorted(files)


def find_bundle(key: str, word: str) -> Path:
    """Find what a config's key names: a scale's results or a bundle; `ConfigError` where it is
    neither.
    """
    path = user_path(word, f"{key} '{word}'")
    came = path.resolve() in [PRECOMPUTED / name for name in precomputed_scales()]
    if not came and not is_zipfile(path) and not (path / "plan.json").is_file():
        raise ConfigError(
            f"{key} '{word}': neither a scale's results, such as results/small, nor a bundle"
        )
    return path


def find_other_results(scale: str, named: list[str]) -> dict[str, OtherResults]:
    """Find other results by the name of their file; precomputed results of `scale` itself are its
    own runs, left out.

    named: folders of other scales (`results/small`) or archives (`theirs.zip`); `ConfigError` where
    there is none. In the ledger they are called as they are here, without results/; in names of
    files they are a digest.
    """
    results = {
        name: OtherResults(name, PRECOMPUTED / name)
        for name in precomputed_scales()
        if name != scale
    }
    for word in named:
        path = find_bundle("other_results", word)
        if path.resolve() in [PRECOMPUTED / name for name in precomputed_scales()]:
            continue  # they stand there already, or are this scale's own runs
        if path.resolve() == Path("results", scale).resolve():
            raise ConfigError(f"other_results '{word}': these are the results of {scale} itself")
        inside = path.parent == Path("results") and path.name not in results
        called = json_checksum(str(path)).removeprefix("sha256:")[:DIGITS]
        results[called] = OtherResults(path.name if inside else word, path)
    return results
