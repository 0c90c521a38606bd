"""How long a workflow still takes: a workflow of known durations is replayed, and what is told is held against it."""

import random
import time
from pathlib import Path

import pytest

from tests._finished import timed
from tests._jobs import VARIANTS, job
from workflow.monitor.estimate import Estimator
from workflow.monitor.other_jobs import OtherJobs
from workflow.monitor.progress import read_pace, read_progress
from workflow.monitor.workflow_log import finished_jobs, newest_log, parse_workflow_log

LANES, BEGAN = 2, time.mktime((2026, 11, 22, 12, 0, 0, 0, 0, -1))
SECONDS = {"costs": 5, "table": 2, "ablation_page": 6}
JOBS = [job(**choices, seed=seed) for choices in VARIANTS.values() for seed in (1, 2, 3, 4, 5)]
TRAININGS = {f"train {number}": each for number, each in enumerate(JOBS)}


def stamp(seconds):
    return time.strftime("[%a %b %d %H:%M:%S %Y]", time.localtime(BEGAN + seconds))


def workflow(slower):
    """Its log as Snakemake writes it, and the seconds that each training took: a variant's own, times `slower`."""
    chance = random.Random(0)
    took = {f"train {n}": slower * (20 + 15 * (n // 5)) * chance.uniform(0.95, 1.05) for n in range(len(JOBS))}
    work = [("train", words, seconds) for words, seconds in took.items()]
    chance.shuffle(work)
    work += [(rule, f"{rule} {n}", slower * seconds) for rule, seconds in SECONDS.items() for n in range(20)]
    events, lanes = [], [0.0] * LANES
    for number, (rule, words, seconds) in enumerate(work):
        lane = min(range(LANES), key=lanes.__getitem__)
        events.append((lanes[lane], f"Job {number}: {words}"))
        lanes[lane] += seconds
        events.append((lanes[lane], f"Finished jobid: {number} (Rule: {rule})"))
    counts = "\n".join(f"{rule}   {sum(each[0] == rule for each in work)}" for rule in ("train", *SECONDS))
    counts = f"job   count\n-----   ----\n{counts}\ntotal   {len(work)}\n"
    head = f"Provided cores: {LANES}\nJob stats:\n{counts}\nSelect jobs to execute...\n"
    return head, sorted(events), took, max(lanes)


def told(slower, share, earlier):
    """Seconds left that are told, and those that are true, when a share of the time is over.

    earlier: seconds of runs that ended before, by job; the runs of this workflow count as soon as they have ended.
    """
    head, events, took, end = workflow(slower)
    now = share * end
    log = parse_workflow_log(head + "".join(f"{stamp(at)}\n{line}\n" for at, line in events if at <= now))
    known = [timed(each, seconds) for each, seconds in earlier]
    ended = {done.words for done in log.finished}
    known += [timed(TRAININGS[words], took[words]) for words in ended & set(TRAININGS)]
    waiting = [each for words, each in TRAININGS.items() if words not in ended]
    other = OtherJobs.learn(log.finished, Path("no such folder"))
    progress = read_progress(log, TRAININGS, waiting, Estimator(known), other, BEGAN + now)
    return progress.seconds, end - now


def before(slower=1.0):
    """One seed of each variant, as it was run an earlier day."""
    return [(job(**choices, seed=9), slower * (20 + 15 * n)) for n, choices in enumerate(VARIANTS.values())]


@pytest.mark.parametrize("share", [0.34, 0.5, 0.75])
@pytest.mark.parametrize("slower", [1.0, 2.5])
@pytest.mark.parametrize("earlier", [[], before()], ids=["first workflow", "after others"])
def test_from_a_third_of_the_way_the_time_left_is_within_30_percent(share, slower, earlier):
    """Also on a machine that is 2.5 times as slow today as when the records were made."""
    guess, truth = told(slower, share, earlier)
    assert guess == pytest.approx(truth, rel=0.3)


def test_at_the_end_nothing_is_left():
    assert told(1.0, 1.0, before())[0] == pytest.approx(0, abs=1)


def test_the_pace_is_what_trainings_took_by_what_the_others_say():
    head, events, _, end = workflow(2.5)
    log = parse_workflow_log(head + "".join(f"{stamp(at)}\n{line}\n" for at, line in events if at <= end / 2))
    assert read_pace(log, TRAININGS, Estimator([timed(*each) for each in before()])) == pytest.approx(2.5, rel=0.1)
    assert read_pace(parse_workflow_log(head), TRAININGS, Estimator([])) == 1


def test_a_log_says_what_is_done_and_what_runs(tmp_path):
    head, events, _, _ = workflow(1.0)
    first = "".join(f"{stamp(at)}\n{line}\n" for at, line in events[:5])
    log = parse_workflow_log(head + first)
    started = sum("Job" in line for _, line in events[:5])
    assert log.cores == LANES and not log.over and len(log.finished) == 5 - started
    assert len(log.running) == started - len(log.finished)
    assert sum(log.left.values()) == len(JOBS) + 60 - len(log.finished)
    assert parse_workflow_log(head + first + "Complete log(s): here\n").over
    assert newest_log(tmp_path) is None and finished_jobs(tmp_path) == []
    (tmp_path / "2026-11-22T1.snakemake.log").write_text(head + first)
    (tmp_path / "2026-11-22T2.snakemake.log").write_text("Unlocked working directory.\n")
    assert newest_log(tmp_path).name == "2026-11-22T1.snakemake.log" and finished_jobs(tmp_path) == log.finished
