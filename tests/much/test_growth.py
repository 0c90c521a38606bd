"""Twice as many runs are twice the work: counted in calls of functions, not in seconds."""

import re
import sys

import pytest

from tests.much.asked import write_config
from tests.much.plan import read_all
from tests.much.reports import rows
from workflow.plan.labels import digests, pattern
from workflow.report.pages.pivot import pivot_page
from workflow.results.runs_table import as_frame


def calls(work) -> int:
    """How many calls of functions some work takes, those of C included."""
    count = 0

    def seen(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.fixture
def planned(tmp_path, monkeypatch):
    """Calls that a plan of so many runs takes."""
    monkeypatch.chdir(tmp_path)
    return lambda runs: calls(lambda: read_all(write_config(tmp_path, runs)))


@pytest.mark.slow
def test_a_plan_grows_with_its_runs(planned):
    planned(40)  # what is read once
    half, whole = planned(500), planned(1000)
    assert half > 500 * 10 and whole < 2.1 * half


@pytest.mark.slow
def test_a_pivot_table_grows_with_its_runs():
    frames = [as_frame(rows(count)) for count in (16, 504, 1000)]
    _, half, whole = (calls(lambda frame=frame: pivot_page(frame)) for frame in frames)
    assert whole < 2.1 * half


def test_what_matches_digests_is_as_long_as_the_shorter_list():
    few, many = ["0" * 12], [f"{n:012x}" for n in range(1, 500)]
    assert digests(few, many) == pattern(few) and len(digests(many, few)) < 50
    for wanted, others in ((few, many), (many, few)):
        expression = re.compile(digests(wanted, others))
        assert all(map(expression.fullmatch, wanted)) and not any(map(expression.fullmatch, others))
