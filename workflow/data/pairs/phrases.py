"""Phrase pairs in English, German, French and Vietnamese, generated: counted things, dates, prices, numbers in words.

Each phrase is one drawing of values put into one frame of lexicon.yaml in four languages, so any two of them make a
parallel text. Dates, times, amounts, units and names of languages come from CLDR (babel), number words from num2words,
both pinned; the checksum of each direction is in config/tasks/translation.yaml.
"""

import random
import re
from collections.abc import Callable
from datetime import date, time
from functools import cache
from importlib.metadata import version
from pathlib import Path
from string import Formatter

import yaml
from babel import Locale
from babel.dates import format_date, format_time
from babel.numbers import format_currency
from babel.units import format_unit
from num2words import num2words

from workflow.config.errors import check_known

PINS = ("babel==2.18.0", "num2words==0.5.14")
LEXICON = Path(__file__).parent / "lexicon.yaml"
PHRASES = 24_000
SEED = 2019


class Word(str):
    """A text with forms: str.format finds them after the dot, {who.has}."""

    def __new__(cls, text: str, **forms: str):
        word = super().__new__(cls, text)
        word.__dict__.update(forms)
        return word


@cache
def lexicon() -> dict:
    return yaml.safe_load(LEXICON.read_text(encoding="utf-8"))


def bitext(source: str, target: str) -> bytes:
    """One phrase a line, source and target with a tab between them; `ConfigError` for a language there is not."""
    for language in (source, target):
        check_known("language of the embedded phrases", language, lexicon()["languages"])
    return "".join(f"{phrase[source]}\t{phrase[target]}\n" for phrase in phrases()).encode()


def installed() -> str:
    """The versions that are here of what is pinned: "babel==2.18.0 and num2words==0.5.14"."""
    return " and ".join(f"{name}=={version(name)}" for name in (pin.split("==")[0] for pin in PINS))


@cache
def phrases() -> list[dict[str, str]]:
    """`PHRASES` of them by language, in a stable order; none twice in any language."""
    draw, found, languages = random.Random(SEED), [], lexicon()["languages"]
    frames = lexicon()["frames"]
    weights = [frame["weight"] for frame in frames]
    seen: dict[str, set] = {language: set() for language in languages}
    while len(found) < PHRASES:
        (frame,) = draw.choices(frames, weights)
        words = {slot: _word(slot, draw) for slot in _slots(frame["en"])}
        if len({word[0] for word in words.values()}) < len(words):
            continue  # from Paris to Paris
        texts = [{slot: word[n] for slot, word in words.items()} for n in range(len(languages))]
        phrase = {one: _written(frame[one].format(**text)) for one, text in zip(languages, texts, strict=True)}
        if all(phrase[one] not in seen[one] for one in languages):
            found.append(phrase)
            for one in languages:
                seen[one].add(phrase[one])
    return found


@cache
def _slots(frame: str) -> list[str]:
    """What a frame needs drawn, in its order: ["who", "verb"] for "{who} {who.has} {verb}"."""
    return list(dict.fromkeys(name.split(".")[0] for _, name, _, _ in Formatter().parse(frame) if name))


def _word(slot: str, draw: random.Random) -> list[str]:
    return DRAWN[slot.rstrip("2")](draw)


def _written(text: str) -> str:
    """CLDR's narrow and fixed spaces as plain ones; French elision; a capital where a sentence begins."""
    text = re.sub(r"\bque (?=(il|ils|elle)\b)", "qu’", " ".join(text.split()))
    return text[0].upper() + text[1:] if text.endswith((".", "?")) else text


def _person(draw: random.Random) -> list[Word]:
    *names, row = draw.choice(lexicon()["people"])
    forms = lexicon()["conjugation"][row]
    spoken = [{form: texts[n] for form, texts in forms.items()} for n in range(3)]
    return [Word(name, **more) for name, more in zip(names, [*spoken, {}], strict=True)]


