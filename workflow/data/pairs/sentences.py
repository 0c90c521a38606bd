"""The sentences of two files, one a line, line n of one the translation of line n of the other."""

from dataclasses import dataclass, replace
from html import unescape

from workflow.config.errors import ConfigError


@dataclass(frozen=True)
class Side:
    """Sentences of one language, from line `first` of the text that `where` names."""

    where: str
    lines: list[str]
    first: int = 1

    def line(self, n: int) -> str:
        """How sentence n is called in a refusal."""
        return f"{self.where}, line {n + self.first}"

    def cut(self, start: int, stop: int) -> "Side":
        return Side(self.where, self.lines[start:stop], self.first + start)

    def unescaped(self) -> "Side":
        """Signs as themselves that Moses' tokeniser writes as &apos;, &quot;, &amp;, &#91; and the like."""
        return replace(self, lines=[unescape(line) for line in self.lines])


Bitext = tuple[Side, Side]


def side(content: bytes, where: str, lowercase: bool) -> Side:
    """Every run of blanks, fixed and narrow ones too, is one space; a byte order mark is no part of the text."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = content.index(error.object) + error.start  # the decoder's bytes begin after a byte order mark
        line = content.count(b"\n", 0, place) + 1
        wrong = f"byte 0x{content[place]:02x} at offset {place:,} is not UTF-8"
        raise ConfigError(f"{where}, line {line}: {wrong}; save the file as UTF-8") from None
    lines = (text.lower() if lowercase else text).split("\n")
    return Side(where, [" ".join(line.split()) for line in (lines if lines[-1] else lines[:-1])])


def bitext(source: Side, target: Side, count: int | None = None) -> Bitext:
    """The two as a pair of texts; `ConfigError` where they differ in length, or from `count`."""
    if len(source.lines) != len(target.lines):
        counts = " and ".join(f"{one.where} has {len(one.lines):,} lines" for one in (source, target))
        raise ConfigError(f"{counts}: line n of one must be the translation of line n of the other")
    if count not in (None, len(source.lines)):
        raise ConfigError(f"{source.where} has {len(source.lines):,} lines, expected {count:,}: replace both files")
    return source, target


def refuse_empty(pair: Bitext) -> None:
    """`ConfigError` for the first line without a sentence."""
    for one in pair:
        if "" in one.lines:
            raise ConfigError(f"{one.line(one.lines.index(''))}: empty; every line must hold a sentence")
