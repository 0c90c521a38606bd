"""Find a file by its names in `data_dir` or one folder below it. Nothing is fetched."""

from pathlib import Path

from workflow.config.errors import ConfigError
from workflow.config.files import user_path
from workflow.tasks.sources import Source


def find_file(source: Source, data_dir: str | None) -> Path | None:
    """The first of the source's file names, plain or packed, in `data_dir` or one folder below it."""
    names = [name + ending for name in source.files for ending in ("", ".gz", ".xz", ".zip")]
    for folder in data_folders(data_dir):
        for name in names:
            if (folder / name).is_file():
                return folder / name
    return None


def data_folders(data_dir: str | None) -> list[Path]:
    """`data_dir` and the folders in it; none where it is not set."""
    if data_dir is None:
        return []
    root = user_path(data_dir, f"data_dir '{data_dir}'")
    if not root.is_dir():
        raise ConfigError(f"data_dir '{data_dir}': no such folder")
    return [root, *sorted(path for path in root.iterdir() if path.is_dir())]


def describe_missing(name: str, sources: list[Source], data_dir: str | None) -> str:
    """The beginning of an error message: which files were looked for, and where."""
    names = ", ".join(file for source in sources for file in source.files)
    checksum = f", {sources[0].checksum}" if sources[0].checksum else ""
    where = describe_data_dir(data_dir)
    return f"data set '{name}'{checksum}: not found {where} ({names}; plain, .gz, .xz or .zip)"


def describe_data_dir(data_dir: str | None) -> str:
    return f"in data_dir '{data_dir}'" if data_dir else "as data_dir (or ATTENTION_DATA_DIR) is not set"
