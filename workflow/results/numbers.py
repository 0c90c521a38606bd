"""Write numbers as text: one alone, a column of them with the same number of decimals, and in
sentences of answers.

A column has as many decimals as two digits of its narrowest interval need; without intervals, as
its numbers need. Counts below a million are written out, 65,536 and never 65.54k; from a million on
a suffix stands for the zeros.
"""

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

MINUS = "\N{MINUS SIGN}"
SUFFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"))
BYTES = ((2**30, " GiB"), (2**20, " MiB"))
BITS = ("bpc", "bpb", "nats")
DIGITS, OF_INTERVAL = 4, 2  # significant digits: of a number alone, of half an interval
MOST = 4  # decimals
HUGE = 1e15  # from here on numbers are written with an exponent
TIMES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}  # suffixes of printed numbers
PRINTED = re.compile(
    "(?P<digits>[-+]?(\\d{1,3}([,_]\\d{3})+|\\d+)(\\.\\d*)?)([eE](?P<exponent>[-+]?\\d+))?(?P<suffix>[kMGT]?)"
)


def missing(value) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def name_places(S: float | None, k: float | None) -> list[str]:
    """Name the places of a run on its grids, as far as it has them: `S = 64`, `k = 8`."""
    return [f"{axis} = {value:g}" for axis, value in (("S", S), ("k", k)) if not missing(value)]


def at_limits(limits: list[int]) -> str:
    """Name the limits S of a few runs, ` at S = 128 and 256`; an empty text for runs without a
    limit.
    """
    return f" at S = {join([f'{S:,}' for S in limits])}" if limits else ""


