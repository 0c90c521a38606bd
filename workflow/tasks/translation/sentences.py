"""The sentences of two files, one per line; line n of one file is the translation of line n of the other."""

from dataclasses import dataclass, replace
from html import unescape

from workflow.config.errors import ConfigError


@dataclass(frozen=True)
class Side:
    """Sentences of one language. where: the file in error messages; first: the line of its first sentence."""

    where: str
    lines: list[str]
    first: int = 1

    def locate(self, n: int) -> str:
        """File and line of sentence n, for error messages."""
        return f"{self.where}, line {n + self.first}"

    def cut(self, start: int, stop: int) -> "Side":
        return Side(self.where, self.lines[start:stop], self.first + start)

    def unescape(self) -> "Side":
        """Replace what Moses' tokeniser writes as &apos;, &quot;, &amp;, &#91; and the like by the characters."""
        return replace(self, lines=[unescape(line) for line in self.lines])


Bitext = tuple[Side, Side]


def read_side(content: bytes, where: str, lowercase: bool) -> Side:
    """One sentence per line. Every run of white space becomes one space; a byte order mark is ignored."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        offset = content.index(error.object) + error.start  # the decoder's bytes begin after a byte order mark
        line = content.count(b"\n", 0, offset) + 1
        reason = f"byte 0x{content[offset]:02x} at offset {offset:,} is not UTF-8"
        raise ConfigError(f"{where}, line {line}: {reason}; save the file as UTF-8") from None
    lines = (text.lower() if lowercase else text).split("\n")
    return Side(where, [" ".join(line.split()) for line in (lines if lines[-1] else lines[:-1])])


def align(source: Side, target: Side, count: int | None = None) -> Bitext:
    """Both sides as one parallel text; `ConfigError` where their lengths differ, or are not `count`."""
    if len(source.lines) != len(target.lines):
        counts = " and ".join(f"{side.where} has {len(side.lines):,} lines" for side in (source, target))
        raise ConfigError(f"{counts}: line n of one must be the translation of line n of the other")
    if count not in (None, len(source.lines)):
        raise ConfigError(f"{source.where} has {len(source.lines):,} lines, expected {count:,}: replace both files")
    return source, target


def refuse_empty(bitext: Bitext) -> None:
    """`ConfigError` for the first line without a sentence."""
    for side in bitext:
        if "" in side.lines:
            raise ConfigError(f"{side.locate(side.lines.index(''))}: empty; every line must hold a sentence")
