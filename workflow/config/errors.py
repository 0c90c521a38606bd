"""Errors in input: one line that names the key, the value and what would be valid."""

from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches

from workflow.config.renamed import new_name

LONGEST = 60  # characters of a value that a line shows
MANY = 100  # names in a line


class ConfigError(Exception):
    """Bad input: one line that names the key, the value and what would be valid.

    Not a ValueError, which pydantic would wrap into several lines of its own. place: the file and
    line of the value, where that is known; is_placed: whether the line says it.
    """

    place = None
    is_placed = False


class UnknownKey(ConfigError):
    """A key that its mapping does not have. valid: those that it may have. place: of the key."""

    def __init__(self, line: str, key: str, valid: tuple[str, ...], place=None):
        super().__init__(line)
        self.key = key
        self.valid = valid
        self.place = place


def shown(value) -> str:
    """Show a value in a line, cut where it is long."""
    return cut(repr(value))


def cut(text: str) -> str:
    """Cut a text to what a line shows of it."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def nearest(value: str, valid) -> str | None:
    """Find the valid name that is most like a value, if any is."""
    by_lower = {name.lower(): name for name in valid}
    near = get_close_matches(value.lower(), by_lower, n=1, cutoff=0.4)
    return by_lower[near[0]] if near else None


def suggest(value: str, valid) -> str:
    """Say what an unknown name is called now, or which valid name is most like it; empty where none
    is.
    """
    name = new_name(value)
    if name != value and name in valid:
        return f"it is now called '{name}'"
    near = nearest(value, valid)
    return f"did you mean '{near}'?" if near else ""


def check_known(what: str, value: str, valid) -> None:
    """Raise `ConfigError` unless `value` is one of `valid`; the line carries the nearest valid
    name.
    """
    value = str(value)
    names = list(map(str, valid))
    if value in names:
        return
    names.sort()
    hint = suggest(value, names)
    if hint:
        hint += " " if hint.endswith("?") else "; "
    raise ConfigError(f"unknown {what} '{cut(value)}': {hint}{_listed(value, names)}")


def _listed(value: str, valid: list[str]) -> str:
    """List all that is valid; of very many names those that are most like the value."""
    if len(valid) <= MANY:
        return f"valid: {', '.join(valid)}"
    return (
        f"valid, among {len(valid)}: {', '.join(get_close_matches(value, valid, n=10, cutoff=0))}"
    )


@contextmanager
def naming_extra(extra: str) -> Iterator[None]:
    """Raise `ConfigError` that says how to install a package that an import in the block lacks."""
    try:
        yield
    except ModuleNotFoundError as error:
        line = f"{error.name} is not installed; pip install '.[{extra}]'"
        raise ConfigError(line) from None
