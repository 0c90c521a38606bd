"""Sets of results: bundled, read back, compared, merged; and what is refused on the way."""

import json
import zipfile

import pytest

from tests import _site
from tests._jobs import job
from tests._runs import failed, run
from workflow.cli import compare, merge
from workflow.compare.differences import cells, origins
from workflow.compare.result_set import read
from workflow.config.errors import ConfigError
from workflow.results.record import PRECOMPUTED, read_record, write_record
from workflow.results.runs_table import frame
from workflow.scripts import bundle, claims
from workflow.scripts import runs_table as gather


def folder(path, changes=lambda row: row, device=None):
    """A results folder of two variants, three seeds each, with pages of a word."""
    rows = [
        changes(run(variant=variant, seed=seed, dev_bpc=value + seed / 100))
        for variant, value in (("fixed", 2.0), ("adaptive", 1.8))
        for seed in (1, 2, 3)
    ]
    for row in rows:
        record = _site.record(row)
        if device:
            record = record.model_copy(update={"origin": record.origin.model_copy(update={"device": device})})
        write_record(path / "results" / "runs" / row["digest"] / "record.json", record)
    asked = ("ablation", "paper", "variant", "corpus", "S", "k", "digest", "configuration", "text")
    plan = [{key: row[key] for key in asked} | {"job": job(seed=row["seed"]).model_dump(mode="json")} for row in rows]
    (path / "results" / "plan.json").write_text(json.dumps(plan))
    gather.main([str(path / "results" / "plan.json"), str(path / "results" / "runs.json")])
    (path / "reports" / "runs").mkdir(parents=True)
    (path / "reports" / "index.html").write_text("a report")
    return path


def bundled(path):
    bundle.main([str(path / "b.zip"), "--results", str(path / "results"), "--reports", str(path / "reports")])
    return path / "b.zip"


def test_a_bundle_holds_records_pages_and_their_checksums_and_is_the_same_twice(tmp_path):
    made = bundled(folder(tmp_path))
    first = made.read_bytes()
    with zipfile.ZipFile(made) as archive:
        names = archive.namelist()
        manifest = json.loads(archive.read("manifest.json"))
    assert "reports/index.html" in names and "results/runs/span_limit-fixed-64-None-1/record.json" in names
    assert sorted(manifest["files"]) == sorted(set(names) - {"manifest.json"})
    assert bundled(tmp_path).read_bytes() == first


def test_a_bundle_is_read_back_as_the_folder_it_was_made_from(tmp_path):
    made = bundled(folder(tmp_path))
    here, there = read(tmp_path / "results"), read(made)
    assert here.records == there.records
    assert here.runs.to_json() == there.runs.to_json()


def rewritten(path, change):
    """The bundle with its contents changed by hand."""
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    change(content)
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in content.items():
            archive.writestr(name, text)


def told(content, **changes):
    content["manifest.json"] = json.dumps(json.loads(content["manifest.json"]) | changes)


@pytest.mark.parametrize(
    "change, said",
    [
        (
            lambda content: content.update({"reports/index.html": b"another"}),
            "index.html is not what the manifest says",
        ),
        (lambda content: content.pop("reports/index.html"), "not a bundle that can be read"),
        (lambda content: content.pop("manifest.json"), "which is no bundle of this suite"),
        (lambda content: told(content, version=2), "bundle version 2, this suite reads 1"),
        (lambda content: told(content, files={"../evil": "0"}), "lies outside the bundle"),
        (lambda content: told(content, files={"/evil": "0"}), "lies outside the bundle"),
        (lambda content: told(content, commit="a"), "unknown key 'commit': did you mean 'commits'"),
    ],
)
def test_a_damaged_bundle_is_refused(change, said, tmp_path):
    made = bundled(folder(tmp_path))
    rewritten(made, change)
    with pytest.raises(ConfigError, match=said) as error:
        read(made)
    assert "\n" not in str(error.value) and not (tmp_path.parent / "evil").exists()


