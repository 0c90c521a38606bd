"""The file of a corpus that is ready for training: named arrays and their metadata as JSON, in one .npz."""

import io
import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import psutil

from workflow.config.errors import ConfigError
from workflow.config.files import atomic_write, open_zip

SPLITS = ("train", "dev", "test")


def largest() -> int:
    """Bytes that a file may unpack to: half of the memory that is free."""
    return psutil.virtual_memory().available // 2


def write_npz(path: Path, metadata: dict, arrays: dict[str, np.ndarray]) -> None:
    """Write the whole file or nothing; the same content gives the same bytes."""
    with atomic_write(path) as file:
        np.savez_compressed(file, meta=np.array(json.dumps(metadata)), **arrays)


def read_npz(path: Path, names: Iterable[str], version: int) -> tuple[dict, dict[str, np.ndarray]]:
    """Metadata and the named arrays; `ConfigError` unless all of them can be read. Nothing in the file is executed."""
    content = io.BytesIO(Path(path).read_bytes())
    try:
        with open_zip(path, largest()):
            pass
        file = np.load(content, allow_pickle=False)
        metadata = json.loads(str(file["meta"]))
        arrays = {name: file[name] for name in names}
        file_version = metadata.pop("version", None)
    except ConfigError:
        raise
    except Exception as error:  # numpy raises a dozen kinds of error on damaged files
        raise ConfigError(
            f"{path}: not a corpus of this suite, or truncated ({error}); delete it and run again"
        ) from None
    if file_version != version:
        raise ConfigError(
            f"{path}: corpus of version {file_version}, this suite reads {version}; delete it and run again"
        )
    return metadata, arrays
