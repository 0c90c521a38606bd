"""Where a value came from: the file and line of each key and element of a YAML file, which errors
name.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from workflow.config.errors import ConfigError

UNKNOWN = re.compile(r"unknown [^']*'([^']+)'")  # what `errors.check_known` refuses
WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Place:
    """A line of a file; the first is 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}"


class Placed(dict):
    """A mapping that was read from a file. places: of its values by key; one that code has set
    since has none.
    """

    places: dict = {}

    def __setitem__(self, key, value):
        self.places.pop(key, None)
        super().__setitem__(key, value)

    def __or__(self, changes: dict) -> "Placed":
        return over(self, changes)

    def __ror__(self, base: dict) -> "Placed":
        return over(base, self)


class PlacedList(list):
    """A list that was read from a file. places: of its elements by index."""

    places: dict = {}


def over(base: dict, changes: dict) -> Placed:
    """Put changes over a base, key by key; each value keeps its place."""
    both = Placed({**base, **changes})
    both.places = {}
    for key, place in getattr(base, "places", {}).items():
        if key not in changes:
            both.places[key] = place
    both.places |= getattr(changes, "places", {})
    return both


def find(raw, path: Iterable) -> Place | None:
    """Find the place of a value by its keys and indices, or of the nearest around it that has one.

    What is in the path and not in `raw`, as pydantic names types, is passed over.
    """
    place = None
    for part in path:
        if isinstance(raw, dict):
            is_inside = part in raw
        else:
            is_inside = isinstance(raw, list) and part in range(len(raw))
        if is_inside:
            place = getattr(raw, "places", {}).get(part, place)
            raw = raw[part]
    return place


def words_of(line: str) -> list[str]:
    """List the words of a line, in order."""
    return WORD.findall(line)


def find_named(raw, text: str) -> Place | None:
    """Find the place of the one key or value that reads so; None where there is none, or
    several.
    """
    places = {place for word, place in _words(raw) if word == text}
    return places.pop() if len(places) == 1 else None


def _words(raw) -> Iterator[tuple[str, Place]]:
    """Yield each key and each value that is neither a mapping nor a list, as text with its
    place.
    """
    pairs: Iterable = ()
    if isinstance(raw, dict):
        pairs = raw.items()
    elif isinstance(raw, list):
        pairs = enumerate(raw)
    places = getattr(raw, "places", {})
    for key, value in pairs:
        place = places.get(key)
        if place:
            yield str(key), place
            if not isinstance(value, dict | list):
                yield str(value), place
        yield from _words(value)


def place_of_name(error: ConfigError, *contents) -> ConfigError:
    """Begin an error about an unknown name with its place, where one of these contents alone has
    it, and once.
    """
    unknown = UNKNOWN.match(str(error))
    if error.is_placed or not unknown:
        return error
    places = [find_named(each, unknown[1]) for each in contents]
    found = [place for place in places if place]
    if len(found) != 1:
        return error
    named = ConfigError(f"{found[0]}: {error}")
    named.is_placed = True
    return named


def placed(line: str, where: str, place: Place | None) -> ConfigError:
    """Make an error that begins with the place, if it is known. where: what was read, by its file
    or in words.
    """
    if place and Path(place.file).stem == where:
        where = str(place)
    elif place and place.file in where:
        where = where.replace(place.file, str(place), 1)
    elif place:
        where = f"{place}: {where}"
    error = ConfigError(f"{where}: {line}")
    error.is_placed = place is not None
    return error


def placed_by_name(error: ConfigError, raw, where: str) -> ConfigError:
    """Say where the name is that an error does not know, or the key that it begins with.

    One that says its place already stays as it is.
    """
    if error.is_placed:
        return error
    line = str(error)
    unknown = UNKNOWN.match(line)
    if unknown:
        place = find_named(raw, unknown[1])
    else:
        first_word = words_of(line)[:1]
        place = find(raw, first_word)
    return placed(line, where, error.place or place)
