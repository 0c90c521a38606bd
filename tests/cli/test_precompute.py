"""Records of a scale, put among those that come with the project."""

import json
from pathlib import Path

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

SMOKE = {"scale": "smoke"}


@pytest.fixture
def results(tmp_path, monkeypatch):
    """Records and costs of scale smoke, as if all of it had been run."""
    for module in (precompute, store):
        monkeypatch.setattr(module, "PRECOMPUTED", tmp_path / "precomputed")
    targets = Targets.of(SMOKE)
    for digest, job in targets.runs.jobs.items():
        record = finished(job).model_copy(
            update={"facts": {"maps": {"cross": []}, "mean_span": 3.0}}
        )
        write_record(tmp_path / "results" / "runs" / digest / "record.json", record)
    groups = {name: [name] for name in targets.runs.configurations}
    for kind in COSTS:
        for name, members in (targets.runs.groups if kind == "throughput" else groups).items():
            rows = [{"configuration": each} for each in members]
            write_text(
                tmp_path / "results" / "smoke" / kind / f"{name}.json", write_rows(kind, rows)
            )
    for name in targets.shared.settings:
        write_text(tmp_path / "results" / "smoke" / file_of_scale(name), json.dumps({"kind": name}))
    return tmp_path / "results"


def test_all_records_are_kept_with_costs_settings_and_the_maps_that_are_drawn(results, capsys):
    of_another_plan = write_rows(
        "throughput", [{"configuration": next(iter(Targets.of(SMOKE).runs.groups))}]
    )
    write_text(results / "smoke" / "throughput" / "of_another_plan.json", of_another_plan)
    precompute.main(["smoke", "--results", str(results)])
    targets, came = Targets.of(SMOKE), results.parent / "precomputed"
    shipped = store.Store(lines=came)
    kept = {digest: shipped.read(digest) for digest in shipped.digests()}
    runs, settings = targets.runs, targets.shared.settings
    assert set(kept) == set(runs.jobs) and all(
        record.facts["mean_span"] == 3.0 for record in kept.values()
    )
    with_maps = {digest for digest, record in kept.items() if "maps" in record.facts}
    drawn = [row.job for row in runs.rows if row.question in ("transformer", "translation")]
    assert with_maps == {job.digest for job in drawn if job.seed == 1} < set(runs.jobs)
    assert f"{len(kept)} records and their costs" in capsys.readouterr().out
    for kind in ("flops", "throughput"):
        rows = read_rows(came / "smoke" / kind / "all.json")[1]
        assert sorted(row["configuration"] for row in rows) == sorted(runs.configurations), kind
    assert json.loads((came / "smoke" / SETTINGS).read_text()) == settings
    assert all(
        json.loads((came / "smoke" / file_of_scale(name)).read_text()) == {"kind": name}
        for name in settings
    )


def test_of_a_scale_that_is_run_piece_by_piece_what_was_made_is_kept(results, monkeypatch, capsys):
    monkeypatch.chdir(results.parent)
    digest = next(iter(Targets.of(SMOKE).runs.jobs))
    (results / "runs" / digest / "record.json").unlink()
    with pytest.raises(ConfigError, match=digest):
        precompute.main(["smoke", "--results", "results"])
    assert not (results.parent / "precomputed").exists()
    lost = [*Targets.of(SMOKE).runs.configurations][-1]
    (results / "smoke" / "memory" / f"{lost}.json").unlink()
    precompute.main(["smoke", "--so-far", "--results", "results"])
    kept = set(store.Store(lines=results.parent / "precomputed").digests())
    assert kept == set(Targets.of(SMOKE).runs.jobs) - {digest}
    assert f"{len(kept)} records and their costs" in capsys.readouterr().out
    memory = {
        row.pop("configuration"): row
        for row in read_rows(Path("precomputed/smoke/memory/all.json"))[1]
    }
    assert (memory.pop(lost)["status"], {*map(len, memory.values())}) == ("error", {0})


@pytest.mark.parametrize(
    "corpus, kept",
    [
        ("phrases-deen", ["shown", "maps"]),
        ("multi30k-deen", ["maps"]),
        ("iwslt14-deen", []),
        ("pairs-12345678", []),
    ],
)
def test_sentences_are_kept_only_if_the_suite_makes_them(corpus, kept, results):
    runs = Targets.of(SMOKE).runs
    job = next(job for job in runs.jobs.values() if job.task == "translation").model_copy(
        update={"corpus": corpus}
    )
    record = finished(job).model_copy(update={"facts": {"shown": [["a", "b", "c"]], "maps": {}}})
    assert list(precompute.without_texts(record, drawn=True).facts) == kept
    assert "maps" not in precompute.without_texts(record, drawn=False).facts
