"""Where a text lies: looked for by its file names, in `data_dir` or one folder below it. Fetches nothing."""

from pathlib import Path

from workflow.config.errors import ConfigError
from workflow.data.sources.source import Source


def look(entry: Source, data_dir: str | None) -> Path | None:
    """The first of the entry's file names, plain or packed, in `data_dir` or one folder below it."""
    wanted = [name + ending for name in entry.files for ending in ("", ".gz", ".xz", ".zip")]
    for folder in data_folders(data_dir):
        for name in wanted:
            if (folder / name).is_file():
                return folder / name
    return None


def data_folders(data_dir: str | None) -> list[Path]:
    """`data_dir` and the folders in it; none where it is not set."""
    if data_dir is None:
        return []
    root = Path(data_dir).expanduser()
    if not root.is_dir():
        raise ConfigError(f"data_dir '{data_dir}': no such folder")
    return [root, *sorted(path for path in root.iterdir() if path.is_dir())]


def missing(name: str, entries: list[Source], data_dir: str | None) -> str:
    """The line that says what was looked for, and where."""
    names = ", ".join(file for entry in entries for file in entry.files)
    where = f"in data_dir '{data_dir}'" if data_dir else "as data_dir (or ATTENTION_DATA_DIR) is not set"
    known = f", {entries[0].checksum}" if entries[0].checksum else ""
    return f"data set '{name}'{known}: not found {where} ({names}; plain, .gz, .xz or .zip)"
