"""Records of a scale, put among those that come with the project."""

import pytest

from tests._finished import finished
from workflow.cli import precompute
from workflow.config.errors import ConfigError
from workflow.plan.targets import Targets
from workflow.results.record import read_record, write_record
from workflow.results.registry import COSTS
from workflow.results.rows import read_rows, write_rows


@pytest.fixture
def results(tmp_path, monkeypatch):
    """Records and costs of scale smoke, as if all of it had been run."""
    monkeypatch.setattr(precompute, "PRECOMPUTED", tmp_path / "precomputed")
    targets = Targets.of({"scale": "smoke"})
    for digest, job in targets.runs.jobs.items():
        record = finished(job).model_copy(update={"facts": {"maps": {"cross": []}, "mean_span": 3.0}})
        write_record(tmp_path / "results" / "runs" / digest / "record.json", record)
    for ablation in targets.ablations:
        rows = [{"configuration": name, "ablation": ablation} for name in targets.runs.configurations_of(ablation)]
        for kind in COSTS:
            path = tmp_path / "results" / "smoke" / kind / f"{ablation}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(write_rows(kind, rows))
    return tmp_path / "results"


def test_all_records_are_kept_without_maps(results, capsys):
    precompute.main(["smoke", "--results", str(results)])
    kept = {path.stem: read_record(path) for path in (results.parent / "precomputed" / "smoke").glob("*.json")}
    assert set(kept) == set(Targets.of({"scale": "smoke"}).runs.jobs)
    assert all(record.facts == {"mean_span": 3.0} for record in kept.values())
    assert f"{len(kept)} records and their costs" in capsys.readouterr().out


def test_timings_are_kept_by_ablation(results):
    precompute.main(["smoke", "--results", str(results)])
    runs = Targets.of({"scale": "smoke"}).runs
    costs = results.parent / "precomputed" / "smoke" / "costs"
    assert {row["configuration"] for row in read_rows(costs / "flops.json")[1]} == set(runs.configurations)
    timed = {(row["ablation"], row["configuration"]) for row in read_rows(costs / "throughput.json")[1]}
    assert timed == {(row.ablation, row.job.configuration) for row in runs.rows}


def test_without_all_records_nothing_is_written(results):
    digest = next(iter(Targets.of({"scale": "smoke"}).runs.jobs))
    (results / "runs" / digest / "record.json").unlink()
    with pytest.raises(ConfigError, match=f"{digest}/record.json: not made yet"):
        precompute.main(["smoke", "--results", str(results)])
    assert not (results.parent / "precomputed").exists()
