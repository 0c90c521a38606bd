"""A disk that is full, for real, at every kind of file: one line that names it, and nothing half-written."""

import json
import sys
from functools import partial
from pathlib import Path

import pytest

from tests._jobs import corpus, job
from tests._site import SCALE, inputs
from tests._training import write_job
from tests.failures._real import leave_free, line_of, mounted, train
from workflow.config.command_line import run
from workflow.data.text import store
from workflow.report.figure_files import write_figure
from workflow.report.pages.site import Site
from workflow.report.table_files import write_table
from workflow.results.columns import write_run_files
from workflow.results.runs_table import read_frames
from workflow.scripts import corpus as corpus_script
from workflow.scripts import plan, question
from workflow.scripts import train as train_script

pytestmark = pytest.mark.slow
FULL = "No space left on device"


@pytest.fixture
def disk(tmp_path):
    with mounted(tmp_path / "disk", "-t", "tmpfs", "-o", "size=2m", "tmpfs") as folder:
        yield folder


@pytest.fixture
def refused(disk, capsys, monkeypatch):
    """Run a script until it refuses; the name of the file in its line."""

    def refuse(work, *words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["script", *words])
        with pytest.raises(SystemExit) as ended:
            run(work)
        line = capsys.readouterr().err.strip().splitlines()[-1]
        assert ended.value.code == 1 and line.endswith(f": {FULL}"), line
        assert not list(disk.rglob(".*")), "something was left half-written"
        return Path(line.removesuffix(f": {FULL}").split(": ")[-1]).name

    return refuse


def test_each_file_of_a_run(disk, refused, tmp_path, monkeypatch):
    """The checkpoint, the weights, the curve and the record: no room for one after the other."""
    monkeypatch.setattr(train_script, "limit_memory", lambda budget: None)  # it could not be lifted again
    store.write(tmp_path / "toy.npz", corpus())
    named = []
    for free in (8, 48, *range(84, 200, 4)):
        folder = disk / f"run{free}"
        words = [
            str(write_job(job(checkpoint_every=12), folder)),
            "--data",
            str(tmp_path / "toy.npz"),
            "--device",
            "cpu",
        ]
        leave_free(disk, free << 10)
        if named and named[-1] == "record.json":
            break
        named.append(refused(train_script.main, *words))
        assert {path.name for path in folder.iterdir()} <= {"job.json", "checkpoint.pt", "weights.pt", "curve.csv"}
        for path in folder.iterdir():
            path.unlink()
    assert [*dict.fromkeys(named)] == ["checkpoint.pt", "weights.pt", "curve.csv", "record.json"]


def test_a_run_by_its_command(disk, tmp_path):
    write_job(job(), disk / "run")
    (tmp_path / "run").mkdir()
    leave_free(disk, 0)
    line = line_of(train(job(), tmp_path / "run", "--out", str(disk / "run")), 1)
    assert line.startswith(f"train.py: {disk}/run/") and line.endswith(FULL)


@pytest.mark.parametrize("kind", ["json", "csv", "tex"])
def test_a_table(kind, suite, disk, refused):
    scale = suite / "results" / SCALE
    frames = read_frames(inputs(scale, "dynamic_span"))
    build = partial(write_table, disk / "table.json", "adaptive_span_table3", frames)
    build()
    sizes = {path.suffix[1:]: -(-path.stat().st_size // 4096) * 4096 for path in disk.iterdir()}
    for path in disk.iterdir():
        path.unlink()
    before = {"csv": 0, "tex": sizes["csv"], "json": sizes["csv"] + sizes["tex"]}[kind]
    leave_free(disk, before)
    assert refused(build) == f"table.{kind}"


def test_a_figure(suite, disk, refused):
    scale = suite / "results" / SCALE
    leave_free(disk, 8192)
    draw = partial(write_figure, disk / "figure.svg", "adaptive_span_figure4", read_frames(inputs(scale, "head_spans")))
    assert refused(draw) in ("figure.svg", "figure.pdf", "figure.png")


def test_a_page(suite, disk, refused):
    site = Site(suite / "results" / SCALE, disk, suite / "results" / "runs")
    runs = read_frames(inputs(site.results, "dynamic_span")).runs
    leave_free(disk, 8192)
    assert refused(partial(question.write_pages, site, "dynamic_span", runs)).endswith(".html")


def test_a_text(disk, refused):
    leave_free(disk, 8192)
    assert refused(corpus_script.main, "words", str(disk / "words.npz")) == "words.npz"


def test_a_plan_and_its_jobs(disk, refused):
    leave_free(disk, 40 << 10)
    words = [str(disk / "plan.json"), "--config", '{"scale": "smoke"}', "--runs", str(disk / "runs")]
    assert refused(plan.main, *words) in ("plan.json", "job.json")
    for path in disk.rglob("job.json"):
        json.loads(path.read_text())


def test_a_table_of_runs_and_all_runs(suite, disk, refused):
    scale = suite / "results" / SCALE
    leave_free(disk, 0)
    runs = read_frames(inputs(scale, "dynamic_span")).runs
    assert refused(partial(write_run_files, disk, runs)) == "runs.csv"