@pytest.mark.parametrize(
    "name, content, said",
    [("none", None, "no such results folder"), ("b.zip", "x", "not a bundle"), ("empty", {}, "neither plan.json nor")],
)
def test_what_is_no_set_is_refused(name, content, said, tmp_path):
    if content == {}:
        (tmp_path / name).mkdir()
    elif content:
        (tmp_path / name).write_text(content)
    with pytest.raises(ConfigError, match=said):
        read(tmp_path / name)


@pytest.mark.parametrize(
    "place, content, said",
    [
        ("plan.json", "null", "expected a list of runs"),
        ("plan.json", '[{"digest": "../x"}]', "run 0"),
        ("plan.json", "[", "truncated or not JSON"),
        ("measures/memory.json", "[1]", "not this suite's"),
        ("runs/span_limit-fixed-64-None-1/record.json", None, "says that it is span_limit-fixed-64-None-2's"),
    ],
)
def test_a_folder_of_something_else_is_refused_in_a_line(place, content, said, tmp_path):
    made = folder(tmp_path) / "results"
    (made / place).parent.mkdir(exist_ok=True)
    other = made / "runs" / "span_limit-fixed-64-None-2" / "record.json"
    (made / place).write_text(other.read_text() if content is None else content)
    with pytest.raises(ConfigError, match=said) as error:
        read(made)
    assert "\n" not in str(error.value)


def test_nothing_is_written_over_what_is_read(tmp_path, monkeypatch):
    made = folder(tmp_path)
    before = (made / "results" / "runs.json").read_text()
    with pytest.raises(ConfigError, match="over its own input"):
        claims.main([str(made / "results" / "runs.json"), str(made / "results" / "runs")])
    kept = bundled(made).read_bytes()
    with pytest.raises(ConfigError, match="b.zip: expected a name that ends in .csv"):
        merge.main([str(made / "b.zip"), str(made / "results")])
    monkeypatch.chdir(made)
    for place in ("reports/index.html", str(made / "reports" / "new.html")):
        with pytest.raises(ConfigError, match="reports/ is written by the workflow"):
            compare.main(["results", "b.zip", "--page", place])
    with pytest.raises(ConfigError, match="results/ is written by the workflow"):
        merge.main(["results/runs.csv", "results"])
    with pytest.raises(ConfigError, match="ends in .html"):
        compare.main([str(made / "results"), str(made / "b.zip"), "--page", str(made / "results" / "plan.json")])
    assert (made / "results" / "runs.json").read_text() == before and (made / "b.zip").read_bytes() == kept


def test_a_set_of_several_scales_is_compared_one_at_a_time():
    rows = frame([run(scale="laptop"), run(scale="small", seed=2)])
    with pytest.raises(ConfigError, match="several scales, laptop and small"):
        cells(rows, rows)


def test_a_bundle_of_nothing_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="run the workflow first"):
        bundle.main([str(tmp_path / "b.zip"), "--results", str(tmp_path), "--reports", str(tmp_path / "reports")])
    assert not (tmp_path / "b.zip").exists()


def test_a_published_set_is_read_with_who_asked_for_it():
    found = read(PRECOMPUTED / "small_cpu")
    assert len(found.records) == len(list((PRECOMPUTED / "small_cpu").glob("*.json")))
    assert set(found.runs["scale"]) == {"small_cpu"} and found.runs["macs_torch"].notna().any()


def ended(*words) -> int:
    with pytest.raises(SystemExit) as end:
        compare.main([str(word) for word in words])
    return end.value.code


def test_a_set_beside_itself_has_not_moved(tmp_path, capsys):
    made = folder(tmp_path)
    assert ended(made / "results", bundled(made)) == 0
    said = capsys.readouterr().out
    assert "origin: the same" in said and "0 of" in said


