"""Official files: found in `data_dir`, else downloaded through pooch from the first address that gives them."""

import logging

import pooch
from requests import RequestException

from workflow.config.errors import ConfigError
from workflow.tasks.sources import Source, cache_folder, describe_missing, find_files, read_plain, verify_checksum

RETRIES = 2


def read_official(name: str, source: Source, data_dir: str | None) -> bytes:
    """Read or fetch the plain content of one official file, and verify its checksum."""
    content = read_found(source, data_dir)
    return fetch(name, source, describe_missing(name, [source], data_dir)) if content is None else content


def read_found(source: Source, data_dir: str | None, prefix: Source | None = None) -> bytes | None:
    """Read a source, or a prefix of it, from the first place in `data_dir` that has what its checksum says.

    None where no file has its name; the `ConfigError` of the first one where none has the content.
    """
    part, size, refusals = ("the start of ", prefix.bytes, []) if prefix else ("", -1, [])
    for path in find_files(source, data_dir):
        try:
            content = read_plain(path, source, size)
            verify_checksum(content, prefix or source, f"{part}{path}", "delete or replace the file")
            return content
        except ConfigError as error:
            refusals.append(error)
    if refusals:
        raise refusals[0]
    return None


def fetch(name: str, source: Source, missing: str) -> bytes:
    """Fetch the plain content from the first address that gives it; `missing` begins the error message if none does."""
    failures = []
    for url in source.urls:
        try:
            return _fetch_url(url, name, source)
        except (RequestException, ConfigError) as error:
            failures.append(f"{url}: {error if isinstance(error, ConfigError) else _describe(error)}")
    raise ConfigError(f"{missing} and not fetched: {'; '.join(failures) or 'it has no address'}")


def _fetch_url(url: str, name: str, source: Source) -> bytes:
    """Fetch the content from one address and verify its checksum; an earlier download that is damaged is made again."""
    path = cache_folder() / f"{name}-{url.rsplit('/', 1)[-1]}"
    was_kept = path.exists()
    print(f"{path.name}: kept in {path.parent}" if was_kept else f"{path.name}: from {url}", flush=True)
    pooch.get_logger().setLevel(logging.WARNING)
    registry = {"path": path.parent, "base_url": "", "registry": {path.name: None}, "urls": {path.name: url}}
    pooch.create(**registry, retry_if_failed=RETRIES).fetch(path.name)
    try:
        content = read_plain(path, source)
        verify_checksum(content, source, "what it serves", "another file")
        return content
    except ConfigError:
        path.unlink()
        if not was_kept:
            raise
    return _fetch_url(url, name, source)


def _describe(error: RequestException) -> str:
    """Name a failure: 404 Not Found, or its kind, as the text of a connection error is a paragraph."""
    response = error.response
    return f"{response.status_code} {response.reason}" if response is not None else type(error).__name__
