"""Texts that lie in a file: looked for in `data_dir`, else fetched."""

from workflow.data.sources.archives import plain
from workflow.data.sources.downloads import fetch
from workflow.data.sources.lookup import look, missing
from workflow.data.sources.source import Source, verify
from workflow.data.text.catalogue import USERS, Catalogue, path_of


def load(catalogue: Catalogue, name: str, data_dir: str | None) -> bytes:
    """The plain content of a text of kind `file`, its checksum verified."""
    entry = catalogue.entry(name)
    if name.startswith(USERS):
        content = path_of(name).read_bytes()
        verify(content, entry, f"corpus '{name}'", "it changed while it was read")
        return content
    if entry.prefix_of and not look(entry, data_dir):
        return _cut(catalogue, name, data_dir)
    return official(name, entry, data_dir)


def official(name: str, entry: Source, data_dir: str | None) -> bytes:
    """The plain content of one official file, from `data_dir` or fetched, its checksum verified."""
    if found := look(entry, data_dir):
        content = plain(found, entry)
        verify(content, entry, str(found), "delete or replace the file")
        return content
    return fetch(name, entry, missing(name, [entry], data_dir))


def _cut(catalogue: Catalogue, name: str, data_dir: str | None) -> bytes:
    """The first bytes of an official text, from `data_dir` or fetched; the rest of it need not be whole."""
    entry = catalogue.entry(name)
    whole = catalogue.entry(entry.prefix_of)
    if found := look(whole, data_dir):
        content = plain(found, whole, entry.bytes)
    else:
        content = fetch(entry.prefix_of, whole, missing(name, [entry, whole], data_dir))[: entry.bytes]
    verify(content, entry, f"the start of {found or entry.prefix_of}", "delete or replace the file")
    return content
