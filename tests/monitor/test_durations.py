"""Durations in words."""

import pytest

from workflow.monitor.durations import spell


@pytest.mark.parametrize("seconds, text", [(9, "9 s"), (90, "1.5 min"), (5400, "1.5 h")])
def test_a_duration_has_the_unit_that_keeps_it_short(seconds, text):
    assert spell(seconds) == text
