"""Write numbers as text: alone, in a column with the same number of decimals, or in sentences.

A column has as many decimals as two digits of its narrowest interval need; without intervals, as
its numbers need. Counts below a million are written out, 65,536 and never 65.54k; from a million on
a suffix replaces the zeros.
"""

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

MINUS = "\N{MINUS SIGN}"
SUFFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"))
BYTES = ((2**30, " GiB"), (2**20, " MiB"))
BITS = ("bpc", "bpb", "nats")
DIGITS = 4  # significant digits of a number alone
OF_INTERVAL = 2  # significant digits of half an interval
MOST = 4  # decimals
MOST_OF = {"%": 1, "points": 1, "doublings": 2}  # decimals of a unit, where more would be noise
HUGE = 1e15  # from here on numbers are written with an exponent
TIMES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}  # suffixes of printed numbers
PRINTED = re.compile(
    "(?P<digits>[-+]?(\\d{1,3}([,_]\\d{3})+|\\d+)(\\.\\d*)?)([eE](?P<exponent>[-+]?\\d+))?(?P<suffix>[kMGT]?)"
)


def missing(value) -> bool:
    if value is None:
        return True
    return isinstance(value, float) and math.isnan(value)


def name_places(S: float | None, k: float | None) -> list[str]:
    """Name the places of a run on its grids, as far as it has them: `S = 64`, `k = 8`."""
    named = []
    if not missing(S):
        named.append(f"S = {S:g}")
    if not missing(k):
        named.append(f"k = {k:g}")
    return named


def at_limits(limits: list[int]) -> str:
    """Name the limits S of a few runs, ` at S = 128 and 256`; nothing for runs without a limit."""
    if not limits:
        return ""
    values = [f"{S:,}" for S in limits]
    return f" at S = {join(values)}"


def is_number(value) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value)


def rounded(value: float, places: int) -> float:
    """Round to so many decimals, with no minus before a zero."""
    return round(value, places) + 0.0


@dataclass(frozen=True)
class Form:
    """How the numbers of a column are written.

    They are divided by `scale`, and have `places` decimals and a suffix.
    """

    places: int = 0
    scale: float = 1
    suffix: str = ""

    def text(self, value) -> str:
        """Write one value of the column: text stays as it is, a missing value is empty."""
        if not is_number(value) or abs(value) >= HUGE:
            return number(value)
        shown = rounded(value / self.scale, self.places)
        return f"{shown:,.{self.places}f}{self.suffix}"


def form_of(values: Iterable, halves: Iterable = (), unit: str = "") -> Form:
    """Find the form of a column.

    halves: the numbers behind ±, as `workflow.report.layout.half_of` gives them.
    """
    sizes = [abs(value) for value in values if is_number(value) and value]
    if not sizes:
        return Form(3 if unit in BITS else 0)
    scale, suffix = _scale(min(sizes), unit)
    sizes = [size / scale for size in sizes]
    smallest = min(sizes)
    largest = max(sizes)
    # an interval of rounding errors alone is none
    least = 1e-9 * scale * largest
    narrow = []
    for half in halves:
        if is_number(half) and half > least:
            narrow.append(half / scale)
    if narrow:
        places = _decimals(min(narrow), OF_INTERVAL)
        return Form(min(places, MOST_OF.get(unit, MOST)), scale, suffix)
    if unit in BITS:
        return Form(3)
    if unit == "bytes":
        places = 2 if suffix == " GiB" else 1
        return Form(places, scale, suffix)
    if suffix:
        places = _decimals(smallest, DIGITS)
    else:
        places = _decimals(largest, DIGITS)
        if largest < 1000:
            places = max(places, _decimals(smallest, 2))
    places = min(places, MOST_OF.get(unit, MOST), longest(sizes))
    return Form(places, scale, suffix)


@dataclass(frozen=True)
class Printed:
    """A number as a paper prints it.

    text: with its digits, `0.50` or `1.0M`. place: of its last digit, 0.01 or 1e5.
    """

    value: float
    text: str
    place: float

    @classmethod
    def read(cls, text: str) -> "Printed | None":
        """Read a number with a point, an exponent, thousands or a suffix; None for other text.

        Whole numbers from a million on stand for what is printed with a suffix, 42000000 for 42M:
        those that are whole millions are printed to the million, and those that are whole thousands
        of them to 1e9 (90M, 120G).
        """
        parts = PRINTED.fullmatch(text.strip())
        if not parts:
            return None
        digits = re.sub("[,_]", "", parts["digits"])
        suffix = parts["suffix"]
        exponent = int(parts["exponent"] or 0)
        factor = TIMES[suffix]
        value = float(f"{digits}e{exponent}") * factor
        decimals = len(digits.partition(".")[2])
        place = 10.0**exponent * factor / 10**decimals
        if exponent:
            return cls(value, f"{digits}e{exponent}{suffix}", place)
        if "." in digits or suffix:
            return cls(value, text.strip(), place)
        return cls(value, number(value), _place_of_whole(value))

    def is_rounded(self, result: float) -> bool:
        """Whether a result, rounded to the last printed digit, is this number.

        A half is rounded either way.
        """
        half = self.place / 2 * (1 + 1e-9)
        return abs(result - self.value) <= half


def _place_of_whole(value: float) -> float:
    for place in (1e9, 1e6):
        if value and value % place == 0:
            return place
    return 1.0


def longest(values: Iterable[float]) -> int:
    """Count the most decimals that any of these numbers is written with."""
    most = 0
    for value in values:
        _, _, decimals = f"{value:.9f}".partition(".")
        most = max(most, len(decimals.rstrip("0")))
    return most


