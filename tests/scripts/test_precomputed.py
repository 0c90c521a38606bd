"""Records that came with the project: taken as they are, with their costs; they are what their scale asks for."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests._jobs import job
from tests._training import origin, write_job
from workflow.config.errors import ConfigError
from workflow.costs.trained_net import TrainedRun
from workflow.plan import plan as planning
from workflow.plan import precomputed_files
from workflow.plan.scales import load_scale
from workflow.plan.targets import Targets
from workflow.results import precomputed as room
from workflow.results.record import Record, read_record, write_record
from workflow.results.registry import COSTS
from workflow.results.rows import read_rows, write_rows
from workflow.scripts import precomputed

FOLDERS = sorted(path for path in room.PRECOMPUTED.iterdir() if path.is_dir())
each_folder = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)


@pytest.fixture
def came_with_the_project(tmp_path, monkeypatch):
    """A folder in place of results/precomputed."""
    monkeypatch.setattr(room, "PRECOMPUTED", tmp_path / "precomputed")
    room.precomputed_costs.cache_clear()
    yield tmp_path / "precomputed" / "elsewhere"
    room.precomputed_costs.cache_clear()


def record_of(small) -> Record:
    """A record made by hand: nothing is trained."""
    points = [{"step": 4, "train_bpc": 2.0, "dev_bpc": 1.9, "tokens_per_s": 10.0}]
    return Record(status="ok", digest=small.digest, job=small, metrics={"dev_bpc": 1.9}, curve=points, origin=origin())


def taken(folder: Path, *files: str) -> None:
    """What the rule does."""
    precomputed.main(["--scale", "elsewhere", *(str(folder / file) for file in files)])


def test_a_record_that_came_with_the_project_is_taken_as_it_is(came_with_the_project, tmp_path, capsys):
    record = record_of(job())
    write_record(came_with_the_project / f"{record.digest}.json", record)
    write_job(job(), tmp_path / "run")
    taken(tmp_path / "run", "record.json", "curve.csv")
    assert read_record(tmp_path / "run" / "record.json") == record
    assert (tmp_path / "run" / "curve.csv").read_text().splitlines()[1].startswith("4,2.0,1.9")
    assert not (tmp_path / "run" / "weights.pt").exists()
    assert "2 files came with the project" in capsys.readouterr().out


def test_a_job_without_such_a_record_is_refused(came_with_the_project, tmp_path):
    write_job(job(), tmp_path / "run")
    with pytest.raises(ConfigError, match=f"no record of job {job().digest} came with the project"):
        taken(tmp_path / "run", "record.json")


def test_the_record_of_another_job_is_refused(came_with_the_project, tmp_path):
    write_record(came_with_the_project / f"{job().digest}.json", record_of(job(seed=2)))
    write_job(job(), tmp_path / "run")
    with pytest.raises(ConfigError, match="the record of another job"):
        taken(tmp_path / "run", "record.json")


def test_costs_are_taken_by_configuration_and_timings_by_group(came_with_the_project, tmp_path, monkeypatch):
    rows = [{"configuration": name} for name in ("a", "b", "c")]
    planned = SimpleNamespace(runs=SimpleNamespace(groups={"limit+models": ["a", "c"]}))
    monkeypatch.setattr(precomputed, "read_targets", lambda scale: planned)
    (came_with_the_project / "costs").mkdir(parents=True)
    (came_with_the_project / "costs" / "flops.json").write_text(write_rows("flops", [{"configuration": "a"}]))
    (came_with_the_project / "costs" / "throughput.json").write_text(write_rows("throughput", rows))
    taken(tmp_path, "flops/a.json", "throughput/limit+models.json")
    assert read_rows(tmp_path / "flops" / "a.json") == ("flops", [{"configuration": "a"}])
    assert read_rows(tmp_path / "throughput" / "limit+models.json") == ("throughput", [rows[0], rows[2]])
    with pytest.raises(ConfigError, match="flops of b: did not come with the project at scale elsewhere"):
        taken(tmp_path, "flops/b.json")


def test_a_net_without_weights_is_measured_by_what_came_with_the_project_or_not_at_all(came_with_the_project, tmp_path):
    row = {"configuration": job().configuration, "digest": "elsewhere", "status": "ok", "macs_torch": 7}
    (came_with_the_project / "costs").mkdir(parents=True)
    (came_with_the_project / "costs" / "flops.json").write_text(write_rows("flops", [row]))
    record = TrainedRun.at(write_job(job(), tmp_path / "run").with_name("record.json"))
    assert record.unmeasured_row("flops") == row and record.unmeasured_row("memory")["status"] == "error"


def test_what_is_measured_of_a_scale_is_taken_where_nothing_is_trained_and_its_settings_are_equal(
    came_with_the_project, tmp_path, monkeypatch
):
    monkeypatch.setattr(precomputed, "PRECOMPUTED", room.PRECOMPUTED)
    smoke = room.PRECOMPUTED / "smoke" / "whole"
    settings = Targets.of({"scale": "smoke"}).shared.settings
    for name in settings:
        (smoke / name).parent.mkdir(parents=True, exist_ok=True)
        (smoke / f"{name}.json").write_text(json.dumps({"settings": settings[name], "content": {"kind": name}}))

    monkeypatch.setattr(planning, "precomputed", lambda digest: smoke)  # as if all records had come

    def taken_by(**config) -> list[str]:
        return Targets.of({"scale": "smoke", **config}).shared.taken

    assert taken_by(train="nothing") == list(settings) and taken_by(train="everything") == []
    files = Targets.of({"scale": "smoke", "train": "nothing"}).shared.files_taken
    precomputed.main(["--scale", "smoke", *(str(tmp_path / file) for file in files)])
    assert [json.loads((tmp_path / file).read_text())["kind"] for file in files] == list(settings)
    layers = smoke / "layers" / "smoke.json"
    layers.write_text(layers.read_text().replace("passes", "turns"))
    assert taken_by(train="nothing") == [name for name in settings if name != "layers/smoke"]


def test_their_folders_hold_every_kind_of_cost():
    assert FOLDERS
    for folder in FOLDERS:
        assert {path.stem for path in (folder / "costs").glob("*.json")} == set(COSTS)


@pytest.mark.slow
@each_folder
def test_what_came_with_the_project_is_what_its_scale_asks_for(folder: Path):
    targets = Targets.of({"scale": folder.name})
    records = {path.stem: read_record(path) for path in folder.glob("*.json")}
    assert set(records) <= set(targets.runs.jobs)
    assert all(digest == record.digest == record.job.digest for digest, record in records.items())
    assert not [digest for digest, record in records.items() if record.origin.dirty]  # of code that is in no commit
    tasks = {job.configuration: job.task for job in targets.runs.jobs.values()}
    without_weights = {name for name, digest in targets.runs.configurations.items() if digest in records}
    for path in (folder / "costs").glob("*.json"):
        kind, costs = read_rows(path)
        configurations = {cost["configuration"] for cost in costs}
        assert kind == path.stem and configurations <= set(tasks)
        assert without_weights <= configurations or kind == "longest_span"
    for cost in json.loads((folder / "costs" / "longest_span.json").read_text())["rows"]:
        measure = load_scale(folder.name, tasks[cost["configuration"]]).measure
        assert cost["memory_budget_bytes"] == measure.memory_mb << 20


@pytest.mark.slow
@each_folder
def test_what_is_trained_although_its_record_came_is_what_the_config_says(folder: Path):
    came = {path.stem for path in folder.glob("*.json")}

    def runs(train: str):
        return Targets.of({"scale": folder.name, "train": train}).runs

    assert set(runs("nothing").precomputed) == came
    assert not runs("everything").precomputed and runs("everything").trained == list(runs("everything").jobs)
    some = runs("first_seed")
    first = {digest for name in some.train_first for digest in some.digests_of(name)}
    assert set(some.precomputed) == came - first.intersection(some.configurations.values())
    assert not Targets.of({"scale": "smoke"}).runs.precomputed


@each_folder
def test_costs_are_taken_of_what_is_not_trained(folder: Path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where nothing is there yet
    targets = Targets.of({"scale": folder.name, "train": "nothing"})
    assert targets.precomputed.measured_here == [] and targets.precomputed.timed_here == []
    assert set(targets.precomputed.missing) == set(targets.precomputed.files)
    anew = Targets.of({"scale": folder.name, "train": "everything"})
    assert anew.precomputed.files == [] and anew.precomputed.timed_here == list(anew.runs.groups)


def test_speeds_of_one_machine_are_taken_until_a_question_has_a_configuration_of_its_own(monkeypatch):
    """Then what it compares is timed here, and what belongs to other questions alone is still taken."""
    default = Targets.of({"scale": "laptop"}).precomputed
    assert default.measured_here and default.timed_here == []
    (own, *_) = default.runs.configurations_of("limit")
    came = [row for row in room.precomputed_costs("throughput", "laptop") if row["configuration"] != own]
    monkeypatch.setattr(precomputed_files, "precomputed_costs", lambda kind, scale: came)
    asking = {row.ablation for row in default.runs.rows if row.job.configuration == own}
    compared = {group for ablation in asking for group in default.runs.groups_of(ablation)}
    assert set(Targets.of({"scale": "laptop"}).precomputed.timed_here) == compared < set(default.runs.groups)


def test_where_nothing_is_trained_runs_without_a_record_are_left_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    everything = Targets.of({"scale": "smoke"}).runs
    with pytest.raises(
        ConfigError, match="train = 'nothing': no run of scale smoke came with the project, or was made"
    ):
        Targets.of({"scale": "smoke", "train": "nothing"})
    first = next(iter(everything.jobs))
    (tmp_path / "results/runs" / first).mkdir(parents=True)
    (tmp_path / "results/runs" / first / "record.json").write_text("{}")
    kept = Targets.of({"scale": "smoke", "train": "nothing"})
    assert list(kept.runs.jobs) == [first] and len(kept.ablations) < len(Targets.of({"scale": "smoke"}).ablations)
