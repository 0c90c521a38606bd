"""Plain texts: what is none is refused in one line, and a user's lines end in newlines."""

import codecs
import hashlib
import re
from pathlib import Path

from workflow.config.errors import ConfigError
from workflow.tasks.sources import read_once

CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")  # in UTF-8 each is itself: all below the space but white space
LINE_ENDS = [end.encode() for end in ("\r", "\x85", "\u2028", "\u2029")]  # besides the newline


def decode(content: bytes, what: str, cut: bool = False) -> str:
    """Decode UTF-8, a byte order mark left out; `ConfigError`, begun by `what`, names line and byte where it is none.

    cut: the end may lie within a character, as of a text of which the first bytes were taken.
    """
    try:
        return codecs.utf_8_decode(content, "strict", not cut)[0].removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise _refusal(content, error.start, what, "not UTF-8") from None


def refuse_binary(content: bytes, what: str) -> None:
    """Raise `ConfigError` for what is no text in UTF-8: an archive, a picture, another encoding."""
    decode(content, what, cut=True)
    if control := CONTROL.search(content):
        raise _refusal(content, control.start(), what, "a control character")


def _refusal(content: bytes, offset: int, what: str, reason: str) -> ConfigError:
    line = content.count(b"\n", 0, offset) + 1
    place = f"{what}, line {line}: byte 0x{content[offset]:02x} at offset {offset:,}"
    return ConfigError(f"{place} is {reason}; expected plain text in UTF-8; an archive: unpack it first")


def user_text(path: Path) -> bytes:
    """Read a user's text, each line ended by a newline; `ConfigError` where there is no such file, or it holds none.

    A byte order mark is left out, and Windows' line ends become newlines. One of old Macs or of Unicode does so in a
    text that has more of it than of newlines; in another it stands within a line, and becomes a space.
    """
    content = path.read_bytes().removesuffix(b"\x1a")  # the mark of the end in a text of DOS
    if not content:
        raise ConfigError(f"{path}: the file is empty")
    refuse_binary(content, str(path))
    content = re.sub(rb"\r+\n", b"\n", content.removeprefix(codecs.BOM_UTF8))
    for end in LINE_ENDS:
        content = content.replace(end, b"\n" if content.count(end) > content.count(b"\n") else b" ")
    return content


@read_once
def user_text_checksum(path: Path) -> tuple[str, int]:
    """Return checksum and length of `user_text`."""
    content = user_text(path)
    return f"sha256:{hashlib.sha256(content).hexdigest()}", len(content)
