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
    lines = []
    for phrase in generate_phrases():
        lines.append(f"{phrase[source]}\t{phrase[target]}\n")
    return "".join(lines).encode()


@cache
def generate_phrases() -> list[dict[str, str]]:
    """Draw `PHRASES` phrases by language, in a stable order; none occurs twice in any language."""
    generator = random.Random(SEED)
    phrases: list[dict[str, str]] = []
    lexicon = read_lexicon()
    languages = lexicon["languages"]
    frames = lexicon["frames"]
    weights = [frame["weight"] for frame in frames]
    seen: dict[str, set] = {language: set() for language in languages}
    while len(phrases) < PHRASES:
        (frame,) = generator.choices(frames, weights)
        words = {}
        for slot in _list_slots(frame["en"]):
            draw = DRAW[slot.rstrip("2")]
            words[slot] = draw(generator)
        in_english = {word[0] for word in words.values()}
        if len(in_english) < len(words):
            continue  # from Paris to Paris
        phrase = {}
        for n, language in enumerate(languages):
            values = {slot: word[n] for slot, word in words.items()}
            text = frame[language].format(**values)
            phrase[language] = _typeset(text)
        is_new = True
        for language, text in phrase.items():
            if text in seen[language]:
                is_new = False
        if is_new:
            phrases.append(phrase)
            for language, text in phrase.items():
                seen[language].add(text)
    return phrases


@cache
def _list_slots(frame: str) -> list[str]:
    """List the slots of a frame in their order: ["who", "verb"] for "{who} {who.has} {verb}"."""
    slots = []
    for _, name, _, _ in Formatter().parse(frame):
        if name:
            slot, _, _ = name.partition(".")
            slots.append(slot)
    return list(dict.fromkeys(slots))


def _typeset(text: str) -> str:
    """Use single spaces, French elision, and a capital at the start of a sentence."""
    text = " ".join(text.split())  # CLDR has narrow and fixed spaces
    text = re.sub(r"\bque (?=(il|ils|elle)\b)", "qu’", text)
    if not text.endswith((".", "?")):
        return text
    return text[0].upper() + text[1:]


def _draw_person(generator: random.Random) -> list[Word]:
    """Draw a person, with the verb forms that go with it: en, de, fr and vi."""
    lexicon = read_lexicon()
    *names, row = generator.choice(lexicon["people"])
    forms = lexicon["conjugation"][row]
    words = []
    for n, name in enumerate(names):
        verbs = {}
        if n < 3:  # Vietnamese verbs have one form
            verbs = {form: texts[n] for form, texts in forms.items()}
        words.append(Word(name, **verbs))
    return words


def _draw_verb(generator: random.Random) -> list[Word]:
    """Draw a verb in the past, with its infinitive: en, de, fr and vi."""
    *texts, vi = generator.choice(read_lexicon()["verbs"])
    words = []
    for n in (0, 2, 4):
        past = texts[n]
        infinitive = texts[n + 1]
        words.append(Word(past, do=infinitive))
    return [*words, Word(vi, do=vi)]


def _draw_things(generator: random.Random) -> list[Word]:
    """Draw twelve black cats | zwölf schwarze Katzen | douze chats noirs | 12 con mèo màu đen."""
    lexicon = read_lexicon()
    cat, katze, chat, gender, meo = generator.choice(lexicon["nouns"])
    black, schwarze, schwarz, noir, noire, den = generator.choice(lexicon["adjectives"])
    en, de, fr, vi = _spell_number(generator.randrange(2, 100))
    is_female = gender == "f"
    if is_female and fr.endswith("un"):
        fr += "e"  # vingt et une vaches
    french = noire if is_female else noir
    return [
        Word(f"{en} {black} {cat}", bare=f"{en} {cat}", adjective=black),
        Word(
            f"{de} {schwarze} {katze}",
            bare=f"{de} {katze}",
            adjective=schwarz,
            weak=f"{de} {schwarze}n {katze}",
        ),
        Word(
            f"{fr} {chat} {french}",
            bare=f"{fr} {chat}",
            adjective=french,
            e="e" if is_female else "",
        ),
        Word(f"{vi} {meo} {den}", bare=f"{vi} {meo}", adjective=den),
    ]


def _draw_any_number(generator: random.Random) -> list[str]:
    """Draw 2 to 999,999, but none that num2words writes wrongly: 101,000 in German, 2,021 in
    Vietnamese.
    """
    below = generator.randrange(2, 1000)
    if generator.random() < 0.2:
        return _spell_number(below)
    well_written = [n for n in range(1, 1000) if n == 1 or n % 100 != 1]
    thousands = generator.choice(well_written)
    rest = generator.randrange(100, 1000)
    return _spell_number(1000 * thousands + rest)


@cache
def _spell_number(number: int) -> list[str]:
    languages = read_lexicon()["languages"]
    return [num2words(number, lang=language) for language in languages]


def _draw_date(generator: random.Random) -> list[str]:
    """Draw a date; days 2 to 28: French writes the first as 1er, CLDR does not."""
    year = generator.randrange(1930, 2026)
    month = generator.randrange(1, 13)
    day = generator.randrange(2, 29)
    return _localise(format_date, date(year, month, day), "long")


def _draw_day(generator: random.Random) -> list[str]:
    day = generator.randrange(1, 8)
    return _localise(format_date, date(2018, 1, day), "EEEE")


def _draw_time(generator: random.Random) -> list[str]:
    hour = generator.randrange(24)
    minute = 5 * generator.randrange(12)
    return _localise(format_time, time(hour, minute), "short")


def _draw_money(generator: random.Random) -> list[str]:
    whole = generator.randrange(2, 5000)
    with_cents = generator.randrange(200, 100_000) / 100
    amount = generator.choice((whole, with_cents))
    currency = generator.choice(read_lexicon()["currencies"])
    return _localise(format_currency, amount, currency, format_type="name")


def _draw_length(generator: random.Random) -> list[str]:
    length = generator.randrange(2, 900)
    unit = generator.choice(("length-meter", "length-kilometer"))
    return _localise(format_unit, length, unit, "long")


def _draw_language(generator: random.Random) -> list[str]:
    """Draw Swedish | Schwedisch | suédois | tiếng Thụy Điển"""
    lexicon = read_lexicon()
    code = generator.choice(lexicon["tongues"])
    *names, vi = [Locale(language).languages[code] for language in lexicon["languages"]]
    return [*names, vi[0].lower() + vi[1:]]


def _localise(write: Callable[..., str], *values, **options) -> list[str]:
    languages = read_lexicon()["languages"]
    return [write(*values, locale=language, **options) for language in languages]


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
