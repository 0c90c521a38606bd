"""Texts that lie in a file: looked for in `data_dir`, else fetched with a checksum, resumed over mirrors."""

import gzip
import zipfile
import zlib
from pathlib import Path

import pooch

from workflow.choices import Refused
from workflow.corpora.catalogue import Catalogue, Entry, verify


def load(catalogue: Catalogue, name: str, data_dir: str | None) -> bytes:
    """The plain content of a text of kind `file`, its checksum verified."""
    entry = catalogue.entry(name)
    if name.startswith("file:"):
        return Path(name.removeprefix("file:")).expanduser().read_bytes()
    found = _look(entry, data_dir)
    if found:
        content = _plain(found)
        verify(content, entry, str(found), "delete or replace the file")
        return content
    if entry.prefix_of:
        content = load(catalogue, entry.prefix_of, data_dir)[: entry.bytes]
        verify(content, entry, f"the start of {entry.prefix_of}", "replace that file")
        return content
    return _fetch(name, entry)


def _look(entry: Entry, data_dir: str | None) -> Path | None:
    """The first of the entry's file names, plain or .gz, in `data_dir` or one folder below it."""
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


def _plain(path: Path) -> bytes:
    try:
        if path.suffix == ".gz":
            return gzip.decompress(path.read_bytes())
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                return archive.read(archive.namelist()[0])
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        raise Refused(f"{path}: truncated or corrupted ({error}); delete or replace the file") from None
    return path.read_bytes()


def _fetch(name: str, entry: Entry) -> bytes:
    """From the first address that gives the right content; what was fetched stays in the user's cache."""
    tried = []
    cache = pooch.os_cache("attention-suite")
    for url in entry.urls:
        try:
            path = pooch.retrieve(url, known_hash=None, fname=f"{name}-{Path(url).name}", path=cache)
        except Exception as error:  # whatever a mirror does wrong, the next one is asked
            tried.append(f"{url} ({type(error).__name__})")
            continue
        try:
            content = _plain(Path(path))
            verify(content, entry, url, "the address serves another file")
            return content
        except Refused as error:
            Path(path).unlink(missing_ok=True)
            tried.append(str(error))
    raise Refused(
        f"data set '{name}': not found in data_dir (looked for {', '.join(entry.files)}, plain or .gz) "
        f"and not fetched: {'; '.join(tried) or 'it has no address'}"
    )