def is_number(value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def rounded(value: float, places: int) -> float:
    """Round to so many decimals, with no minus before a zero."""
    return round(value, places) + 0.0


@dataclass(frozen=True)
class Form:
    """How the numbers of a column are written: divided by `scale`, with `places` decimals and a
    suffix.
    """

    places: int = 0
    scale: float = 1
    suffix: str = ""

    def text(self, value) -> str:
        """Write one value of the column: text stays as it is, a missing value is empty."""
        if not is_number(value) or abs(value) >= HUGE:
            return number(value)
        return f"{rounded(value / self.scale, self.places):,.{self.places}f}{self.suffix}"


def form_of(values: Iterable, halves: Iterable = (), unit: str = "") -> Form:
    """Find the form of a column. halves: the numbers behind ±, as `workflow.report.layout.half_of`
    gives them.
    """
    sizes = [abs(value) for value in values if is_number(value) and value]
    if not sizes:
        return Form(3 if unit in BITS else 0)
    scale, suffix = _scale(min(sizes), unit)
    sizes = [size / scale for size in sizes]
    narrow = [
        half / scale for half in halves if is_number(half) and half > 1e-9 * scale * max(sizes)
    ]
    if narrow:
        return Form(min(_decimals(min(narrow), OF_INTERVAL), MOST), scale, suffix)
    if unit in BITS:
        return Form(3)
    if unit == "bytes":
        return Form(2 if suffix == " GiB" else 1, scale, suffix)
    if suffix:
        places = _decimals(min(sizes), DIGITS)
    else:
        places = max(
            _decimals(max(sizes), DIGITS), _decimals(min(sizes), 2) if max(sizes) < 1000 else 0
        )
    return Form(min(places, MOST, longest(sizes)), scale, suffix)


@dataclass(frozen=True)
class Printed:
    """A number as a paper prints it. text: with its digits, `0.50` or `1.0M`. place: of its last
    digit, 0.01 or 1e5.
    """

    value: float
    text: str
    place: float

    @classmethod
    def read(cls, text: str) -> "Printed | None":
        """Read a number that is written with a point, an exponent, thousands or one of k, M, G, T;
        None for other text.

        Whole numbers from a million on stand for what is printed with a suffix, 42000000 for 42M:
        those that are whole millions are printed to the million, and those that are whole thousands
        of them to 1e9 (90M, 120G).
        """
        if not (parts := PRINTED.fullmatch(text.strip())):
            return None
        digits = re.sub("[,_]", "", parts["digits"])
        exponent = int(parts["exponent"] or 0)
        times = 10.0**exponent * TIMES[parts["suffix"]]
        value = float(f"{digits}e{exponent}") * TIMES[parts["suffix"]]
        place = times / 10 ** len(digits.partition(".")[2])
        if exponent:
            return cls(value, f"{digits}e{exponent}{parts['suffix']}", place)
        if "." in digits or parts["suffix"]:
            return cls(value, text.strip(), place)
        return cls(value, number(value), _place_of_whole(value))

    def is_rounded(self, result: float) -> bool:
        """Whether a result, rounded to the last digit that is printed, is this number; a half is
        rounded either way.
        """
        return abs(result - self.value) <= self.place / 2 * (1 + 1e-9)


def _place_of_whole(value: float) -> float:
    return next((place for place in (1e9, 1e6) if value and value % place == 0), 1.0)


def longest(values: Iterable[float]) -> int:
    """Count the most decimals that any of these numbers is written with."""
    return max((len(f"{value:.9f}".partition(".")[2].rstrip("0")) for value in values), default=0)


def _scale(smallest: float, unit: str) -> tuple[float, str]:
    """Find what every number of a column is divided by, and its suffix, so that the smallest keeps
    its digits.
    """
    if unit == "bytes":
        return next((bound for bound in BYTES if smallest >= bound[0]), BYTES[-1])
    return next((bound for bound in SUFFIXES if smallest >= bound[0]), (1, ""))


def _decimals(size: float, digits: int) -> int:
    """Count the decimals that `digits` significant digits need; of a number alone, a zero before
    the point is one.
    """
    if digits == DIGITS:
        size = max(size, 1.0)
    return max(0, digits - 1 - math.floor(math.log10(float(f"{size:.{digits - 1}e}"))))


def number(value, unit: str = "") -> str:
    """Write one number: 1234567 as 1.235M, bits to three places, bytes in MiB or GiB; a missing
    value is empty.
    """
    if missing(value):
        return ""
    if not is_number(value):
        return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
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
    if not (is_number(low) and is_number(high)):
        return number(value, unit)
    form = (
        Form()
        if 1000 <= abs(value) < SUFFIXES[-1][0]
        else form_of([value], [(high - low) / 2], unit)
    )
    return form.text(value) + reach(value, low, high, form.text)


def reach(value: float, low: float, high: float, write: Callable[[float], str]) -> str:
    """Write what follows a mean: ` ± half` its interval or, of one that is not even on both sides,
    ` (low to high)`.

    An interval is uneven where a bound of the quantity cuts it off, and of a ratio, whose logarithm
    has the even one.
    """
    half = (high - low) / 2
    if abs(value - low - half) <= 1e-6 * half:
        return f" ± {write(half)}"
    return f" ({write(low)} to {write(high)})"


def quantity(value, unit: str = "") -> str:
    """Write a number with its unit, where the number does not already show it."""
    text = number(value, unit)
    return f"{text}{behind(unit)}" if text else ""


def behind(unit: str) -> str:
    """Return what follows a number: a space and its unit, `×` alone, or nothing where the number
    shows the unit.
    """
    if unit in ("bytes", "", "layers"):
        return ""
    return unit if unit == "×" else f" {unit}"


def percent(value) -> str:
    """Write a difference in per cent with its sign: `+2.1 %`."""
    if not is_number(value):
        return ""
    places = 1 if abs(value) < 1000 else 0
    return f"{value:+.{places}f} %" if rounded(value, places) else "0 %"


def to_digits(value: float | None, half: float | None = None) -> str:
    """Write a number in the decimals of two digits of half its interval, or four digits of its own
    without one.

    >>> to_digits(-1.23456, 0.0321), to_digits(94.4333, 1.48), to_digits(2.0)
    ('\u22121.235', '94.4', '2.000')
    """
    if not is_number(value):
        return ""
    size, digits = (half, 2) if half else (abs(value) or 1.0, 4)
    decimals = min(6, max(0, digits - 1 - math.floor(math.log10(size))))
    # no minus before a zero
    return f"{round(value, decimals) + 0.0:,.{decimals}f}".replace("-", MINUS)


def reach_to_digits(value: float, ends: tuple[float, float], half: float | None) -> str:
    """Write what follows a mean, as `reach`, in the decimals that `to_digits` gives it. half: as
    there.
    """
    return reach(value, *ends, lambda each: to_digits(each, half))


def to_place(value: float, place: float) -> str:
    """Write a number down to the decimal place of its last digit.

    >>> to_place(-0.040000000000000036, 0.01), to_place(1.5e6, 1e5)
    ('-0.04', '1.5M')
    """
    decimals = max(0, -round(math.log10(place)))
    return f"{rounded(value, decimals):,.{decimals}f}" if decimals else number(value)


def capital(text: str) -> str:
    """Begin a sentence: the first letter as a capital, the others as they are."""
    return text[:1].upper() + text[1:]


def join(parts: list[str]) -> str:
    """Join parts as `a, b and c`."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def quoted(name: str) -> str:
    """Put a name that has a comma in quotation marks, so that a sentence shows where it ends."""
    return (
        f"\N{LEFT DOUBLE QUOTATION MARK}{name}\N{RIGHT DOUBLE QUOTATION MARK}"
        if "," in name
        else name
    )
