"""What a run of the workflow says while it runs: one line that stays, and a line for each thing
that ended.

Snakemake's own lines go to its log alone. Of a run its record says what it showed; any other step
may print it as the last line of its log, after `SHOWN`. A step that refuses to go on says why in
the last line of its log, which is shown; of one that ended otherwise Snakemake shows all. Where
nobody looks at a terminal there is a line a minute.
"""

import errno
import logging
import os
import re
import shutil
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from snakemake.logging import logger
from snakemake_interface_logger_plugins.common import LogEvent

from workflow.config.command_line import SHOWN, Printed, printable
from workflow.config.errors import ConfigError
from workflow.config.files import is_full
from workflow.plan.estimate import TrainingTime, read_timed, spell
from workflow.plan.targets import Targets
from workflow.results.record import read_record
from workflow.tasks.spec import TASKS

RUNS = Path("results/runs")
TERMINAL, LOG = 1.0, 60.0  # seconds between two lines on progress
BAD = (LogEvent.JOB_ERROR, LogEvent.GROUP_ERROR, LogEvent.ERROR)
REFUSED = re.compile(r"\w+\.py: ")  # begins the line with which `command_line.run` ends a script
OF_A_SHELL = "CalledProcessError"  # in what Snakemake says of a step before its JOB_ERROR
# of Snakemake's other lines, those that a user needs
PLAIN = ("Nothing to be done", "Complete log")
SHORT = 2.0  # seconds of a step of which nothing else is known


@dataclass
class Step:
    """A step that runs: its rule, what it does in words, its log, and when it began."""

    rule: str
    words: str
    log: list[str]
    began: float = field(default_factory=time.monotonic)


class Progress(logging.Handler):
    """Follows the events of Snakemake. training: seconds that each run without a record is expected
    to take, by digest.

    Not all of these need be asked for.
    """

    def __init__(
        self, stream, *, terminal: bool, training: dict[str, float] | None = None, cores: int = 1
    ):
        super().__init__()
        self.stream, self.terminal, self.cores = Printed(stream), terminal, cores
        self.training = training or {}
        self.running: dict[int, Step] = {}
        self.left: Counter = Counter()  # steps by rule
        self.took: dict[str, list[float]] = {}
        self.done = self.total = 0
        self.held: list[str] = []  # what is said of a step unless it refused
        self.ended = threading.Event()

    def emit(self, record: logging.LogRecord) -> None:
        event = getattr(record, "event", None)
        if event == LogEvent.RUN_INFO:
            self._begin(record.stats)
        elif event == LogEvent.JOB_INFO:
            words = " ".join((record.rule_msg or record.rule_name).split())
            self.running[record.jobid] = Step(record.rule_name, words, [*record.log])
        elif event == LogEvent.JOB_FINISHED:
            self._end(record.job_id)
        elif event == LogEvent.PROGRESS:
            self.done, self.total = record.done, record.total
        elif event == LogEvent.ERROR and OF_A_SHELL in record.getMessage():
            self.held.append(self.format(record).strip())
        elif event == LogEvent.JOB_ERROR:
            refusal = self._refusal(self.running.pop(getattr(record, "jobid", None), None))
            lines = [refusal] if refusal else [*self.held, self.format(record).strip()]
            self.held.clear()
            self.say("\n".join(lines))
        elif (
            event in BAD
            or record.levelno >= logging.WARNING
            or record.getMessage().startswith(PLAIN)
        ):
            self.say(self.format(record).strip())

    def say(self, line: str) -> None:
        """Write a line that stays."""
        self._clear()
        print(line, file=self.stream, flush=True)

    def stop(self) -> None:
        """Take the line on progress away: what follows is written by others."""
        self.ended.set()
        if self.held:
            self.say("\n".join(self.held))
        self._clear()

    def _begin(self, stats: dict) -> None:
        self.left = Counter({rule: count for rule, count in stats.items() if rule != "total"})
        self.total = self.left.total()
        on = f"{self.cores} core{'s' * (self.cores != 1)}"
        self.say(f"{self.total} steps on {on}, {self._time_left() or 'time unknown'}")
        threading.Thread(target=self._tick, daemon=True).start()

    def _end(self, job: int) -> None:
        if (step := self.running.pop(job, None)) is None:
            return
        seconds = time.monotonic() - step.began
        self.left[step.rule] -= 1
        self.took.setdefault(step.rule, []).append(seconds)
        digest = Path(step.log[0]).stem if step.log else ""
        self.training.pop(digest, None)
        said = _scores(digest) if step.rule == "train" else _shown(step.log)
        words = f"{step.words.partition(': ')[0]}: {printable(said)}" if said else step.words
        self.say(f"{words} ({spell(seconds)})")

    def _refusal(self, step: Step | None) -> str | None:
        """Say in one line why a step refused to go on; None where it did not. A full disk keeps it
        from saying so.
        """
        if step is None or (last := _last_line(step.log)) is None:
            return None
        if REFUSED.match(last):
            return f"{step.words}: {printable(last.partition(': ')[2])}"
        if not last and is_full(Path(step.log[0]).parent):
            return f"{step.words}: {step.log[0]}: {os.strerror(errno.ENOSPC)}"
        return None

    def _tick(self) -> None:
        while not self.ended.wait(TERMINAL if self.terminal else LOG):
            if self.terminal:
                self._clear()
                self.stream.write(self.line()[: shutil.get_terminal_size().columns - 1])
                self.stream.flush()
            else:
                print(self.line(), file=self.stream, flush=True)

    def _clear(self) -> None:
        if self.terminal:
            self.stream.send("\r\x1b[K")
            self.stream.flush()

    def line(self) -> str:
        """Say how many steps are done, what time is left, and what runs now."""
        now = [*self.running.values()]
        doing = "; ".join(step.words for step in now[:2]) + (
            f"; and {len(now) - 2} more" if len(now) > 2 else ""
        )
        return ", ".join(
            filter(None, [f"{self.done} of {self.total} steps", self._time_left(), doing])
        )

    def _time_left(self) -> str | None:
        """Estimate the time left: of runs as told from records, of other steps as long as their
        like took.
        """
        if self.left["train"] > len(self.training):
            return None
        ahead = sum(count * self._usual(rule) for rule, count in self.left.items())
        gone = sum(
            min(time.monotonic() - step.began, self._usual(step.rule))
            for step in self.running.values()
        )
        seconds = max(0.0, (ahead - gone) / self.cores)
        return f"about {spell(round(seconds))} left" if seconds >= 1 else None

    def _usual(self, rule: str) -> float:
        times = [*self.training.values()] if rule == "train" else self.took.get(rule, [])
        return sum(times) / len(times) if times else SHORT


