"""What a workflow has done so far and what it still has to do, from the log that Snakemake writes: .snakemake/log."""

import re
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

LOGS = Path(".snakemake") / "log"
CORES = re.compile(r"^Provided cores: (\d{1,6})", re.MULTILINE)
COUNTED = re.compile(r"^(\w+) +(\d{1,9})$", re.MULTILINE)
STAMP, STAMPED = re.compile(r"^\[(\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4})\]$"), "%a %b %d %H:%M:%S %Y"
STARTED = re.compile(r"^Job (\d{1,9}): (.*)$")
FINISHED = re.compile(r"^Finished jobid: (\d{1,9}) \(Rule: (\w+)\)$")
ENDED = ("Complete log(s):", "Exiting because a job execution failed")


@dataclass(frozen=True)
class Finished:
    """One job that has ended. words: its message. seconds: from its start to its end, of the wall clock."""

    rule: str
    words: str
    seconds: float


@dataclass
class WorkflowLog:
    """cores: lanes. counts: jobs by rule, of the whole workflow. running: message -> when it started, in seconds
    since 1970. over: whether the workflow has come to its end."""

    cores: int = 1
    counts: Counter[str] = field(default_factory=Counter)
    finished: list[Finished] = field(default_factory=list)
    running: dict[str, float] = field(default_factory=dict)
    over: bool = False

    @property
    def left(self) -> Counter[str]:
        """Jobs by rule that have not ended, the running ones among them."""
        return self.counts - Counter(job.rule for job in self.finished)


def read_workflow_log(path: Path) -> WorkflowLog:
    """The log of one workflow, however far it is; empty counts where it made no plan."""
    return parse_workflow_log(path.read_text(encoding="utf-8", errors="replace"))


def parse_workflow_log(text: str) -> WorkflowLog:
    head, *_ = text.partition("\nSelect jobs")
    cores = CORES.search(head)
    counts = Counter({rule: int(count) for rule, count in COUNTED.findall(head.partition("\nJob stats:")[2])})
    del counts["total"]
    log = WorkflowLog(cores=max(1, int(cores[1])) if cores else 1, counts=counts)
    now, started = 0.0, {}
    for line in text.splitlines():
        if stamp := STAMP.match(line):
            now = time.mktime(time.strptime(stamp[1], STAMPED))
        elif start := STARTED.match(line):
            started[start[1]] = (start[2], now)
        elif end := FINISHED.match(line):
            words, began = started.pop(end[1], ("", now))
            log.finished.append(Finished(end[2], words, now - began))
        elif line.startswith(ENDED):
            log.over = True
    log.running = dict(started.values())
    return log


def newest_log(folder: Path = LOGS) -> Path | None:
    """Of the workflow that was started last; None where none has made a plan."""
    logs = sorted(folder.glob("*.snakemake.log"), reverse=True)
    return next((path for path in logs if read_workflow_log(path).counts), None)


def finished_jobs(folder: Path = LOGS) -> list[Finished]:
    """Of every workflow that was run here."""
    return [job for path in sorted(folder.glob("*.snakemake.log")) for job in read_workflow_log(path).finished]
