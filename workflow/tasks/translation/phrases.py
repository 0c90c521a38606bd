"""Generated phrases in English, German, French and Vietnamese: counted things, dates, prices,
numbers in words.

Each phrase fills one frame of lexicon.yaml with random values, in all four languages, so any two of
them make a parallel text. Dates, times, amounts, units and names of languages come from CLDR
(babel), number words from num2words, both pinned; the checksum of each direction is in
config/tasks/translation.yaml.
"""

import random
import re
from collections.abc import Callable
from datetime import date, time
from functools import cache
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
    """A word with further forms, which str.format finds after a dot: {who.has}."""

    def __new__(cls, text: str, **forms: str):
        word = super().__new__(cls, text)
        word.__dict__.update(forms)
        return word


@cache
def read_lexicon() -> dict:
    return yaml.safe_load(LEXICON.read_text(encoding="utf-8"))


def generate_bitext(source: str, target: str) -> bytes:
    """Write one phrase a line, source and target with a tab between them; `ConfigError` for an
    unknown language.
    """
    for language in (source, target):
        check_known("language of the embedded phrases", language, read_lexicon()["languages"])
    return "".join(
        f"{phrase[source]}\t{phrase[target]}\n" for phrase in generate_phrases()
    ).encode()


@cache
def generate_phrases() -> list[dict[str, str]]:
    """Draw `PHRASES` phrases by language, in a stable order; no phrase occurs twice in any
    language.
    """
    generator, phrases = random.Random(SEED), []
    languages, frames = read_lexicon()["languages"], read_lexicon()["frames"]
    weights = [frame["weight"] for frame in frames]
    seen: dict[str, set] = {language: set() for language in languages}
    while len(phrases) < PHRASES:
        (frame,) = generator.choices(frames, weights)
        words = {slot: DRAW[slot.rstrip("2")](generator) for slot in _list_slots(frame["en"])}
        if len({word[0] for word in words.values()}) < len(words):
            continue  # from Paris to Paris
        phrase = {}
        for n, language in enumerate(languages):
            values = {slot: word[n] for slot, word in words.items()}
            phrase[language] = _typeset(frame[language].format(**values))
        if all(text not in seen[language] for language, text in phrase.items()):
            phrases.append(phrase)
            for language, text in phrase.items():
                seen[language].add(text)
    return phrases


@cache
def _list_slots(frame: str) -> list[str]:
    """List the slots of a frame in their order: ["who", "verb"] for "{who} {who.has} {verb}"."""
    return list(
        dict.fromkeys(name.split(".")[0] for _, name, _, _ in Formatter().parse(frame) if name)
    )


def _typeset(text: str) -> str:
    """Put plain spaces for CLDR's narrow and fixed ones, French elision, a capital at the start of
    a sentence.
    """
    text = re.sub(r"\bque (?=(il|ils|elle)\b)", "qu’", " ".join(text.split()))
    return text[0].upper() + text[1:] if text.endswith((".", "?")) else text


def _draw_person(generator: random.Random) -> list[Word]:
    *names, row = generator.choice(read_lexicon()["people"])
    forms = read_lexicon()["conjugation"][row]
    by_language = [{form: texts[n] for form, texts in forms.items()} for n in range(3)]
    by_language.append({})  # Vietnamese verbs have one form
    return [Word(name, **verbs) for name, verbs in zip(names, by_language, strict=True)]


def _draw_verb(generator: random.Random) -> list[Word]:
    *texts, vi = generator.choice(read_lexicon()["verbs"])  # past and infinitive in en, de and fr
    return [*(Word(texts[n], do=texts[n + 1]) for n in (0, 2, 4)), Word(vi, do=vi)]


def _draw_things(generator: random.Random) -> list[Word]:
    """Draw twelve black cats | zwölf schwarze Katzen | douze chats noirs | mười hai con mèo màu
    đen
    """
    noun, adjective = (
        generator.choice(read_lexicon()["nouns"]),
        generator.choice(read_lexicon()["adjectives"]),
    )
    en, de, fr, vi = _spell_number(generator.randrange(2, 100))
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
        Word(
            f"{fr} {noun[2]} {french}",
            bare=f"{fr} {noun[2]}",
            adjective=french,
            e="e" if female else "",
        ),
        Word(f"{vi} {noun[4]} {adjective[5]}", bare=f"{vi} {noun[4]}", adjective=adjective[5]),
    ]


def _draw_any_number(generator: random.Random) -> list[str]:
    """Draw 2 to 999,999, but none that num2words writes wrongly: 101,000 in German, 2,021 in
    Vietnamese.
    """
    below = generator.randrange(2, 1000)
    if generator.random() < 0.2:
        return _spell_number(below)
    thousands = generator.choice([n for n in range(1, 1000) if n == 1 or n % 100 != 1])
    return _spell_number(1000 * thousands + generator.randrange(100, 1000))


@cache
def _spell_number(number: int) -> list[str]:
    return [num2words(number, lang=language) for language in read_lexicon()["languages"]]


def _draw_date(generator: random.Random) -> list[str]:
    """Draw a date; days 2 to 28: French writes the first as 1er, CLDR does not."""
    day = date(
        generator.randrange(1930, 2026), generator.randrange(1, 13), generator.randrange(2, 29)
    )
    return _localise(format_date, day, "long")


def _draw_day(generator: random.Random) -> list[str]:
    return _localise(format_date, date(2018, 1, generator.randrange(1, 8)), "EEEE")


def _draw_time(generator: random.Random) -> list[str]:
    return _localise(
        format_time, time(generator.randrange(24), 5 * generator.randrange(12)), "short"
    )


def _draw_money(generator: random.Random) -> list[str]:
    amount = generator.choice(
        (generator.randrange(2, 5000), generator.randrange(200, 100_000) / 100)
    )
    return _localise(
        format_currency, amount, generator.choice(read_lexicon()["currencies"]), format_type="name"
    )


def _draw_length(generator: random.Random) -> list[str]:
    length, unit = (
        generator.randrange(2, 900),
        generator.choice(("length-meter", "length-kilometer")),
    )
    return _localise(format_unit, length, unit, "long")


def _draw_language(generator: random.Random) -> list[str]:
    """Draw Swedish | Schwedisch | suédois | tiếng Thụy Điển"""
    code = generator.choice(read_lexicon()["tongues"])
    *names, vi = (Locale(language).languages[code] for language in read_lexicon()["languages"])
    return [*names, vi[0].lower() + vi[1:]]


def _localise(write: Callable[..., str], *values, **options) -> list[str]:
    return [write(*values, locale=language, **options) for language in read_lexicon()["languages"]]


DRAW = {
    "who": _draw_person,
    "verb": _draw_verb,
    "things": _draw_things,
    "number": _draw_any_number,
    "age": lambda generator: _spell_number(generator.randrange(2, 100)),
    "year": lambda generator: [str(generator.randrange(1800, 2020))] * 4,
    "city": lambda generator: generator.choice(read_lexicon()["cities"]),
    "country": lambda generator: generator.choice(read_lexicon()["countries"]),
    "date": _draw_date,
    "day": _draw_day,
    "time": _draw_time,
    "money": _draw_money,
    "length": _draw_length,
    "tongue": _draw_language,
}
