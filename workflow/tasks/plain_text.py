"""Plain texts: what is none is refused in one line, and a user's lines end in newlines."""

import codecs
import hashlib
import re
from pathlib import Path
from unicodedata import category

from workflow.config.errors import ConfigError
from workflow.tasks.sources import read_once

# What XML leaves out (XML 1.0, section 2.2, and its note on noncharacters), but for white space:
# controls below the space, halves of surrogate pairs, noncharacters. Published corpora hold all
# others: joiners that languages need, marks of direction, soft hyphens, and the controls above 0x7f
# that a wrong encoding leaves (U+0093 in WMT 2014). What no version of Unicode has assigned yet
# passes, so that no version of Python decides what a text is.
NOT_TEXT = re.compile("[\0-\x08\x0e-\x1f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
KINDS = {
    "Cc": "a control character",
    "Cs": "half of a surrogate pair",
    "Cn": "not a Unicode character",
}
EXPECTED = "expected plain text in UTF-8; an archive: unpack it first"


def find_no_text(text: str) -> str | None:
    """Describe the first character that no text holds, by its place and code point, or None."""
    found = NOT_TEXT.search(text)
    if found is None:
        return None
    character = found[0]
    start = found.start()
    place = start - text.rfind("\n", 0, start)
    where = f"character {place:,}"
    if "\n" in text:
        line = text.count("\n", 0, start) + 1
        where = f"line {line:,}, {where}"
    return f"{where}: U+{ord(character):04X} is {KINDS[category(character)]}"


def decode(content: bytes, what: str, cut: bool = False) -> str:
    """Decode UTF-8, a byte order mark left out; `ConfigError`, begun by `what`, names line and byte
    where it is none.

    cut: the end may lie within a character, as of a text of which the first bytes were taken.
    """
    try:
        text, _ = codecs.utf_8_decode(content, "strict", not cut)
        return text.removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        place = f"line {line}: byte 0x{content[error.start]:02x} at offset {error.start:,}"
        raise ConfigError(f"{what}, {place} is not UTF-8; {EXPECTED}") from None


def refuse_binary(content: bytes, what: str) -> None:
    """Raise `ConfigError` for what is no text in UTF-8: an archive, a picture, another encoding."""
    wrong = find_no_text(decode(content, what, cut=True))
    if wrong:
        raise ConfigError(f"{what}, {wrong}; {EXPECTED}")


def user_text(path: Path) -> bytes:
    """Read a user's text, each line ended by a newline; `ConfigError` where there is no such file,
    or it holds none.

    A byte order mark is left out, and Windows' line ends become newlines. Old Macs' do so in a text
    that has more of them than of newlines; in another one stands within a line, and becomes a
    space. Nothing else ends a line: U+2028 and the like are characters within one.
    """
    content = path.read_bytes().removesuffix(b"\x1a")  # the mark of the end in a text of DOS
    if not content:
        raise ConfigError(f"{path}: the file is empty")
    refuse_binary(content, str(path))
    content = re.sub(rb"\r+\n", b"\n", content.removeprefix(codecs.BOM_UTF8))
    ends_lines = content.count(b"\r") > content.count(b"\n")
    return content.replace(b"\r", b"\n" if ends_lines else b" ")


@read_once
def user_text_checksum(path: Path) -> tuple[str, int]:
    """Return checksum and length of `user_text`."""
    content = user_text(path)
    return f"sha256:{hashlib.sha256(content).hexdigest()}", len(content)
