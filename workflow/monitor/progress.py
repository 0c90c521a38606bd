"""How long the workflow that runs now still takes: all jobs that are left, in lanes, at the pace seen so far."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

from workflow.config.job import Job
from workflow.config.strict import parse
from workflow.monitor.durations import spell
from workflow.monitor.estimate import Estimator
from workflow.monitor.other_jobs import ALONE, OtherJobs
from workflow.monitor.states import QUIET
from workflow.monitor.timed import read_timed
from workflow.monitor.workflow_log import WorkflowLog, finished_jobs, newest_log, read_workflow_log
from workflow.plan.plan import WrittenRow, read_plan
from workflow.plan.planned_runs import PlannedRuns

LAST = 24  # trainings that tell the pace: an hour ago the machine may have had other work
MARKED = 0.15  # how far the pace may be from 1 without being told
LEAST = 0.1  # of its time, that a job still takes which has taken longer than expected


@dataclass(frozen=True)
class Progress:
    """seconds: of the wall clock, until all is made. pace: seconds that trainings took, by those estimated for them."""

    seconds: float
    done: int
    jobs: int
    pace: float

    def __str__(self) -> str:
        """about 35 min left, 120 of 228 jobs done, runs take 1.2 times as long as estimated"""
        pace = f", runs take {self.pace:.1f} times as long as estimated" if abs(self.pace - 1) > MARKED else ""
        return f"about {spell(self.seconds)} left, {self.done} of {self.jobs} jobs done{pace}"


def read_pace(log: WorkflowLog, jobs: Mapping[str, Job], estimator: Estimator) -> float:
    """What the last trainings of this workflow took, by what all other runs say of them: the median, or 1 without any.

    jobs: by the words with which the log names them.
    """
    ratios = []
    for ended in log.finished:
        if (job := jobs.get(ended.words)) and (estimate := estimator.estimate(job, without=job.digest)):
            ratios.append(ended.seconds / estimate.seconds)
    return median(ratios[-LAST:]) if ratios else 1.0


def read_progress(
    log: WorkflowLog, jobs: Mapping[str, Job], waiting: list[Job], estimator: Estimator, other: OtherJobs, now: float
) -> Progress | None:
    """jobs: the trainings of the plan, by words; waiting: those without a record. None where nothing is known.

    Which trainings Snakemake still wants is not in its log, only how many: those that wait stand for them.
    """
    pace, began = read_pace(log, jobs, estimator), {job.digest: log.running.get(words) for words, job in jobs.items()}
    running, others, wanted = [], [], log.left["train"]
    for job in waiting or jobs.values():
        if estimate := estimator.estimate(job):
            whole, since = pace * estimate.seconds, began.get(job.digest)
            if since is None:
                others.append(whole)
            else:
                running.append(max(whole - (now - since), LEAST * whole))
    if wanted and not (running or others):
        return None
    train = sum(running) + max(0, wanted - len(running)) * fmean(others or running or [0.0])
    seconds = {rule: pace * other.of(rule) * count for rule, count in log.left.items() if rule != "train"}
    alone = sum(each for rule, each in seconds.items() if rule in ALONE)
    lanes = 1 if estimator.gpu else log.cores  # a GPU trains one after the other
    shared = train / lanes + (sum(seconds.values()) - alone) / log.cores
    return Progress(alone + max(shared, *running, 0.0), len(log.finished), sum(log.counts.values()), pace)


def watch_progress(results: Path, workflows: Path, logs: Path, now: float | None = None) -> Progress | None:
    """Of the workflow that runs now; None where none does. results: the scale's; workflows: the logs of Snakemake."""
    path, now = newest_log(workflows), time.time() if now is None else now
    if path is None or (log := read_workflow_log(path)).over:
        return None
    written = max(file.stat().st_mtime for file in (path, *(logs / "train").glob("*.log")))
    if now - written > QUIET:  # killed: nothing says that it is over
        return None
    runs = results.parent / "runs"
    planned = PlannedRuns([parse(WrittenRow, row, "plan.json") for row in read_plan(results / "plan.json")])
    jobs = {f"train {planned.labels.run:{digest}}": job for digest, job in planned.jobs.items()}
    trained = {words for words in (*log.running, *(job.words for job in log.finished)) if words.startswith("train ")}
    if trained and not trained & set(jobs):  # it is of another scale
        return None
    waiting = [job for digest, job in planned.jobs.items() if not (runs / digest / "record.json").exists()]
    known = read_timed(runs)
    newest = max((run for run in known if run.here), key=lambda run: run.record.origin.started, default=None)
    estimator = Estimator(known, gpu=newest is not None and not newest.record.origin.device.startswith("cpu"))
    other = OtherJobs.learn(finished_jobs(workflows), logs / results.name)
    return read_progress(log, jobs, waiting, estimator, other, now)
