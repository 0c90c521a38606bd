"""Where a file is looked for, and the checksum of its content."""

import hashlib
from typing import Annotated

from pydantic import Field, PositiveInt

from workflow.config.errors import ConfigError
from workflow.config.strict import StrictModel

Checksum = Annotated[str, Field(pattern="^(sha256:[0-9a-f]{64}|md5:[0-9a-f]{32})$")]


class Source(StrictModel):
    """Where a file is looked for. bytes, checksum: of its plain content; without a checksum any content is accepted."""

    bytes: PositiveInt | None = None
    checksum: Checksum | None = None
    files: list[str] = []
    urls: list[str] = []


def verify_checksum(content: bytes, source: Source, what: str, hint: str) -> None:
    """`ConfigError` with the expected and the actual checksum unless `content` is what the source describes."""
    if source.checksum is None:
        return
    algorithm, expected = source.checksum.split(":")
    actual = hashlib.new(algorithm, content).hexdigest()
    if actual != expected:
        size = ""
        if source.bytes not in (None, len(content)):
            size = f" ({len(content):,} bytes, expected {source.bytes:,})"
        raise ConfigError(f"{what}: {algorithm} {actual}{size}, expected {expected}; {hint}")
