"""Durations in words."""

import pytest

from workflow.monitor.durations import spell, spell_hours


@pytest.mark.parametrize("seconds, text", [(9, "9 s"), (90, "1.5 min"), (5400, "1.5 h")])
def test_a_duration_has_the_unit_that_keeps_it_short(seconds, text):
    assert spell(seconds) == text


@pytest.mark.parametrize(
    "hours, text", [(0.0004, "less than 0.01"), (0.1304, "0.13"), (2.04, "2"), (84.2, "84"), (4523.4, "4,523")]
)
def test_hours_have_two_digits_where_they_are_few(hours, text):
    assert spell_hours(hours) == text
