"""How long the workflow that runs now still takes: all jobs that are left, in lanes, at the pace seen so far."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean, median

from workflow.config.job import Job
from workflow.monitor.estimate import Estimator
from workflow.monitor.other_jobs import ALONE, OtherJobs
from workflow.monitor.workflow_log import WorkflowLog

LAST = 24  # trainings that tell the pace: an hour ago the machine may have had other work
LEAST = 0.1  # of its time, that a job still takes which has taken longer than expected


@dataclass(frozen=True)
class Progress:
    """seconds: of the wall clock, until all is made. pace: seconds that trainings took, by those estimated for them."""

    seconds: float
    done: int
    jobs: int
    pace: float


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
    trainings = []
    for job in waiting or jobs.values():
        if estimate := estimator.estimate(job):
            whole, since = pace * estimate.seconds, began.get(job.digest)
            trainings.append(whole if since is None else max(whole - (now - since), LEAST * whole))
    wanted = log.left["train"]
    if wanted and not trainings:
        return None
    seconds = {rule: pace * other.of(rule) * count for rule, count in log.left.items() if rule != "train"}
    alone = sum(each for rule, each in seconds.items() if rule in ALONE)
    lanes = 1 if estimator.gpu else log.cores  # a GPU trains one after the other
    shared = (wanted * fmean(trainings) / lanes if wanted else 0.0) + (sum(seconds.values()) - alone) / log.cores
    if wanted and wanted <= lanes:  # nothing fills the lanes beside the longest
        shared = max(shared, *trainings)
    return Progress(alone + shared, len(log.finished), sum(log.counts.values()), pace)
