"""The content of an official file: found in `data_dir`, else fetched."""

from workflow.tasks.archives import read_plain
from workflow.tasks.downloads import fetch
from workflow.tasks.lookup import describe_missing, find_file
from workflow.tasks.sources import Source, verify_checksum


def read_official(name: str, source: Source, data_dir: str | None) -> bytes:
    """The plain content of one official file, its checksum verified."""
    if path := find_file(source, data_dir):
        content = read_plain(path, source)
        verify_checksum(content, source, str(path), "delete or replace the file")
        return content
    return fetch(name, source, describe_missing(name, [source], data_dir))
