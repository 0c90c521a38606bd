"""Texts from their addresses, through pooch: mirrors, retries, and a broken transfer goes on where it stopped."""

import logging
import shutil
from pathlib import Path

import pooch
from filelock import FileLock
from requests import RequestException

from workflow.config.errors import ConfigError
from workflow.data.sources.archives import plain
from workflow.data.sources.source import Source, verify

RETRIES = 2


def cache() -> Path:
    """What was fetched stays here, for every checkout of this user."""
    return Path(pooch.os_cache("attention-suite"))


def fetch(name: str, entry: Source, missing: str) -> bytes:
    """The plain content from the first address that gives it; `missing` begins the line where none does."""
    cache().mkdir(parents=True, exist_ok=True)
    tried = []
    with FileLock(cache() / f"{name}.lock"):
        for url in entry.urls:
            try:
                return _from(url, name, entry)
            except (RequestException, ConfigError) as error:
                tried.append(f"{url}: {error if isinstance(error, ConfigError) else _reason(error)}")
    raise ConfigError(f"{missing} and not fetched: {'; '.join(tried) or 'it has no address'}")


def _from(url: str, name: str, entry: Source) -> bytes:
    """What one address gives. A file put together from parts, or kept from before, has a second chance, whole."""
    path = cache() / f"{name}-{url.rsplit('/', 1)[-1]}"
    mended = path.exists() or _part(path).exists()
    try:
        return _verified(url, path, entry)
    except ConfigError:
        path.unlink(missing_ok=True)
        if not mended:
            raise
    try:
        return _verified(url, path, entry)
    except ConfigError:
        path.unlink(missing_ok=True)
        raise


def _verified(url: str, path: Path, entry: Source) -> bytes:
    """Fetched unless it is kept; unpacked and compared with the entry's checksum, which is of the plain content."""
    pooch.get_logger().setLevel(logging.WARNING)
    place = {"path": path.parent, "base_url": "", "registry": {path.name: None}, "urls": {path.name: url}}
    source = pooch.create(**place, retry_if_failed=RETRIES)
    print(f"{path.name}: kept in {path.parent}" if path.exists() else f"{path.name}: from {url}", flush=True)
    source.fetch(path.name, downloader=lambda url, output, _: _resume(url, Path(output), _part(path)))
    content = plain(path, entry)
    verify(content, entry, "what it serves", "another file")
    return content


def _part(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")


def _resume(url: str, output: Path, part: Path) -> None:
    """Go on from the end of `part`; a server that sends all, or has no more, makes it begin again."""

    def answered(response, *args, **kwargs):
        if response.status_code in (200, 416):
            part.write_bytes(b"")

    with open(part, "ab") as file:
        headers = {"Accept-Encoding": "identity"}
        if file.tell():
            headers["Range"] = f"bytes={file.tell()}-"
        try:
            pooch.HTTPDownloader(chunk_size=1 << 16, headers=headers, hooks={"response": answered})(url, file, None)
        finally:
            if not part.stat().st_size:
                part.unlink()
    shutil.move(part, output)


def _reason(error: RequestException) -> str:
    """404 Not Found, or the kind of failure: the text of a connection error is a paragraph."""
    response = error.response
    return f"{response.status_code} {response.reason}" if response is not None else type(error).__name__
