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
        write_record(folder / "runs" / digest / "record.json", record)
    for kind in COSTS:
        alone = {name: [name] for name in runs.configurations}
        for name, members in (runs.groups if kind == "throughput" else alone).items():
            rows = write_rows(kind, [{"configuration": each} for each in members])
            write_text(folder / "smoke" / kind / f"{name}.json", rows)
    for name in targets.shared.settings:
        write_text(folder / "smoke" / file_of_scale(name), json.dumps({"kind": name}))
    return folder


def test_all_records_are_kept_with_costs_settings_and_the_maps_that_are_drawn(targets, results):
    runs = targets.runs
    other_plan = write_rows("throughput", [{"configuration": next(iter(runs.groups))}])
    write_text(results / "smoke" / "throughput" / "of_another_plan.json", other_plan)
    precompute.main(["smoke", "--results", "results"])
    shipped = results.parent / "precomputed"
    lines = store.Store(lines=shipped)
    assert set(lines.digests()) == set(runs.jobs)
    drawn = {row.job.digest for row in runs.rows if row.question in DRAWN and row.job.seed == 1}
    for digest in runs.jobs:
        facts = lines.read(digest).facts
        assert facts["mean_span"] == 3.0
        assert ("maps" in facts) == (digest in drawn)
    for kind in ("flops", "throughput"):
        rows = read_rows(shipped / "smoke" / kind / "all.json")[1]
        assert sorted(row["configuration"] for row in rows) == sorted(runs.configurations), kind
    settings = targets.shared.settings
    assert json.loads((shipped / "smoke" / SETTINGS).read_text()) == settings
    for name in settings:
        kept = json.loads((shipped / "smoke" / file_of_scale(name)).read_text())
        assert kept == {"kind": name}


def test_of_a_scale_that_is_run_piece_by_piece_what_was_made_is_kept(targets, results):
    shipped = results.parent / "precomputed"
    digest = next(iter(targets.runs.jobs))
    (results / "runs" / digest / "record.json").unlink()
    with pytest.raises(ConfigError, match=digest):
        precompute.main(["smoke", "--results", "results"])
    assert not shipped.exists()
    *_, lost = targets.runs.configurations
    (results / "smoke" / "memory" / f"{lost}.json").unlink()
    precompute.main(["smoke", "--so-far", "--results", "results"])
    assert set(store.Store(lines=shipped).digests()) == set(targets.runs.jobs) - {digest}
    rows = read_rows(shipped / "smoke/memory/all.json")[1]
    status = {row["configuration"]: row.get("status") for row in rows}
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
    record = finished(translation.model_copy(update={"corpus": corpus}))
    record = record.model_copy(update={"facts": {"shown": [["a", "b", "c"]], "maps": {}}})
    assert list(precompute.without_texts(record, drawn=True).facts) == kept
    assert "maps" not in precompute.without_texts(record, drawn=False).facts
