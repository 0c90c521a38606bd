"""The line per finished job, and the estimate of the time left."""

import logging

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from workflow.monitor.progress import Progress, spell


def event(kind, msg=None, **extra):
    return logging.makeLogRecord({"msg": msg, "event": kind, **extra})


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("workflow.monitor.progress.time.monotonic", lambda: now[0])
    return now


def started(clock):
    """Four runs and a timing; one run has ended after 30 s."""
    progress = Progress({"train": 10.0, "throughput": 60.0}, lanes=2, alone=("throughput",))
    progress.filter(event(LogEvent.RUN_INFO, stats={"train": 4, "throughput": 1, "total": 5}))
    progress.filter(event(LogEvent.JOB_INFO, jobid=7, rule_name="train", wildcards={"digest": "ab12"}))
    clock[0] += 30
    progress.filter(event(LogEvent.JOB_FINISHED, job_id=7))
    return progress


def test_until_a_job_of_a_rule_was_seen_the_expectation_stands():
    progress = Progress({"train": 10.0}, lanes=2)
    progress.filter(event(LogEvent.RUN_INFO, stats={"train": 4, "table": 2, "total": 6}))
    assert progress.seconds_left() == (4 * 10 + 2 * 3) / 2


def test_what_was_seen_takes_the_place_of_the_expectation(clock):
    assert started(clock).seconds_left() == 3 * 30 / 2 + 60


def test_a_line_says_what_ended_and_how_long_is_left(clock):
    record = event(LogEvent.PROGRESS, done=1, total=5)
    assert started(clock).filter(record)
    assert " ".join(record.getMessage().split()) == "1 of 5 train ab12 (30 s) 30 s gone, about 1.8 min left"


def test_errors_and_warnings_pass():
    progress = Progress({}, lanes=1)
    assert progress.filter(event(LogEvent.JOB_ERROR, "broken")) and progress.filter(event(None, "plain words"))
    assert not progress.filter(event(LogEvent.JOB_FINISHED, job_id=99))  # one that it never saw begin


def test_spell():
    assert [spell(seconds) for seconds in (9, 90, 5400)] == ["9 s", "1.5 min", "1.5 h"]