def _scale(smallest: float, unit: str) -> tuple[float, str]:
    """Find what all numbers of a column are divided by, and their suffix.

    The smallest keeps its digits.
    """
    scales = BYTES if unit == "bytes" else SUFFIXES
    for scale, suffix in scales:
        if smallest >= scale:
            return scale, suffix
    if unit == "bytes":
        return BYTES[-1]
    return 1, ""


def _decimals(size: float, digits: int) -> int:
    """Count the decimals that `digits` significant digits need.

    Of a number alone, a zero before the point is one of them.
    """
    if digits == DIGITS:
        size = max(size, 1.0)
    rounded_size = float(f"{size:.{digits - 1}e}")  # 9.996 has the digits of 10.00
    power = math.floor(math.log10(rounded_size))
    return max(0, digits - 1 - power)


def number(value, unit: str = "") -> str:
    """Write one number: 1234567 as 1.235M, bits to three places, bytes in MiB or GiB.

    A missing value is empty.
    """
    if missing(value):
        return ""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if not is_number(value):
        return str(value)
    if abs(value) >= HUGE:
        return f"{value:.4g}".replace("e+", "e")
    scale, suffix = _scale(abs(value), unit)
    if suffix and unit != "bytes":
        return f"{value / scale:.4g}{suffix}"
    if unit in BITS or unit == "bytes" or abs(value) >= 1000:
        return form_of([value], unit=unit).text(value)
    return f"{value + 0.0:.4g}"


def within(value, low: float | None, high: float | None, unit: str = "") -> str:
    """Write a number with its interval, if it has one, in the digits that the interval allows."""
    if not is_number(low) or not is_number(high):
        return number(value, unit)
    million, _ = SUFFIXES[-1]
    if 1000 <= abs(value) < million:
        form = Form()
    else:
        half = (high - low) / 2
        form = form_of([value], [half], unit)
    interval = reach(value, low, high, form.text)
    return form.text(value) + interval


def reach(value: float, low: float, high: float, write: Callable[[float], str]) -> str:
    """Write what follows a mean: ` ± half` its interval or, if it is uneven, ` (low to high)`.

    An interval is uneven where a bound of the quantity cuts it off, and of a ratio, whose logarithm
    has the even one.
    """
    half = (high - low) / 2
    off_centre = abs(value - low - half)
    if off_centre <= 1e-6 * half:
        return f" ± {write(half)}"
    least = write(low)
    most = write(high)
    return f" ({least} to {most})"


def quantity(value, unit: str = "") -> str:
    """Write a number with its unit, where the number does not already show it."""
    text = number(value, unit)
    if not text:
        return ""
    return f"{text}{behind(unit)}"


def behind(unit: str) -> str:
    """Return what follows a number: a space and its unit, `×` alone, or nothing.

    There is nothing where the number shows the unit.
    """
    if unit in ("bytes", "", "layers"):
        return ""
    return unit if unit == "×" else f" {unit}"


def percent(value) -> str:
    """Write a difference in per cent with its sign: `+2.1 %`."""
    if not is_number(value):
        return ""
    places = 1 if abs(value) < 1000 else 0
    if not rounded(value, places):
        return "0 %"
    return f"{value:+.{places}f} %"


def to_digits(value: float | None, half: float | None = None) -> str:
    """Write a number with the decimals of two digits of half its interval, or four of its own.

    >>> to_digits(-1.23456, 0.0321), to_digits(94.4333, 1.48), to_digits(2.0)
    ('\u22121.235', '94.4', '2.000')
    """
    if not is_number(value):
        return ""
    if half:
        size = half
        digits = OF_INTERVAL
    else:
        size = abs(value) or 1.0
        digits = DIGITS
    power = math.floor(math.log10(size))
    decimals = min(6, max(0, digits - 1 - power))
    written = f"{rounded(value, decimals):,.{decimals}f}"
    return written.replace("-", MINUS)


def reach_to_digits(value: float, ends: tuple[float, float], half: float | None) -> str:
    """Write what follows a mean, as `reach`, with the decimals that `to_digits` gives it."""
    low, high = ends

    def write(end: float) -> str:
        return to_digits(end, half)

    return reach(value, low, high, write)


def to_place(value: float, place: float) -> str:
    """Write a number down to the decimal place of its last digit.

    >>> to_place(-0.040000000000000036, 0.01), to_place(1.5e6, 1e5)
    ('-0.04', '1.5M')
    """
    decimals = max(0, -round(math.log10(place)))
    if not decimals:
        return number(value)
    return f"{rounded(value, decimals):,.{decimals}f}"


def capital(text: str) -> str:
    """Begin a sentence: the first letter as a capital, the others as they are."""
    return text[:1].upper() + text[1:]


def join(parts: list[str]) -> str:
    """Join parts as `a, b and c`."""
    if len(parts) < 2:
        return "".join(parts)
    *others, last = parts
    listed = ", ".join(others)
    return f"{listed} and {last}"


def count(number: int, noun: str) -> str:
    """Write a number of things: `1 seed`, `3 seeds`."""
    if number == 1:
        return f"{number} {noun}"
    return f"{number} {noun}s"


def quoted(name: str) -> str:
    """Put a name that has a comma in quotation marks, so that a sentence shows where it ends."""
    if "," not in name:
        return name
    return f"\N{LEFT DOUBLE QUOTATION MARK}{name}\N{RIGHT DOUBLE QUOTATION MARK}"
