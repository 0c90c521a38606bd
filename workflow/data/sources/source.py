"""Where a text is looked for, and whether what was found is that text."""

import hashlib
from typing import Annotated

from pydantic import Field, PositiveInt

from workflow.config.errors import ConfigError
from workflow.config.strict import StrictModel

Checksum = Annotated[str, Field(pattern="^(sha256:[0-9a-f]{64}|md5:[0-9a-f]{32})$")]


class Source(StrictModel):
    """Where a text is looked for, and what its plain content must be; no checksum: whatever is found."""

    bytes: PositiveInt | None = None
    checksum: Checksum | None = None
    files: list[str] = []
    urls: list[str] = []


def verify(content: bytes, entry: Source, what: str, hint: str) -> None:
    """`ConfigError` with the expected and the found checksum unless `content` is the entry's text."""
    if entry.checksum is None:
        return
    kind, expected = entry.checksum.split(":")
    found = hashlib.new(kind, content).hexdigest()
    if found != expected:
        size = f" ({len(content):,} bytes, expected {entry.bytes:,})" if entry.bytes not in (None, len(content)) else ""
        raise ConfigError(f"{what}: {kind} {found}{size}, expected {expected}; {hint}")
