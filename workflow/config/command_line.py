"""How every script ends: bad input in one line, no traceback; anything unforeseen with its traceback."""

import argparse
import os
import sys
from collections.abc import Callable
from itertools import takewhile
from typing import NoReturn

from workflow.config.environment import LOCALE
from workflow.config.errors import ConfigError, nearest

SHOWN = "-> "  # begins the line with which a script says what it showed


class Parser(argparse.ArgumentParser):
    """The words of a command. What it does not know is refused in one line, with the nearest option that there is."""

    def __init__(self, **options):
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        _, _, unknown = message.partition("unrecognized arguments: ")
        near = nearest(unknown.split()[0].partition("=")[0], self._option_string_actions) if unknown.strip() else None
        hint = f"did you mean {near}? " if near else ""
        raise ConfigError(f"{message}; {hint}--help says what there is")


def refuse_twice(option: str, words: list[str]) -> None:
    """Refuse an option with keys and values where it, or one of its keys, stands twice: the last alone would count."""
    places = [place for place, word in enumerate(words) if word == option]
    if len(places) > 1:
        raise ConfigError(f"{option} stands twice, and the last alone would count; give all keys behind one")
    behind = words[places[0] + 1 :] if places else []
    keys = [word.partition("=")[0] for word in takewhile(lambda word: not word.startswith("-"), behind)]
    if twice := [key for key in keys if keys.count(key) > 1]:
        raise ConfigError(f"{option}: {twice[0]} stands twice, and the last alone would count")


def at_least(smallest: int) -> Callable[[str], int]:
    """Make the type of an option that takes a whole number."""

    def whole(word: str) -> int:
        if int(word) < smallest:
            raise ValueError
        return int(word)

    whole.__name__ = f"whole number of at least {smallest}"  # argparse: invalid ... value: 'x'
    return whole


def run(main: Callable[[], None]) -> None:
    """Exit 2 with one line for refused input, 1 with one line where the system refuses (disk full, no permission).

    What a script starts has one locale, whoever started the script.
    """
    os.environ.update(LOCALE)
    sys.stdout.reconfigure(errors="backslashreplace")  # of a terminal that lacks some letters
    try:
        main()
    except (ConfigError, OSError) as error:
        print(f"{sys.argv[0].rsplit('/', 1)[-1]}: {explain(error)}", file=sys.stderr)
        sys.exit(2 if isinstance(error, ConfigError) else 1)


def show(line: str) -> None:
    """Say what was found, as the last line of a script's output: `workflow.plan.progress` shows it."""
    print(f"{SHOWN}{line}", flush=True)


def explain(error: ConfigError | OSError) -> str:
    """Say in one line what was refused."""
    line = str(error) if isinstance(error, ConfigError) else f"{error.filename or 'system'}: {error.strerror or error}"
    return printable(" ".join(line.split()))


def printable(line: str) -> str:
    """Show what moves a terminal's cursor, as names and files may hold it, in place of sending it."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in line)
