"""Bad input: one line that names the key, the value and what would be valid."""

from difflib import get_close_matches


class ConfigError(Exception):
    """Bad input: one line that names the key, the value and what would be valid.

    Not a ValueError, which pydantic would wrap into several lines of its own.
    """


def nearest(value: str, valid) -> str | None:
    """The valid name that is most like a value, if any is."""
    by_lower = {name.lower(): name for name in valid}
    near = get_close_matches(value.lower(), by_lower, n=1, cutoff=0.4)
    return by_lower[near[0]] if near else None


def check_known(what: str, value: str, valid) -> None:
    """Raise `ConfigError` unless `value` is one of `valid`; the line carries the nearest valid name."""
    value, valid = str(value), sorted(map(str, valid))
    if value not in valid:
        near = nearest(value, valid)
        hint = f"did you mean '{near}'? " if near else ""
        raise ConfigError(f"unknown {what} '{value}': {hint}valid: {', '.join(valid)}")
