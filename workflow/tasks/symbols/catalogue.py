"""The problems by name: a file in `problems/` each. Their checksums are those of what they draw."""

import ast
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Literal

import numpy as np

from workflow.config.errors import ConfigError
from workflow.config.files import list_folder
from workflow.config.job import Job
from workflow.config.strict import parse_python
from workflow.tasks.catalogue import BaseCatalogue
from workflow.tasks.symbols.problems._problem import Drawn

PROBLEMS = Path(__file__).parent / "problems"
NEEDED = ("TITLE", "SYMBOLS", "draw")
SAMPLES = 16  # that a checksum is of, at each of these lengths
LENGTHS = (8, 24)


@dataclass(frozen=True)
class Problem:
    """A problem.

    title: a few words. about: a line. symbols: how many there are, V. kind: of all datasets, where
    the data come from.
    """

    name: str
    title: str
    about: str
    symbols: int
    kind: Literal["drawn"] = "drawn"

    def draw(self, seed: tuple[int, ...], samples: int, length: int) -> Drawn:
        """Draw sequences; the same seed gives the same ones on every machine."""
        random = np.random.default_rng(seed)
        return _module(self.name).draw(random, samples, length)

    def right_keys(self, drawn: Drawn) -> np.ndarray | None:
        """Mark the keys that hold the answer to each query: N L L. None where none are named."""
        find = getattr(_module(self.name), "right_keys", None)
        return None if find is None else find(drawn)


class Problems(Mapping):
    """The problems by name. Each is imported when it is asked for: a half-written file stops no
    question that does not name it.
    """

    def __getitem__(self, name: str) -> Problem:
        if name not in known_problems():
            raise KeyError(name)
        return load_problem(name)

    def __contains__(self, name: object) -> bool:
        return name in known_problems()

    def __iter__(self) -> Iterator[str]:
        return iter(known_problems())

    def __len__(self) -> int:
        return len(known_problems())


class SymbolCatalogue(BaseCatalogue):
    """Nothing but the folder of problems lists them."""

    @property
    def entries(self) -> Problems:
        return Problems()

    def checksum(self, name: str, data_dir: str | None = None) -> str:
        return _checksum(self.entry(name))

    def most_keys(self, name: str, job: Job) -> int:
        """Count the symbols of the longest sequence that is read."""
        longest = job.training.longest * job.evaluation.multiples[-1]
        drawn = self.entry(name).draw((0,), 1, round(longest))
        return drawn.inputs.shape[1]


def known_problems() -> list[str]:
    """Name the files of problems."""
    names = [path.stem for path in list_folder(PROBLEMS, ".py")]
    return [name for name in names if not name.startswith("_")]


@cache
def load_problem(name: str) -> Problem:
    """Import a problem; `ConfigError` names its file where it is half-written."""
    where = f"workflow/tasks/symbols/problems/{name}.py"
    try:
        module = _module(name)
    except Exception as error:  # whatever a half-written module does
        raise ConfigError(f"{where}: {type(error).__name__}: {error}") from None
    for attribute in NEEDED:
        if not hasattr(module, attribute):
            raise ConfigError(f"{where}: '{attribute}' is missing")
    # from the source: Python keeps no docstrings where PYTHONOPTIMIZE=2
    docstring = ast.get_docstring(parse_python(PROBLEMS / f"{name}.py"))
    if not docstring:
        raise ConfigError(f"{where}: it needs a docstring that says what is asked")
    about = " ".join(docstring.split("\n\n")[0].split())
    return Problem(name, title=module.TITLE, about=about, symbols=module.SYMBOLS)


def _module(name: str):
    return import_module(f"workflow.tasks.symbols.problems.{name}")


@cache
def _checksum(problem: Problem) -> str:
    digest = hashlib.sha256(str(problem.symbols).encode())
    for length in LENGTHS:
        drawn = problem.draw((0, length), SAMPLES, length)
        for symbols in (drawn.inputs, drawn.targets):
            digest.update(np.ascontiguousarray(symbols, dtype="<i8").tobytes())
    return f"sha256:{digest.hexdigest()}"
