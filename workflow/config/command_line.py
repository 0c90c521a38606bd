"""How every script ends: bad input in one line, no traceback; anything unforeseen with its traceback."""

import sys
from collections.abc import Callable

from workflow.config.errors import ConfigError


def run(main: Callable[[], None]) -> None:
    """Exit 2 with one line for refused input, 1 with one line where the system refuses (disk full, no permission)."""
    try:
        main()
    except ConfigError as error:
        _end(str(error), 2)
    except OSError as error:
        _end(f"{error.filename or 'system'}: {error.strerror or error}", 1)


def printable(line: str) -> str:
    """Names and files may hold what moves a terminal's cursor: that is shown, not sent."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in line)


def _end(line: str, status: int) -> None:
    print(f"{sys.argv[0].rsplit('/', 1)[-1]}: {printable(' '.join(line.split()))}", file=sys.stderr)
    sys.exit(status)