def _scores(digest: str) -> str | None:
    """Say what a run scored, or why it failed."""
    try:
        record = read_record(RUNS / digest / "record.json")
    except (ConfigError, OSError):
        return None
    if record.status != "ok":
        return f"{record.status}: {record.reason}"
    known = record.metrics | record.facts
    columns = TASKS[record.job.task].score_columns
    shown = [each for each in columns if each.quantity in known]
    return ", ".join(f"{each.title} {known[each.quantity]:.4g}" for each in shown)


def _shown(logs: list[str]) -> str | None:
    """Return what a step printed to be shown, if it did."""
    last = _last_line(logs) or ""
    return last.removeprefix(SHOWN) if last.startswith(SHOWN) else None


def _last_line(logs: list[str]) -> str | None:
    """Read the last line of a step's log; None where it has no log that can be read."""
    try:
        return (
            Path(logs[0]).read_text(encoding="utf-8", errors="replace").rstrip().rpartition("\n")[2]
        )
    except (OSError, IndexError):
        return None


def say_once_what_is_not_written(handler: logging.FileHandler, say: Callable[[str], None]) -> None:
    """Let Snakemake's log say in one line that it cannot be written, in place of a traceback for
    each of its lines.
    """

    def refuse(record: logging.LogRecord) -> None:
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            return logging.Handler.handleError(handler, record)
        with open(os.devnull, "wb") as nowhere:  # from now on, and what is still to be written
            os.dup2(nowhere.fileno(), handler.stream.fileno())
        say(f"{handler.baseFilename}: {error.strerror}; it ends here")

    handler.handleError = refuse


def follow(workflow, targets: Targets) -> Progress | None:
    """Put our lines in place of Snakemake's on the terminal; None where a user asked for
    Snakemake's own.
    """
    asked, usual = (
        workflow.output_settings,
        [each for each in logger.handlers if each.name == "DefaultStreamHandler"],
    )
    own = asked.dryrun or asked.printshellcmds or asked.quiet or asked.debug_dag or asked.verbose
    if own or not usual or not workflow.is_main_process:
        _watch_logs(partial(print, file=sys.stderr, flush=True))
        return None
    cores = workflow.resource_settings.cores or 1
    progress = Progress(
        sys.stderr, terminal=sys.stderr.isatty(), training=_expected(targets, cores), cores=cores
    )
    progress.setFormatter(usual[0].formatter)
    logger.removeHandler(usual[0])
    logger.addHandler(progress)
    _watch_logs(progress.say)
    return progress


def _watch_logs(say: Callable[[str], None]) -> None:
    for handler in logger.handlers:
        if isinstance(handler, logging.FileHandler):
            say_once_what_is_not_written(handler, say)


def _expected(targets: Targets, cores: int) -> dict[str, float]:
    """Estimate the seconds of every run that has no record yet, by digest."""
    waiting = [
        targets.runs.jobs[each]
        for each in targets.runs.trained
        if not (RUNS / each / "record.json").exists()
    ]
    if not waiting:
        return {}
    needed = TrainingTime.of(waiting, read_timed(RUNS), cores, gpu=bool(targets.config.gpus))
    return {each.job.digest: each.seconds for each in needed.estimates}
