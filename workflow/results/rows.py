"""Files of rows, which say what they hold: {"kind": "runs" | "flops" | ..., "rows": [{...},
...]}.
"""

import json
from pathlib import Path

from workflow.config.errors import ConfigError, check_known
from workflow.config.files import shown_path
from workflow.config.renamed import KINDS as RENAMED
from workflow.config.strict import read_json
from workflow.results.registry import COSTS, OF_TEXTS, OVER_S

KINDS = ("runs", *COSTS, OVER_S, "layers", "reference", *OF_TEXTS)


def write_rows(kind: str, rows: list[dict]) -> str:
    """Write the text of a file of rows."""
    check_known("kind of rows", kind, KINDS)
    return json.dumps({"kind": kind, "rows": rows})


def read_rows(path: Path) -> tuple[str, list[dict]]:
    """Read (kind, rows) of one file; `ConfigError` where it is not one of this suite's."""
    content = read_json(path)
    kind = content.get("kind") if isinstance(content, dict) else None
    if isinstance(kind, str):
        kind = RENAMED.get(kind, kind)
    if kind not in KINDS:
        kinds = ", ".join(KINDS)
        raise ConfigError(f"{shown_path(path)}: expected rows of one kind: {kinds}")
    rows = content.get("rows")
    are_rows = isinstance(rows, list) and all(isinstance(row, dict) for row in rows)
    if not are_rows:
        raise ConfigError(f"{shown_path(path)}: expected a list of rows, as the workflow writes it")
    return kind, rows
