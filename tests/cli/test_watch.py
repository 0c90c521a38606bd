"""How far the runs of a plan are."""

import json
import os

import pytest

from tests import _site
from tests._finished import finished
from tests._jobs import job
from tests._runs import failed, run
from workflow.cli import watch
from workflow.cli.watch import read_states
from workflow.config.errors import ConfigError
from workflow.results.record import write_record, write_text


@pytest.fixture
def running(tmp_path):
    """Four runs: one done, one failed, one at step 8 of 12, one waiting."""
    jobs = {name: job(seed=seed) for seed, name in enumerate(("done", "failed", "running", "waiting"))}
    rows = [
        _site.planned(run(variant=name, S=24, seed=each.seed, digest=name)) | {"job": each.model_dump(mode="json")}
        for name, each in jobs.items()
    ]
    scale, runs, logs = folders(tmp_path)
    write_text(scale / "plan.json", json.dumps(rows))
    write_record(runs / "done" / "record.json", finished(jobs["done"], test_bpc=2.5))
    write_record(runs / "failed" / "record.json", _site.record(failed() | {"reason": f"nan {_site.EVIL}"}))
    (logs / "train").mkdir(parents=True)
    log = "step 4  train_bpc 3.100  dev_bpc 3.000  64 tokens/s\nstep 8  train_bpc 2.900  dev_bpc 2.800  32 tokens/s\n"
    (logs / "train" / "running.log").write_text(log)
    return tmp_path


def test_every_run_has_a_state(running):
    states = {run.digest: (run.state, run.detail) for run in read_states(*folders(running))}
    assert states["done"] == ("done", "test_bpc 2.5 in 10 s")
    assert states["failed"] == ("failed", f"diverged: nan {_site.EVIL}")
    assert states["running"] == ("running", "step 8 train_bpc 2.900 dev_bpc 2.800 32 tokens/s, of 12 steps")
    assert states["waiting"] == ("waiting", "")
    os.utime(running / "logs" / "train" / "running.log", (1, 1))  # nobody writes it any more
    assert "running" not in {run.state for run in read_states(*folders(running))}


def folders(path):
    """Of the scale, of all runs, of the logs."""
    return path / "results" / _site.SCALE, path / "results" / "runs", path / "logs"


def test_a_small_terminal_shows_what_runs_and_how_much_more_there_is(running):
    lines = watch.screen_lines("1 done", read_states(*folders(running)), 3, 40)
    assert lines[1].startswith("running") and lines[-1] == "... and 3 more"


def test_the_first_line_counts_the_runs_and_tells_how_long_the_trainings_to_come_take(running, capsys):
    """Two are left, in two lanes. A seed has taken 10 s, and 4 more for its process."""
    where = ["--results", str(running / "results"), "--logs", str(running / "logs")]
    watch.main(["--scale", _site.SCALE, *where, "--once", "--cores", "2"])
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("1 running, 1 failed, 1 done, 1 waiting; trainings to come: about 14 s on 2 cores")
    assert printed[1].startswith("running  running  step 8")


def test_without_a_plan_there_is_nothing_to_watch(tmp_path):
    with pytest.raises(ConfigError, match="no plan yet"):
        read_states(tmp_path, tmp_path, tmp_path)
