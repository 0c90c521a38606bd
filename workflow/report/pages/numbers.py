"""Numbers as text."""

import math

SUFFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k"))


def missing(value) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def number(value, unit: str = "") -> str:
    """1234567 -> 1.235M; bits to three places; bytes in MiB or GiB; text as it is; nothing for a missing value."""
    if missing(value):
        return ""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    if unit == "bytes":
        return f"{value / 2**30:.2f} GiB" if value >= 2**30 else f"{value / 2**20:.1f} MiB"
    if unit in ("bpc", "bpb", "nats"):
        return f"{round(value, 3) + 0.0:.3f}"  # no minus before a zero
    if unit in ("layers", "heads", "parameters") and abs(value) < 1e4:
        return f"{value:,.0f}"
    return _scaled(value)


def _scaled(value: float) -> str:
    """Four significant digits, with a suffix from ten thousand up, an exponent from 10^15."""
    size = abs(value)
    if size >= 1e15:
        return f"{value:.4g}".replace("e+", "e")
    for bound, suffix in SUFFIXES:
        if size >= bound:
            scale = 1e3 if suffix == "k" else bound
            return f"{value / scale:.4g}{suffix}"
    if size >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def quantity(value, unit: str = "") -> str:
    """A number with its unit, where the number does not already say it."""
    text = number(value, unit)
    return text if not text or unit in ("bytes", "", "layers") else f"{text} {unit}"


def percent(value) -> str:
    """+2.1 %"""
    if missing(value):
        return ""
    return f"{value:+.1f} %" if abs(value) < 1000 else f"{value:+.0f} %"
