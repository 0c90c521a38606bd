"""Records that came with the project: what they hold, and that their pages are made without training."""

import json
from pathlib import Path

import pytest

from tests import _site
from tests._jobs import job
from tests._runs import run
from workflow.costs import trained_net as subject
from workflow.plan.ablations import CONFIG, TASKS, load_config, read_yaml
from workflow.plan.plan import plan
from workflow.plan.scales import load_scale
from workflow.plan.targets import Targets
from workflow.results import record as records
from workflow.results.record import read_record, write_record
from workflow.scripts import train

SETS = sorted(path for path in records.PRECOMPUTED.iterdir() if path.is_dir())


def test_a_job_whose_record_came_with_the_project_is_not_trained(tmp_path, monkeypatch, capsys):
    asked = job(seed=1)
    made = _site.record({**run(seed=1), "digest": asked.digest})
    write_record(tmp_path / "published" / "elsewhere" / f"{asked.digest}.json", made)
    monkeypatch.setattr(records, "PUBLISHED", tmp_path / "published")
    train.main([asked.canonical(), str(tmp_path / "run"), "--data", str(tmp_path / "no text is needed")])
    assert read_record(tmp_path / "run" / "record.json") == made
    assert (tmp_path / "run" / "curve.csv").exists()
    assert "came with the project: elsewhere" in capsys.readouterr().out


def test_the_measures_of_such_a_run_come_with_it(tmp_path, monkeypatch):
    folder = tmp_path / "elsewhere" / "measures"
    folder.mkdir(parents=True)
    (folder / "flops.json").write_text(json.dumps([{"configuration": "abc", "status": "ok", "macs_torch": 7}]))
    monkeypatch.setattr(records, "PUBLISHED", tmp_path)
    assert subject.came_with_the_project("flops", {"configuration": "abc", "digest": "d"})["macs_torch"] == 7
    assert subject.came_with_the_project("flops", {"configuration": "other", "digest": "d"})["status"] == "error"


@pytest.mark.parametrize("folder", SETS, ids=lambda folder: folder.name)
def test_what_came_with_the_project_is_what_its_scale_asks_for(folder: Path):
    rows = plan(load_config({**read_yaml(CONFIG / "config.yaml"), "tasks": list(TASKS), "scale": folder.name}))
    found = {path.stem: read_record(path) for path in folder.glob("*.json")}
    assert set(found) == {row.job.digest for row in rows}
    assert all(digest == one.digest == one.job.digest for digest, one in found.items())
    for path in (folder / "measures").glob("*.json"):
        assert {one["configuration"] for one in json.loads(path.read_text())} == {row.job.configuration for row in rows}
    tasks = {row.job.configuration: row.job.task for row in rows}
    for one in json.loads((folder / "measures" / "memory.json").read_text()):
        assert (
            one["memory_budget_bytes"] == load_scale(folder.name, tasks[one["configuration"]]).measure.memory_mb << 20
        )


def test_its_pages_need_no_text():
    """On a fresh clone without data nothing is read: the text is wanted only by a run that has to be trained."""
    asked = Targets.of({**read_yaml(CONFIG / "config.yaml"), "tasks": list(TASKS), "scale": SETS[0].name})
    assert not any(asked.text_of(digest) for digest in asked.jobs)
    asked = Targets.of({**read_yaml(CONFIG / "config.yaml"), "tasks": list(TASKS), "scale": "smoke"})
    assert all(asked.text_of(digest) for digest in asked.jobs)
