"""Numbers and names as the answers say them."""

import math

import pandas as pd

from workflow.results.statistics import FEWEST

MINUS = "\N{MINUS SIGN}"


def to_digits(value: float | None, half: float | None = None) -> str:
    """A number with the digits of its interval: two of half its width; four of its own where there is none.

    >>> to_digits(-1.23456, 0.0321), to_digits(94.4333, 1.48), to_digits(2.0)
    ('\u22121.235', '94.4', '2.000')
    """
    if value is None or pd.isna(value):
        return ""
    size, digits = (half, 2) if half else (abs(value) or 1.0, 4)
    decimals = min(6, max(0, digits - 1 - math.floor(math.log10(size))))
    return f"{round(value, decimals) + 0.0:,.{decimals}f}".replace("-", MINUS)  # no minus before a zero


def intervals(bounds: list[tuple[float | None, float | None]]) -> str:
    """`95 % interval −0.03 to 0.01`, or `95 % intervals ... and ...`; of few pairs there is none."""
    said = [
        f"none (fewer than {FEWEST} pairs)"
        if low is None
        else f"{to_digits(low, (high - low) / 2)} to {to_digits(high, (high - low) / 2)}"
        for low, high in bounds
    ]
    return f"95 % interval{'s' * (len(said) > 1)} {join(said)}"


def join(parts: list[str]) -> str:
    """`a, b and c`"""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
