"""How every script ends: bad input in one line, no traceback; anything unforeseen with its traceback."""

import sys
from collections.abc import Callable

from workflow.choices import Refused


def run(main: Callable[[], None]) -> None:
    """Exit 2 with one line for refused input, 1 with one line where the system refuses (disk full, no permission)."""
    try:
        main()
    except Refused as error:
        _end(str(error), 2)
    except OSError as error:
        _end(f"{error.filename or 'system'}: {error.strerror or error}", 1)


def _end(line: str, status: int) -> None:
    """Names of files may hold what moves a terminal's cursor: that is shown, not sent."""
    shown = "".join(one if one.isprintable() else ascii(one)[1:-1] for one in " ".join(line.split()))
    print(f"{sys.argv[0].rsplit('/', 1)[-1]}: {shown}", file=sys.stderr)
    sys.exit(status)