def test_what_moved_is_named_and_ends_with_3(tmp_path, capsys):
    worse = folder(
        tmp_path / "b", lambda row: row | {"dev_bpc": row["dev_bpc"] + (row["variant"] == "adaptive")}, "gpu"
    )
    assert ended(folder(tmp_path / "a") / "results", worse / "results", "--page", tmp_path / "c.html") == 3
    said = capsys.readouterr().out
    assert "| gpu" in said and "moved: span_limit: adaptive on text8, S = 64, dev bpc: 1.820 | 2.820 (+54.9 %)" in said
    assert "fixed on text8" not in said and "1 of" in said
    page = (tmp_path / "c.html").read_text()
    assert page.index("span_limit: adaptive") < page.index("span_limit: fixed") and "moved</span>" in page


def test_a_cell_of_two_questions_is_one_number():
    rows = frame(
        [
            run(ablation, seed=seed) | {"configuration": "one"}
            for ablation in ("span_limit", "models")
            for seed in (1, 2)
        ]
    )
    assert {one["key"][0] for one in cells(rows, rows)[0]} == {"span_limit"}


def test_a_variant_that_breaks_has_moved():
    a = frame([run(seed=seed) for seed in (1, 2)])
    lines = cells(a, frame([failed(seed=seed) for seed in (1, 2)]))[0]
    assert [(one["measure"], one["moved"], one["b"]) for one in lines] == [("runs that ended well", True, 0)]


def test_what_is_counted_has_no_noise_even_once():
    a, b = (frame([run(macs_executed=count)]) for count in (5.0, 10.0))
    assert {one["measure"]: one["moved"] for one in cells(a, b)[0]}["executed"] is True


def test_seeds_that_scatter_have_not_moved():
    a = frame([run(seed=seed, dev_bpc=value) for seed, value in enumerate((2.0, 2.3, 2.1))])
    b = frame([run(seed=seed, dev_bpc=value) for seed, value in enumerate((2.2, 2.1, 2.4))])
    found = {one["measure"]: one for one in cells(a, b)[0]}
    assert found["dev bpc"]["p"] > 0.05 and found["dev bpc"]["moved"] is False


def test_one_seed_tells_no_noise_but_equal_is_equal():
    a, b = (frame([run(dev_bpc=value, macs_executed=5.0)]) for value in (2.0, 2.5))
    found = {one["measure"]: one["moved"] for one in cells(a, b)[0]}
    assert found["dev bpc"] is None and found["executed"] is False


def test_what_only_one_has_is_told_and_scales_meet_by_rank():
    a = frame([run(S=S) for S in (16, 64)] + [run(variant="adaptive")])
    b = frame([run(S=S, scale="small") for S in (256, 1024)])
    lines, only_a, only_b = cells(a, b)
    assert {one["key"][3] for one in lines} == {1.0, 2.0}  # the largest S beside the largest
    assert [key[2] for key in only_a] == ["adaptive"] and not only_b


def test_origins_differ_by_name(tmp_path):
    made = folder(tmp_path)
    record = read_record(next((made / "results" / "runs").glob("*/record.json")))
    other = record.model_copy(update={"origin": record.origin.model_copy(update={"threads": 64})})
    assert origins([record], [other]) == {"threads": ([str(record.origin.threads)], ["64"])}


def test_bundles_of_two_machines_merge_with_a_column_for_the_hardware(tmp_path, capsys):
    one, other = (bundled(folder(tmp_path / name, device=name)) for name in ("slow", "fast"))
    merge.main([str(tmp_path / "m.csv"), str(one), str(other), "--page", str(tmp_path / "m.html")])
    assert "4 lines, 2 kinds of hardware" in capsys.readouterr().out
    lines = (tmp_path / "m.csv").read_text().splitlines()
    assert "hardware" in lines[0] and sum(",slow," in line for line in lines) == 2
    page = (tmp_path / "m.html").read_text()
    assert page.count('<td class="text">slow</td>') == page.count('<td class="text">fast</td>') == 2
