"""One line per finished job, with an estimate of the time left, in place of Snakemake's paragraphs."""

import logging
import time
from collections import Counter, defaultdict
from statistics import mean

from snakemake_interface_logger_plugins.common import LogEvent

CHATTER = (LogEvent.JOB_STARTED, LogEvent.JOB_FINISHED)
UNSEEN = 3.0  # seconds of a job of a rule that nobody gave an expectation for: a table, a figure, a page


class Progress(logging.Filter):
    """Sits on Snakemake's logger. `expected`: seconds of a job of a rule until the first has been seen.

    The estimate is the mean time of a rule's jobs times how many are left, over all rules, divided by
    `lanes`, the number of jobs that run side by side; a rule in `alone` has the machine to itself.
    """

    def __init__(self, expected: dict[str, float], lanes: int, alone: tuple[str, ...] = ()):
        super().__init__()
        self.expected, self.lanes, self.alone = expected, lanes, alone
        self.left: Counter = Counter()
        self.started: dict[int, tuple[str, str, float]] = {}
        self.took: dict[str, list[float]] = defaultdict(list)
        self.last, self.began = "", time.monotonic()

    def filter(self, record: logging.LogRecord) -> bool:
        event = getattr(record, "event", None)
        if event == LogEvent.RUN_INFO:
            self.left = Counter({rule: count for rule, count in record.stats.items() if rule != "total"})
        elif event == LogEvent.JOB_INFO:
            name = " ".join((record.rule_name, *map(str, record.wildcards.values())))
            self.started[record.jobid] = (record.rule_name, name, time.monotonic())
            return False
        elif event == LogEvent.JOB_FINISHED:
            self._finish(record.job_id)
        elif event == LogEvent.PROGRESS:
            gone = spell(time.monotonic() - self.began)
            done = f"{record.done:>3} of {record.total}  {self.last:<40}  {gone} gone"
            record.msg = done + (f", about {spell(self.seconds_left())} left" if record.done < record.total else "")
            record.event = None  # printed as it stands
        return event not in CHATTER and record.msg != "Select jobs to execute..."

    def _finish(self, jobid: int) -> None:
        if jobid not in self.started:  # nothing may fail here: the workflow would fail with it
            return
        rule, name, began = self.started.pop(jobid)
        self.took[rule].append(time.monotonic() - began)
        self.left[rule] -= 1
        self.last = f"{name} ({self.took[rule][-1]:.0f} s)"

    def seconds_left(self) -> float:
        total = 0.0
        for rule, count in self.left.items():
            each = mean(self.took[rule]) if self.took[rule] else self.expected.get(rule, UNSEEN)
            total += count * each / (1 if rule in self.alone else self.lanes)
        return total


def spell(seconds: float) -> str:
    """90 -> '1.5 min'; the unit that keeps the number short."""
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"
