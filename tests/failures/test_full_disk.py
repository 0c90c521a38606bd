"""A disk that is full, for real: one line that names the file, and nothing half-written."""

import errno
import json
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from tests._copied import ROOT
from tests._jobs import corpus, job
from tests._site import SCALE, inputs
from tests._training import train_command, write_job
from tests.failures._real import leave_free, mounted
from workflow.config.command_line import run
from workflow.config.files import NEEDED_MB, CannotWrite
from workflow.report.figure_files import write_figure
from workflow.report.pages.site import Site
from workflow.report.table_files import write_table
from workflow.results.columns import write_run_files
from workflow.results.record import read_record
from workflow.results.runs_table import read_frames
from workflow.scripts import corpus as corpus_script
from workflow.scripts import plan, question
from workflow.scripts import train as train_script
from workflow.tasks.char_lm import store
from workflow.training.failures import attempt

pytestmark = pytest.mark.slow
FULL = ": No space left on device"


@pytest.fixture
def disk(tmp_path):
    with mounted(tmp_path / "disk", "-t", "tmpfs", "-o", "size=2m", "tmpfs") as folder:
        yield folder


@pytest.fixture
def refused(disk, capsys, monkeypatch):
    """Run a script until it refuses; return the name of the file in its line."""

    def refuse(work, *words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["script", *words])
        with pytest.raises(SystemExit) as ended:
            run(work)
        line = capsys.readouterr().err.strip().splitlines()[-1]
        assert ended.value.code == 1 and line.endswith(FULL), line
        assert not list(disk.rglob(".*")), "something was left half-written"
        return Path(line.removesuffix(FULL).split(": ")[-1]).name

    return refuse


def test_each_file_of_a_run(disk, refused, tmp_path, monkeypatch):
    """There is no room for one after the other."""
    # it could not be lifted again
    monkeypatch.setattr(train_script, "limit_memory", lambda budget: None)
    store.write(tmp_path / "toy.npz", corpus())
    named = []
    for free in (8, 48, *range(84, 200, 4)):
        if named and named[-1] == "record.json":
            break
        folder = write_job(job(checkpoint_every=12), disk / f"run{free}").parent
        leave_free(disk, free << 10)
        named.append(refused(train_script.main, *train_command(folder, tmp_path / "toy.npz")[3:]))
        assert {path.name for path in folder.iterdir()} <= {
            "job.json",
            "checkpoint.pt",
            "weights.pt",
            "curve.csv",
        }
        for path in folder.iterdir():
            path.unlink()
    assert [*dict.fromkeys(named)] == ["checkpoint.pt", "weights.pt", "curve.csv", "record.json"]


def test_a_run_whose_log_is_on_a_full_disk(tmp_path):
    """What it prints is refused: no failure of the run, which leaves no record of one."""
    folder = write_job(job(), tmp_path / "run").parent
    store.write(tmp_path / "toy.npz", corpus())
    with open("/dev/full", "w") as full:
        command = train_command(folder, tmp_path / "toy.npz")
        said = subprocess.run(command, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True)
    assert said.returncode == 1 and said.stderr == f"train.py: /dev/full{FULL}\n"
    assert not (folder / "record.json").exists()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS])
def test_a_score_or_a_cost_that_cannot_be_written_is_no_failure_of_it(number):
    def work() -> None:
        try:
            raise OSError(number, os.strerror(number), "words.txt")
        except OSError:
            raise RuntimeError("a library's own words") from None

    with pytest.raises(CannotWrite) as refused:
        attempt({}, ["bleu"], work)
    assert (refused.value.errno, refused.value.filename) == (number, "words.txt")


def test_a_whole_workflow(tmp_path):
    """The disk fills once the plan is made: the workflow ends and says why."""
    with mounted(
        tmp_path / "disk", "-t", "tmpfs", "-o", f"size={NEEDED_MB + 20}m", "tmpfs"
    ) as folder:
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        command = [sys.executable, "-m", "snakemake", "-s", str(ROOT / "Snakefile"), "--cores", "2"]
        command += ["--config", "scale=smoke", "--", "dynamic_span"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        with subprocess.Popen(
            command, cwd=folder, env=os.environ | {"PATH": path}, **pipes
        ) as workflow:
            while workflow.poll() is None and not any(folder.glob("results/data/*.npz")):
                time.sleep(0.1)
            leave_free(folder, 0)
            said = workflow.communicate()[0]
        assert workflow.returncode and FULL.removeprefix(": ") in said, said


def test_what_is_made_of_runs(suite, disk, refused):
    site = Site(suite / "results" / SCALE, disk, suite / "results" / "runs")
    spans, heads = (
        read_frames(inputs(site.results, name)) for name in ("dynamic_span", "head_spans")
    )
    leave_free(disk, 0)
    assert refused(partial(write_run_files, disk, spans.runs)) == "runs.csv"
    assert (
        refused(partial(write_table, disk / "table.json", "adaptive_span_table3", spans))
        == "table.csv"
    )
    leave_free(disk, 8192)
    figure = partial(write_figure, disk / "figure.svg", "adaptive_span_figure4", heads)
    assert refused(figure).startswith("figure.")
    records = {
        digest: read_record(site.runs / digest / "record.json")
        for digest in spans.everything["digest"]
    }
    assert refused(partial(question.write_pages, site, "dynamic_span", spans, records)).endswith(
        ".html"
    )


def test_a_text_and_a_plan_with_its_jobs(disk, refused):
    leave_free(disk, 8192)
    assert refused(corpus_script.main, "words", str(disk / "words.npz")) == "words.npz"
    leave_free(disk, 40 << 10)
    words = [str(disk / "results" / "smoke" / "plan.json"), "--config", '{"scale": "smoke"}']
    assert refused(plan.main, *words) in ("plan.json", "job.json")
    for path in disk.rglob("job.json"):
        json.loads(path.read_text())
