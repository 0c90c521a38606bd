"""Durations in words."""


def spell(seconds: float) -> str:
    """90 -> '1.5 min'; the unit that keeps the number short."""
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


def spell_range(low: float, high: float) -> str:
    """5400, 9000 -> '1.5 h to 2.5 h'; one duration where both read the same."""
    return spell(low) if spell(low) == spell(high) else f"{spell(low)} to {spell(high)}"


def spell_hours(hours: float) -> str:
    """0.1304, 84.2, 4523.0 -> '0.13', '84', '4,523'; two digits of what is short."""
    if hours < 0.01:
        return "less than 0.01"
    return f"{hours:,.0f}" if hours >= 10 else f"{hours:.2g}"
