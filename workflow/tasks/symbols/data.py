"""A problem ready for training: its name and its symbols. Sequences are drawn as they are needed,
from a seed that is the same for every variant.
"""

from dataclasses import dataclass
from pathlib import Path

from workflow.tasks.store import open_npz, write_npz
from workflow.tasks.symbols.catalogue import Problem, SymbolCatalogue, load_problem

VERSION = 1


@dataclass(frozen=True)
class Corpus:
    """symbols: their names, V of them. checksum: of what the problem draws."""

    name: str
    symbols: list[str]
    checksum: str
    about: str

    @property
    def problem(self) -> Problem:
        return load_problem(self.name)


def write(catalogue: SymbolCatalogue, name: str, out: Path, data_dir: str | None) -> str:
    """Write the problem of a name to `out`, and return a line on it."""
    problem = catalogue.entry(name)
    metadata = {
        "version": VERSION,
        "name": name,
        "symbols": [str(number) for number in range(problem.symbols)],
        "checksum": catalogue.checksum(name),
        "about": problem.about,
    }
    write_npz(out, metadata, {})
    return f"{name}: {problem.symbols:,} symbols, sequences drawn as they are needed"


def read(path: Path) -> Corpus:
    """Read a problem; `ConfigError` where the file is truncated, foreign or of another version."""
    with open_npz(path, VERSION) as (metadata, _):
        return Corpus(**metadata)