def _verb(draw: random.Random) -> list[Word]:
    *rest, vi = draw.choice(lexicon()["verbs"])
    return [*(Word(rest[n], do=rest[n + 1]) for n in (0, 2, 4)), Word(vi, do=vi)]


def _things(draw: random.Random) -> list[Word]:
    """twelve black cats | zwölf schwarze Katzen | douze chats noirs | mười hai con mèo màu đen"""
    noun, adjective = draw.choice(lexicon()["nouns"]), draw.choice(lexicon()["adjectives"])
    en, de, fr, vi = _number(draw.randrange(2, 100))
    female = noun[3] == "f"
    if female and fr.endswith("un"):
        fr += "e"  # vingt et une vaches
    french = adjective[3 + female]
    return [
        Word(f"{en} {adjective[0]} {noun[0]}", bare=f"{en} {noun[0]}", adjective=adjective[0]),
        Word(
            f"{de} {adjective[1]} {noun[1]}",
            bare=f"{de} {noun[1]}",
            adjective=adjective[2],
            weak=f"{de} {adjective[1]}n {noun[1]}",
        ),
        Word(f"{fr} {noun[2]} {french}", bare=f"{fr} {noun[2]}", adjective=french, e="e" if female else ""),
        Word(f"{vi} {noun[4]} {adjective[5]}", bare=f"{vi} {noun[4]}", adjective=adjective[5]),
    ]


def _any_number(draw: random.Random) -> list[str]:
    """2 to 999,999, without those that num2words writes oddly: 101,000 in German, 2,021 in Vietnamese."""
    below = draw.randrange(2, 1000)
    if draw.random() < 0.2:
        return _number(below)
    thousands = draw.choice([n for n in range(1, 1000) if n == 1 or n % 100 != 1])
    return _number(1000 * thousands + draw.randrange(100, 1000))


@cache
def _number(number: int) -> list[str]:
    return [num2words(number, lang=language) for language in lexicon()["languages"]]


def _date(draw: random.Random) -> list[str]:
    """Days 2 to 28: French writes the first as 1er, CLDR does not."""
    return _cldr(format_date, date(draw.randrange(1930, 2026), draw.randrange(1, 13), draw.randrange(2, 29)), "long")


def _day(draw: random.Random) -> list[str]:
    return _cldr(format_date, date(2018, 1, draw.randrange(1, 8)), "EEEE")


def _time(draw: random.Random) -> list[str]:
    return _cldr(format_time, time(draw.randrange(24), 5 * draw.randrange(12)), "short")


def _money(draw: random.Random) -> list[str]:
    amount = draw.choice((draw.randrange(2, 5000), draw.randrange(200, 100_000) / 100))
    return _cldr(format_currency, amount, draw.choice(lexicon()["currencies"]), format_type="name")


def _length(draw: random.Random) -> list[str]:
    return _cldr(format_unit, draw.randrange(2, 900), draw.choice(("length-meter", "length-kilometer")), "long")


def _tongue(draw: random.Random) -> list[str]:
    """Swedish | Schwedisch | suédois | tiếng Thụy Điển"""
    code = draw.choice(lexicon()["tongues"])
    *names, vi = (Locale(language).languages[code] for language in lexicon()["languages"])
    return [*names, vi[0].lower() + vi[1:]]


def _cldr(write: Callable[..., str], *values, **options) -> list[str]:
    return [write(*values, locale=language, **options) for language in lexicon()["languages"]]


DRAWN = {
    "who": _person,
    "verb": _verb,
    "things": _things,
    "number": _any_number,
    "age": lambda draw: _number(draw.randrange(2, 100)),
    "year": lambda draw: [str(draw.randrange(1800, 2020))] * 4,
    "city": lambda draw: draw.choice(lexicon()["cities"]),
    "country": lambda draw: draw.choice(lexicon()["countries"]),
    "date": _date,
    "day": _day,
    "time": _time,
    "money": _money,
    "length": _length,
    "tongue": _tongue,
}
