"""Bad input: one line that names the key, the value and what would be valid."""

from difflib import get_close_matches


class ConfigError(Exception):
    """Bad input: one line that names the key, the value and what would be valid.

    Not a ValueError, which pydantic would wrap into several lines of its own.
    """


def check_known(what: str, value: str, valid) -> None:
    """Raise `ConfigError` unless `value` is one of `valid`; the line carries the nearest valid name."""
    value, valid = str(value), sorted(map(str, valid))
    if value in valid:
        return
    lowered = {one.lower(): one for one in valid}
    near = get_close_matches(value.lower(), lowered, n=1, cutoff=0.4)
    hint = f"did you mean '{lowered[near[0]]}'? " if near else ""
    raise ConfigError(f"unknown {what} '{value}': {hint}valid: {', '.join(valid)}")
