"""Twice as many runs are twice the work: counted in calls of functions, not in seconds."""

import re
import sys
from itertools import product
from pathlib import Path

import pytest
import yaml

from tests._runs import run
from workflow.config.files import ROOT
from workflow.plan.planned_runs import digests, pattern
from workflow.plan.targets import Targets
from workflow.report.pages.pivot import pivot_page
from workflow.results.runs_table import as_frame

S, K = [8, 16, 24, 32], [1, 2, 4, 8, 16]
QUESTION = {"question": "How much is too much?", "paper": "adaptive_span", "corpora": ["text8"]}
GRID = {"selection": "top_k", "S": "all", "k": "all"}
QUESTION["variants"] = {name: {"span": name, **GRID} for name in ("fixed", "adaptive")}
CONFIG = {"scale": "smoke", "questions": ["much"], "train": "everything", "device": "cpu"}


def write_config(folder: Path, runs: int) -> None:
    """Write a question that asks for so many runs, in whole seeds."""
    scale = yaml.safe_load(
        (ROOT / "config" / "scales" / "smoke" / "char_lm.yaml").read_text(encoding="utf-8")
    )
    scale |= {"S": S, "k": K, "seeds": list(range(1, 1 + runs // 40)), "questions": ["much"]}
    files = {
        "studies/own/questions/much": QUESTION,
        "config/scales/smoke/char_lm": scale,
        "config/config": CONFIG,
    }
    for place, content in files.items():
        path = folder / f"{place}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(content), encoding="utf-8")


def plan() -> None:
    """Plan, and compute all that the rules ask of the plan."""
    targets = Targets.of(CONFIG)
    runs = targets.runs
    asked = [targets.all_files, targets.all_rows, targets.named, targets.precomputed.missing]
    asked += [
        runs.digest_of(),
        runs.without_job_file,
        runs.records_of(),
        digests(runs.trained, runs.precomputed),
    ]
    asked += [
        (runs.data_of(each), targets.code.of_run(each), runs.labels.run(each)) for each in runs.jobs
    ]
    asked += [(targets.costs_of(name), runs.groups_of(name)) for name in targets.questions]
    asked += [(runs.jobs_of(group), targets.code.of_throughput(group)) for group in runs.groups]


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
    for runs in (40, 520, 1040):  # the first reads what is read once
        write_config(tmp_path, runs)
        counts.append(calls(plan))
    assert counts[1] > 520 * 10 and counts[2] < 2.1 * counts[1]


@pytest.mark.slow
def test_a_pivot_table_grows_with_its_runs():
    counts = []
    for seeds in (2, 63, 125):
        rows = [
            run("span_limit", *cell) for cell in product(("fixed", "adaptive"), range(seeds), S)
        ]
        counts.append(calls(pivot_page, as_frame(rows)))
    _, half, whole = counts
    assert whole < 2.1 * half


def test_what_matches_digests_is_as_long_as_the_shorter_list():
    few, many = ["0" * 12], [f"{n:012x}" for n in range(1, 500)]
    assert digests(few, many) == pattern(few) and len(digests(many, few)) < 50
    for wanted, others in ((few, many), (many, few)):
        expression = re.compile(digests(wanted, others))
        assert all(map(expression.fullmatch, wanted)) and not any(map(expression.fullmatch, others))
