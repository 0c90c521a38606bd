"""Evidence and ledgers as files: lines of claims, each as `workflow.report.claims.ledger` makes it."""

from collections.abc import Iterable
from pathlib import Path

from workflow.config.errors import ConfigError
from workflow.config.strict import read_json
from workflow.report.claims.ledger import ALWAYS, CLAIMED, EMPTY

LINE = frozenset({*EMPTY, *CLAIMED, *ALWAYS})


def read_lines(path: Path, keys: Iterable[str], more: Iterable[str] = ()) -> dict:
    """A file of evidence, or the ledger: `keys` and "claims", lines with the keys `LINE` and `more`."""
    content = read_json(path)
    missing = {"claims", *keys} - set(content if isinstance(content, dict) else ())
    if missing:
        raise ConfigError(f"{path}: expected evidence as the workflow writes it: no '{min(missing)}'")
    for number, line in enumerate(content["claims"] if isinstance(content["claims"], list) else ["?"]):
        if missing := {*LINE, *more} - set(line if isinstance(line, dict) else ()):
            where = f"{path}: claim {number}"
            raise ConfigError(f"{where}: expected evidence as the workflow writes it: no '{min(missing)}'")
    return content
