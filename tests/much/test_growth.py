"""Twice as many runs are twice the work: counted in calls of functions, not in seconds."""

import re
import sys
from pathlib import Path

import pytest
import yaml

from workflow.config.files import ROOT
from workflow.plan.run_files import digests
from workflow.plan.targets import Targets

GRID = {"selection": "top_k", "S": "all", "k": "all"}
QUESTION = {
    "question": "How much is too much?",
    "paper": "adaptive_span",
    "corpora": ["text8"],
    "variants": {name: {"span": name, **GRID} for name in ("fixed", "adaptive")},
}
CONFIG = {"scale": "smoke", "questions": ["much"], "train": "everything", "device": "cpu"}
SPANS = [8, 16, 24, 32]


def write_config(folder: Path, seeds: int) -> None:
    """Write a question that asks for 40 runs a seed: 2 variants, 4 spans and 5 values of k."""
    smoke = "config/scales/smoke/char_lm.yaml"
    scale = yaml.safe_load((ROOT / smoke).read_text(encoding="utf-8"))
    scale |= {"S": SPANS, "k": [1, 2, 4, 8, 16], "seeds": [*range(1, seeds + 1)]}
    scale["questions"] = ["much"]
    files = {
        "studies/own/questions/much.yaml": QUESTION,
        smoke: scale,
        "config/config.yaml": CONFIG,
    }
    for place, content in files.items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(content), encoding="utf-8")


def plan() -> None:
    """Plan, and compute all that the rules ask of the plan."""
    targets = Targets.of(CONFIG)
    runs = targets.runs
    _ = targets.all_files, targets.all_rows, targets.named, targets.precomputed.missing
    _ = targets.run_files.without_job_file, runs.digest_of(), targets.run_files.records_of()
    digests(runs.trained, runs.precomputed)
    for digest in runs.jobs:
        _ = targets.run_files.data_of(digest), targets.code.of_run(digest), runs.labels.run(digest)
    for name in targets.questions:
        _ = targets.costs_of(name), runs.groups_of(name)
    for group in runs.groups:
        _ = runs.jobs_of(group), targets.code.of_throughput(group)


def calls(work, *given) -> int:
    """Count the calls of functions that some work takes, those of C included."""
    count = 0

    def seen(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(seen)
    try:
        work(*given)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.slow
def test_a_plan_grows_with_its_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    counts = []
    for seeds in (1, 13, 26):  # the first reads what is read once
        write_config(tmp_path, seeds)
        counts.append(calls(plan))
    assert counts[2] < 2.1 * counts[1]


@pytest.mark.parametrize("wanted, others", [(1, 499), (499, 1)])
def test_what_matches_digests_is_as_long_as_the_shorter_list(wanted, others):
    known = [f"{n:012x}" for n in range(500)]
    expression = digests(known[:wanted], known[wanted:])
    assert len(expression) < 50
    matching = [digest for digest in known if re.fullmatch(expression, digest)]
    assert matching == known[:wanted]
