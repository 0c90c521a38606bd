"""Durations in words."""


def spell(seconds: float) -> str:
    """90 -> '1.5 min'; the unit that keeps the number short."""
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"
