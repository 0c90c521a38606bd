"""Official files: found in `data_dir`, else downloaded through pooch.

Several addresses, retries, and broken transfers that resume where they stopped.
"""

import logging
import shutil
from pathlib import Path

import pooch
from requests import RequestException

from workflow.config.errors import ConfigError
from workflow.tasks.sources import Source, describe_missing, find_file, read_plain, verify_checksum

RETRIES = 2


def cache_folder() -> Path:
    """Where downloads are kept, for every checkout of this user."""
    return Path(pooch.os_cache("attention-suite"))


def fetch(name: str, source: Source, missing: str) -> bytes:
    """The plain content from the first address that gives it; `missing` begins the error message where none does."""
    failures = []
    for url in source.urls:
        try:
            return _fetch_url(url, name, source)
        except (RequestException, ConfigError) as error:
            failures.append(f"{url}: {error if isinstance(error, ConfigError) else _describe(error)}")
    raise ConfigError(f"{missing} and not fetched: {'; '.join(failures) or 'it has no address'}")


def _fetch_url(url: str, name: str, source: Source) -> bytes:
    """The content from one address.

    A file from an earlier download, or one that was resumed, may be damaged: then the whole file is downloaded again.
    """
    path = cache_folder() / f"{name}-{url.rsplit('/', 1)[-1]}"
    has_earlier_bytes = path.exists() or _partial_path(path).exists()
    try:
        return _download(url, path, source)
    except ConfigError:
        path.unlink(missing_ok=True)
        if not has_earlier_bytes:
            raise
    try:
        return _download(url, path, source)
    except ConfigError:
        path.unlink(missing_ok=True)
        raise


def _download(url: str, path: Path, source: Source) -> bytes:
    """Download to `path` unless the file is there; unpack it and verify the checksum, which is of the plain content."""
    pooch.get_logger().setLevel(logging.WARNING)
    registry = {"path": path.parent, "base_url": "", "registry": {path.name: None}, "urls": {path.name: url}}
    downloader = pooch.create(**registry, retry_if_failed=RETRIES)
    print(f"{path.name}: kept in {path.parent}" if path.exists() else f"{path.name}: from {url}", flush=True)
    downloader.fetch(path.name, downloader=lambda url, output, _: _resume(url, Path(output), _partial_path(path)))
    content = read_plain(path, source)
    verify_checksum(content, source, "what it serves", "another file")
    return content


def _partial_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")


def _resume(url: str, output: Path, part: Path) -> None:
    """Continue at the end of `part`; start again where the server sends the whole file or has no more bytes."""

    def restart(response, *args, **kwargs):
        if response.status_code in (200, 416):
            part.write_bytes(b"")

    with open(part, "ab") as file:
        headers = {"Accept-Encoding": "identity"}
        if file.tell():
            headers["Range"] = f"bytes={file.tell()}-"
        try:
            pooch.HTTPDownloader(chunk_size=1 << 16, headers=headers, hooks={"response": restart})(url, file, None)
        finally:
            if not part.stat().st_size:
                part.unlink()
    if not part.exists():
        raise ConfigError("sent nothing")
    shutil.move(part, output)


def _describe(error: RequestException) -> str:
    """404 Not Found, or the kind of failure: the text of a connection error is a paragraph."""
    response = error.response
    return f"{response.status_code} {response.reason}" if response is not None else type(error).__name__


def read_official(name: str, source: Source, data_dir: str | None) -> bytes:
    """The plain content of one official file, its checksum verified."""
    if path := find_file(source, data_dir):
        content = read_plain(path, source)
        verify_checksum(content, source, str(path), "delete or replace the file")
        return content
    return fetch(name, source, describe_missing(name, [source], data_dir))
