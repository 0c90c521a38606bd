"""What a check found."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

OK, NOTE, WRONG = "ok", "note", "WRONG"


@dataclass(frozen=True)
class Finding:
    """about: what was looked at. status: OK, WRONG, or NOTE for what works, but slower or less than it could."""

    about: str
    status: str
    said: str


def judge(about: str, well: bool, said: str) -> Finding:
    return Finding(about, OK if well else WRONG, said)


def examine(about: str, check: Callable[..., Iterable[Finding]], *arguments) -> list[Finding]:
    """What a check finds. One that raises has found something too."""
    try:
        return list(check(*arguments))
    except Exception as error:  # whatever is broken here, the other checks go on
        return [Finding(about, WRONG, f"{type(error).__name__}: {' '.join(str(error).split())}"[:300])]


WIDE = 28  # columns that the longest name takes


def line(found: Finding) -> str:
    return f"{found.about:<{WIDE}}{found.status:<7}{found.said}"
