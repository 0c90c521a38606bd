"""Official files: found in `data_dir`, else downloaded through pooch from the first address that
gives them.
"""

import logging

import pooch
from requests import RequestException

from workflow.config.errors import ConfigError
from workflow.config.files import raise_if_full
from workflow.tasks.sources import (
    Source,
    cache_folder,
    describe_missing,
    find_files,
    read_plain,
    verify_checksum,
)

RETRIES = 2


def read_official(name: str, source: Source, data_dir: str | None, kept_as: str = "") -> bytes:
    """Read the content that the source's checksum says: of the first file in `data_dir` that has
    it, else fetched.

    kept_as: the name under which the cache folder keeps a download, where it is not the dataset's
    own.
    """
    refusals = []
    for path in find_files(source, data_dir):
        try:
            content = read_plain(path, source)
            verify_checksum(content, source, str(path), "delete or replace the file")
            return content
        except ConfigError as error:
            refusals.append(error)
    if refusals:
        raise refusals[0]
    return fetch(kept_as or name, source, describe_missing(name, source, data_dir))


def fetch(name: str, source: Source, missing: str) -> bytes:
    """Fetch the plain content from the first address that gives it; `missing` begins the error
    message if none does.
    """
    failures = []
    for url in source.urls:
        try:
            return _fetch_url(url, name, source)
        except (RequestException, ConfigError) as error:
            reason = error if isinstance(error, ConfigError) else _describe(error)
            failures.append(f"{url}: {reason}")
    reasons = "; ".join(failures) or "no URL is known"
    raise ConfigError(f"{missing}; download failed: {reasons}")


def _fetch_url(url: str, name: str, source: Source) -> bytes:
    """Fetch the content from one address and verify its checksum; an earlier download that is
    damaged is made again.
    """
    path = cache_folder() / f"{name}-{url.rsplit('/', 1)[-1]}"
    was_kept = path.exists()
    origin = f"kept in {path.parent}" if was_kept else f"from {url}"
    print(f"{path.name}: {origin}", flush=True)
    pooch.get_logger().setLevel(logging.WARNING)
    registry = {
        "path": path.parent,
        "base_url": "",
        "registry": {path.name: None},
        "urls": {path.name: url},
    }
    try:
        pooch.create(**registry, retry_if_failed=RETRIES).fetch(path.name)
    except OSError as error:  # those of requests are such too
        raise_if_full(error, path)
        raise
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
    """Name a failure: 404 Not Found, or its kind, as the text of a connection error is a
    paragraph.
    """
    response = error.response
    if response is None:
        return type(error).__name__
    return f"{response.status_code} {response.reason}"
