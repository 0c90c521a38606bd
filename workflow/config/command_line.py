"""What every script shares: its arguments, its output and its exit.

Bad input ends in one line without a traceback; an unforeseen error keeps its traceback. Control
characters are escaped, so output cannot steer a terminal. If the reader of a pipe has gone, the
script goes on silently.
"""

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import takewhile
from typing import NoReturn, TextIO

from workflow.config.environment import LOCALE
from workflow.config.errors import ConfigError, check_known, nearest
from workflow.config.files import CannotWrite

COMMAND = re.compile(r": `python -m [^`]+`\.")


class Parser(argparse.ArgumentParser):
    """The arguments of a command. An unknown one is refused in one line, with the nearest valid
    one.

    description: may be the docstring of the script, whose first sentence names the command.
    """

    def __init__(self, *, description: str, **options):
        super().__init__(allow_abbrev=False, description=COMMAND.sub(".", description), **options)

    def _check_value(self, action: argparse.Action, value) -> None:
        """Refuse what is none of an argument's choices, with its new name or the nearest."""
        if action.choices is not None and value not in action.choices:
            name = action.option_strings[0] if action.option_strings else action.dest
            check_known(name, value, action.choices)

    def error(self, message: str) -> NoReturn:
        _, _, unknown = message.partition("unrecognized arguments: ")
        hint = ""
        if unknown.strip():
            option = unknown.split()[0].partition("=")[0]
            near = nearest(option, self._option_string_actions)
            hint = f"did you mean {near}? " if near else ""
        raise ConfigError(f"{message}; {hint}see --help")


def refuse_twice(option: str, words: list[str]) -> None:
    """Refuse an option, or one of its keys, that is given twice: only the last would count."""
    if option not in words:
        return
    if words.count(option) > 1:
        raise ConfigError(
            f"{option} is given twice and only the last would count; "
            f"give all keys after one {option}"
        )
    behind = words[words.index(option) + 1 :]
    given = takewhile(lambda word: not word.startswith("-"), behind)
    keys = [word.partition("=")[0] for word in given]
    for key in keys:
        if keys.count(key) > 1:
            raise ConfigError(f"{option}: {key} is given twice and only the last would count")


def at_least(smallest: int) -> Callable[[str], int]:
    """Make the type of an option that takes a whole number."""

    def whole(word: str) -> int:
        if int(word) < smallest:
            raise ValueError
        return int(word)

    whole.__name__ = f"whole number of at least {smallest}"  # argparse: invalid ... value: 'x'
    return whole


class Printed:
    """A stream that people read: it shows control characters in place of sending them, and may lose
    its reader.
    """

    def __init__(self, stream: TextIO):
        self.stream = stream

    def write(self, text: str) -> int:
        lines = []
        for line in text.split("\n"):
            words = map(printable, line.split("\t"))
            lines.append("\t".join(words))
        self.send("\n".join(lines))
        return len(text)

    def send(self, text: str) -> None:
        """Write text as it is: what steers the terminal on purpose."""
        with self._unread():
            self.stream.write(text)

    def flush(self) -> None:
        with self._unread():
            self.stream.flush()

    @contextmanager
    def _unread(self) -> Iterator[None]:
        """Go on where the reader has gone, as `head` does: what is written from now on goes
        nowhere.

        As it does where the disk of a file is full, which is `CannotWrite`, once.
        """
        try:
            yield
        except OSError as error:
            name = self._name()
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.stream.fileno())
            os.close(nowhere)
            if not isinstance(error, BrokenPipeError):
                raise CannotWrite(error.errno, error.strerror, name) from None

    def _name(self) -> str:
        """Return the name of the file that it is sent to, where the system knows."""
        with suppress(OSError):
            return os.readlink(f"/proc/self/fd/{self.stream.fileno()}")
        return self.stream.name

    def __getattr__(self, name: str):
        return getattr(self.stream, name)


def run(main: Callable[[], None]) -> None:
    """Exit 2 with one line for refused input, 1 with one line where the system refuses (disk full,
    no permission).

    What a script starts has the same locale on every machine.
    """
    os.environ.update(LOCALE)
    if sys.stdout:
        sys.stdout.reconfigure(errors="backslashreplace")  # of a terminal that lacks some letters
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream and not isinstance(stream, Printed):
            setattr(sys, name, Printed(stream))
    try:
        main()
        if sys.stdout:
            sys.stdout.flush()
    except (ConfigError, OSError) as error:
        with suppress(OSError):  # the same disk may be full
            script = sys.argv[0].rsplit("/", 1)[-1]
            print(f"{script}: {explain(error)}", file=sys.stderr)
        sys.exit(2 if isinstance(error, ConfigError) else 1)


def print_lines(lines: Iterable[str]) -> None:
    """Print lines: what one was made from cannot begin another."""
    print("\n".join(map(printable, lines)))


def print_data(text: str) -> None:
    """Print what another program reads: as it is to a file or a pipe, as all else to a terminal."""
    stream = sys.stdout
    if isinstance(stream, Printed) and not stream.isatty():
        stream.send(text)
    else:
        stream.write(text)


def explain(error: ConfigError | OSError) -> str:
    """Say in one line what was refused."""
    line = str(error)
    if not isinstance(error, ConfigError):
        line = f"{error.filename or 'system'}: {error.strerror or error}"
    return printable(" ".join(line.split()))


def printable(line: str) -> str:
    """Show what moves a terminal's cursor, as names and files may hold it, in place of sending
    it.
    """
    letters = []
    for letter in line:
        letters.append(letter if letter.isprintable() else ascii(letter)[1:-1])
    return "".join(letters)
