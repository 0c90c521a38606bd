"""Numbers as people read them, alone and in columns; and the ids of figures within a page."""

import re

import pytest

from workflow.results.numbers import form_of, is_number, number, percent, to_digits, within

MINUS_ZERO = re.compile(r"[-\N{MINUS SIGN}]0(\.0*)?(?![.\d])")


@pytest.mark.parametrize(
    "value, unit, text",
    [
        (41_607_168, "MACs/character", "41.61M"),
        (1.0512, "bpc", "1.051"),
        (3 << 30, "bytes", "3.00 GiB"),
        (2504, "parameters", "2,504"),
        (None, "", ""),
        (float("nan"), "bpc", ""),
    ],
)
def test_one_number(value, unit, text):
    assert number(value, unit) == text


@pytest.mark.parametrize("value", [-0.0, -1e-9, -0.00004, -0.04])
def test_what_rounds_to_zero_has_no_minus(value):
    written = [percent(value), within(value, value - 1.0, value + 1.0, "bpc")]
    written += [to_digits(value, half) for half in (3.0, 0.3)]
    written += [number(value, unit) for unit in ("", "bpc", "bytes")]
    written += [form_of([1.0], [half]).text(value) for half in (0.02, 0.5, 30.0)]
    assert not [text for text in written if MINUS_ZERO.match(text)], written


@pytest.mark.parametrize(
    "values, halves, unit, texts",
    [
        ([2.78, 2.774], [], "", ["2.780", "2.774"]),  # as many decimals in the column
        # two digits of the narrowest interval
        ([95.87, 21.2], [1.32, 0.34], "BLEU", ["95.87", "21.20"]),
        ([2.0143, 2.1], [0.042], "bpc", ["2.014", "2.100"]),
        ([65536, 1024], [], "characters", ["65,536", "1,024"]),  # counts in full
        ([41607168, 216650000], [], "", ["41.61M", "216.65M"]),  # one unit in the column
        ([0.3, 0.5], [], "BLEU", ["0.3", "0.5"]),  # no digits that it has not
        ([2 << 30, 5 << 20], [], "bytes", ["2,048.0 MiB", "5.0 MiB"]),
        ([3.3e18, 2.3e19], [], "FLOPs", ["3.3e18", "2.3e19"]),
        ([1.0, 1.0 + 1e-12], [1e-12], "", ["1", "1"]),  # rounding is no interval
    ],
)
def test_a_column_has_one_number_of_decimals(values, halves, unit, texts):
    form = form_of(values, halves, unit)
    assert [form.text(value) for value in values] == texts


@pytest.mark.parametrize("value", [float("inf"), -float("inf"), float("nan"), None])
def test_what_is_no_number_costs_no_page(value):
    assert form_of([value, 1.5], [value]).text(1.5) == "1.5"
    assert percent(value) == to_digits(value) == ""
    assert within(1.5, value, value) == "1.5"
    assert not is_number(value)
