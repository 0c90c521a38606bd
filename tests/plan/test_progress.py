"""What a run of the workflow says while it runs."""

import io
import logging
from types import SimpleNamespace

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from workflow.config.command_line import SHOWN
from workflow.plan import progress
from workflow.plan.progress import Progress, follow, say_once_what_is_not_written


def tell(
    to: Progress,
    event: LogEvent | None = None,
    message: str = "",
    level: int = logging.INFO,
    **known,
) -> None:
    record = logging.LogRecord("snakemake", level, __file__, 1, message, None, None)
    record.__dict__.update(known, event=event)
    to.emit(record)


def start(to: Progress, job: int, rule: str, words: str, log: str = "") -> None:
    tell(to, LogEvent.JOB_INFO, jobid=job, rule_name=rule, rule_msg=words, log=[log] if log else [])


@pytest.fixture
def told():
    """Two runs of 60 s and a question, on two cores, with nobody at a terminal."""
    told = Progress(
        io.StringIO(), terminal=False, training={"a" * 12: 60.0, "b" * 12: 60.0}, cores=2
    )
    yield told
    told.stop()


STATS = {"train": 2, "question": 1, "total": 3}


def lines(of: Progress) -> list[str]:
    return of.stream.getvalue().splitlines()


def test_it_begins_with_what_is_to_do_and_how_long_it_takes(told):
    tell(told, LogEvent.RUN_INFO, stats=STATS)
    assert lines(told) == ["3 steps on 2 cores, about 1.0 min left"]


def test_each_step_that_ended_says_what_it_showed_and_no_other_line_of_snakemake_is_seen(
    told, tmp_path, monkeypatch
):
    monkeypatch.setattr(progress, "_scores", {"a" * 12: "dev bpc 1.25"}.get)
    log = tmp_path / "question.log"
    log.write_text(f"a line\n{SHOWN}Found: wide is better.\n")
    tell(told, message="Building DAG of jobs...")
    tell(told, LogEvent.RUN_INFO, stats=STATS)
    start(told, 1, "train", "train fixed, seed 1", f"logs/train/{'a' * 12}.log")
    start(told, 2, "question", "answer width:  is wide better?", str(log))
    start(told, 3, "plan", "plan the runs")
    for job in (1, 2, 3):
        tell(told, LogEvent.JOB_FINISHED, job_id=job)
    tell(told, LogEvent.PROGRESS, done=2, total=3)
    found = [
        "train fixed, seed 1: dev bpc 1.25 (0 s)",
        "answer width: Found: wide is better. (0 s)",
    ]
    assert lines(told)[1:] == [*found, "plan the runs (0 s)"]
    assert told.line() == "2 of 3 steps, about 30 s left"  # one run of 60 s, on two cores


def test_the_line_names_what_runs_now(told):
    tell(told, LogEvent.RUN_INFO, stats=STATS)
    for job in range(4):
        start(told, job, "page", f"write page {job}")
    assert told.line().endswith("write page 0; write page 1; and 2 more")


def test_errors_and_warnings_are_seen_whole(told):
    tell(told, LogEvent.JOB_ERROR, "Error in rule train: no memory", logging.ERROR)
    tell(told, None, "a warning", logging.WARNING)
    tell(told, None, "Nothing to be done (all requested files are present and up to date).")
    assert [line.split()[0] for line in lines(told)] == ["Error", "a", "Nothing"]


def test_the_tail_of_a_log_is_shown_and_not_sent(told):
    tell(told, LogEvent.JOB_ERROR, "Error in rule train:\n\x1b[2Jno memory", logging.ERROR)
    assert lines(told) == ["Error in rule train:", r"\x1b[2Jno memory"]


@pytest.mark.parametrize(
    "ends, one_line",
    [
        ("step 10\ntrain.py: results/a.pt: No space left on device\n", True),
        ("Traceback (most recent call last):\n  ..\nValueError: unforeseen\n", False),
        ("step 10\n", False),  # killed
        ("", False),
    ],
)
def test_a_step_that_refused_is_one_line_and_any_other_failure_is_shown_whole(
    ends, one_line, told, tmp_path
):
    log = tmp_path / "train.log"
    log.write_text(ends)
    start(told, 1, "train", "train fixed, seed 1", str(log))
    tell(told, LogEvent.ERROR, "RuleException:\nCalledProcessError in file ..", logging.ERROR)
    tell(told, LogEvent.JOB_ERROR, "Error in rule train:\n    log: ..", logging.ERROR, jobid=1)
    whole = [
        "RuleException:",
        "CalledProcessError in file ..",
        "Error in rule train:",
        "    log: ..",
    ]
    assert lines(told) == (
        ["train fixed, seed 1: results/a.pt: No space left on device"] if one_line else whole
    )


def test_a_step_whose_log_has_no_room_says_so(told, tmp_path, monkeypatch):
    log = tmp_path / "train.log"
    log.touch()
    monkeypatch.setattr(progress, "is_full", {tmp_path: True}.get)
    start(told, 1, "train", "train fixed, seed 1", str(log))
    tell(told, LogEvent.JOB_ERROR, "Error in rule train", logging.ERROR, jobid=1)
    assert lines(told) == [f"train fixed, seed 1: {log}: No space left on device"]


def test_snakemakes_log_says_once_that_it_cannot_be_written(told, capfd):
    """/dev/full is always full."""
    handler = logging.FileHandler("/dev/full")
    say_once_what_is_not_written(handler, told.say)
    for number in range(3):
        handler.handle(
            logging.LogRecord("snakemake", logging.INFO, __file__, number, "a line", None, None)
        )
    handler.close()
    assert [line.startswith("/dev/full: No space left on device") for line in lines(told)] == [True]
    assert capfd.readouterr().err == ""


def test_on_a_terminal_the_line_is_written_over():
    told = Progress(io.StringIO(), terminal=True)
    told.say("a line")
    assert told.stream.getvalue() == "\r\x1b[Ka line\n"


@pytest.mark.parametrize("asked", ["dryrun", "printshellcmds", "quiet", "debug_dag", "verbose"])
def test_who_asks_for_snakemakes_lines_gets_them(asked):
    names = ("dryrun", "printshellcmds", "quiet", "debug_dag", "verbose")
    settings = SimpleNamespace(**{name: name == asked for name in names})
    assert (
        follow(SimpleNamespace(output_settings=settings, is_main_process=True), targets=None)
        is None
    )
