"""Records of a scale, put among those that ship with the project."""

import json

import pytest

from tests._finished import finished
from workflow.cli import precompute
from workflow.config.errors import ConfigError
from workflow.plan.targets import Targets
from workflow.results import store
from workflow.results.precomputed import SETTINGS, file_of_scale
from workflow.results.record import write_record, write_text
from workflow.results.registry import COSTS
from workflow.results.rows import read_rows, write_rows

DRAWN = ("transformer", "translation")  # questions whose pages show attention maps


@pytest.fixture
def targets():
    return Targets.of({"scale": "smoke"})


@pytest.fixture
def results(targets, tmp_path, monkeypatch):
    """Write records and costs of scale smoke, as if all of it had been run."""
    monkeypatch.chdir(tmp_path)
    for module in (precompute, store):
        monkeypatch.setattr(module, "PRECOMPUTED", tmp_path / "precomputed")
    runs = targets.runs
    folder = tmp_path / "results"
    facts = {"maps": {"cross": []}, "mean_span": 3.0}
    for digest, job in runs.jobs.items():
        record = finished(job).model_copy(update={"facts": facts})
        run = folder / "runs" / digest
        write_record(run / "record.json", record)
    of_scale = folder / "smoke"
    alone = {name: [name] for name in runs.configurations}
    for kind in COSTS:
        files = runs.groups if kind == "throughput" else alone
        for name, members in files.items():
            costs = [{"configuration": each} for each in members]
            rows = write_rows(kind, costs)
            write_text(of_scale / kind / f"{name}.json", rows)
    for name in targets.shared.settings:
        content = json.dumps({"kind": name})
        write_text(of_scale / file_of_scale(name), content)
    return folder


def read_json(path):
    return json.loads(path.read_text())


def test_all_records_are_kept_with_costs_settings_and_the_maps_that_are_drawn(targets, results):
    runs = targets.runs
    first, *_ = runs.groups
    other_plan = write_rows("throughput", [{"configuration": first}])
    timings = results / "smoke" / "throughput"
    write_text(timings / "of_another_plan.json", other_plan)
    precompute.main(["smoke", "--results", "results"])
    shipped = results.parent / "precomputed"
    lines = store.Store(lines=shipped)
    assert set(lines.digests()) == set(runs.jobs)
    drawn = set()
    for row in runs.rows:
        job = row.job
        if row.question in DRAWN and job.seed == 1:
            drawn.add(job.digest)
    for digest in runs.jobs:
        facts = lines.read(digest).facts
        assert facts["mean_span"] == 3.0
        assert ("maps" in facts) == (digest in drawn)
    of_scale = shipped / "smoke"
    for kind in ("flops", "throughput"):
        file = of_scale / kind / "all.json"
        _, rows = read_rows(file)
        names = [row["configuration"] for row in rows]
        assert sorted(names) == sorted(runs.configurations), kind
    settings = targets.shared.settings
    assert read_json(of_scale / SETTINGS) == settings
    for name in settings:
        kept = read_json(of_scale / file_of_scale(name))
        assert kept == {"kind": name}


def test_of_a_scale_that_is_run_piece_by_piece_what_was_made_is_kept(targets, results):
    shipped = results.parent / "precomputed"
    digest, *others = targets.runs.jobs
    run = results / "runs" / digest
    (run / "record.json").unlink()
    with pytest.raises(ConfigError, match=digest):
        precompute.main(["smoke", "--results", "results"])
    assert not shipped.exists()
    *_, lost = targets.runs.configurations
    memory = results / "smoke" / "memory"
    (memory / f"{lost}.json").unlink()
    precompute.main(["smoke", "--so-far", "--results", "results"])
    lines = store.Store(lines=shipped)
    assert set(lines.digests()) == set(others)
    _, rows = read_rows(shipped / "smoke/memory/all.json")
    status = {}
    for row in rows:
        name = row["configuration"]
        status[name] = row.get("status")
    assert status.pop(lost) == "error"
    assert set(status.values()) == {None}


@pytest.mark.parametrize(
    "corpus, kept",
    [
        ("phrases-deen", ["shown", "maps"]),
        ("multi30k-deen", ["maps"]),
        ("iwslt14-deen", []),
        ("pairs-12345678", []),
    ],
)
def test_sentences_are_kept_only_if_the_suite_makes_them(corpus, kept, targets):
    jobs = targets.runs.jobs.values()
    translation = next(job for job in jobs if job.task == "translation")
    job = translation.model_copy(update={"corpus": corpus})
    facts = {"shown": [["a", "b", "c"]], "maps": {}}
    record = finished(job).model_copy(update={"facts": facts})
    drawn = precompute.without_texts(record, drawn=True)
    assert list(drawn.facts) == kept
    not_drawn = precompute.without_texts(record, drawn=False)
    assert "maps" not in not_drawn.facts
