"""Texts of kind `file`: the user's own, or official ones that are found in `data_dir`, else fetched."""

from workflow.tasks.archives import read_plain
from workflow.tasks.char_lm.catalogue import USER_PREFIX, TextCatalogue, path_of
from workflow.tasks.downloads import fetch
from workflow.tasks.lookup import describe_missing, find_file
from workflow.tasks.official import read_official
from workflow.tasks.sources import verify_checksum


def read_file(catalogue: TextCatalogue, name: str, data_dir: str | None) -> bytes:
    """The plain content of a text of kind `file`, its checksum verified."""
    entry = catalogue.entry(name)
    if name.startswith(USER_PREFIX):
        content = path_of(name).read_bytes()
        verify_checksum(content, entry, f"corpus '{name}'", "it changed while it was read")
        return content
    if entry.prefix_of and not find_file(entry, data_dir):
        return _read_prefix(catalogue, name, data_dir)
    return read_official(name, entry, data_dir)


def _read_prefix(catalogue: TextCatalogue, name: str, data_dir: str | None) -> bytes:
    """The first bytes of an official text, found or fetched; the rest of a file that is found may be missing."""
    entry = catalogue.entry(name)
    official = catalogue.entry(entry.prefix_of)
    if path := find_file(official, data_dir):
        content = read_plain(path, official, entry.bytes)
    else:
        content = fetch(entry.prefix_of, official, describe_missing(name, [entry, official], data_dir))[: entry.bytes]
    verify_checksum(content, entry, f"the start of {path or entry.prefix_of}", "delete or replace the file")
    return content
