"""Texts that lie in a file: looked for in `data_dir`, else fetched."""

from pathlib import Path

from workflow.choices import Refused
from workflow.corpora.archives import plain
from workflow.corpora.catalogue import USERS, Catalogue, Entry, path_of, verify
from workflow.corpora.downloads import fetch


def load(catalogue: Catalogue, name: str, data_dir: str | None) -> bytes:
    """The plain content of a text of kind `file`, its checksum verified."""
    entry = catalogue.entry(name)
    if name.startswith(USERS):
        content = path_of(name).read_bytes()
        verify(content, entry, f"corpus '{name}'", "it changed while it was read")
        return content
    if found := look(entry, data_dir):
        content = plain(found, entry)
        verify(content, entry, str(found), "delete or replace the file")
        return content
    if entry.prefix_of:
        return _cut(catalogue, name, data_dir)
    return fetch(name, entry, _missing(name, [entry], data_dir))


def _cut(catalogue: Catalogue, name: str, data_dir: str | None) -> bytes:
    """The first bytes of an official text, from `data_dir` or fetched; the rest of it need not be whole."""
    entry = catalogue.entry(name)
    whole = catalogue.entry(entry.prefix_of)
    if found := look(whole, data_dir):
        content = plain(found, whole, entry.bytes)
    else:
        content = fetch(entry.prefix_of, whole, _missing(name, [entry, whole], data_dir))[: entry.bytes]
    verify(content, entry, f"the start of {found or entry.prefix_of}", "delete or replace the file")
    return content


def look(entry: Entry, data_dir: str | None) -> Path | None:
    """The first of the entry's file names, plain or packed, in `data_dir` or one folder below it."""
    if data_dir is None:
        return None
    root = Path(data_dir).expanduser()
    if not root.is_dir():
        raise Refused(f"data_dir '{data_dir}': no such folder")
    wanted = [name + ending for name in entry.files for ending in ("", ".gz", ".zip")]
    for folder in (root, *sorted(path for path in root.iterdir() if path.is_dir())):
        for name in wanted:
            if (folder / name).is_file():
                return folder / name
    return None


def _missing(name: str, entries: list[Entry], data_dir: str | None) -> str:
    names = ", ".join(file for entry in entries for file in entry.files)
    where = f"in data_dir '{data_dir}'" if data_dir else "as data_dir (or ATTENTION_DATA_DIR) is not set"
    return f"data set '{name}', {entries[0].checksum}: not found {where} ({names}; plain, .gz or .zip)"
