"""Bundles: written, read back, compared; and what is refused on the way."""

import json
import zipfile

import pytest

from tests import _site
from tests._costs import split_costs
from tests._runs import as_frame, failed, run
from workflow.cli import compare
from workflow.cli.compare import compare_cells, compare_origins
from workflow.config.errors import ConfigError
from workflow.report.bundle import read_bundle
from workflow.results.record import read_record, write_record, write_text
from workflow.scripts import bundle

RUN = "span_limit-fixed-64-None-1"
OTHER_RUN = "span_limit-fixed-64-None-2"


def write_set(path, adaptive=1.8, device="cpu"):
    """Write results of two variants with three seeds each, and two pages; return `path`."""
    scale = scale_of(path)
    rows = []
    for name, bpc in {"fixed": 2.0, "adaptive": adaptive}.items():
        for seed in (1, 2, 3):
            rows.append(run(variant=name, seed=seed, dev_bpc=bpc + seed / 100))
    for row in rows:
        record = _site.record(row)
        origin = record.origin.model_copy(update={"device": device})
        made = record.model_copy(update={"origin": origin})
        write_record(path / "results" / "runs" / row["digest"] / "record.json", made)
    write_text(scale / "plan.json", json.dumps([_site.planned(row) for row in rows]))
    _site.write_rows_of(scale, rows)
    for page in ("index.html", f"{_site.SCALE}/index.html"):
        write_text(path / "reports" / page, "a report")
    return path


def scale_of(path):
    return path / "results" / _site.SCALE


def bundled(path):
    bundle.main([str(path / "b.zip"), "--scale", _site.SCALE, *_site.where(path)])
    return path / "b.zip"


def contents(path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewrite(path, change):
    """Change the contents of a bundle by hand."""
    content = contents(path)
    change(content)
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in content.items():
            archive.writestr(name, text)


def rewrite_manifest(content, **changes):
    manifest = json.loads(content["manifest.json"])
    content["manifest.json"] = json.dumps(manifest | changes)


def table(*rows):
    return as_frame(*split_costs(rows))


def test_a_bundle_holds_records_and_pages_with_checksums_and_reads_back_as_its_folder(tmp_path):
    path = bundled(write_set(tmp_path))
    first = path.read_bytes()
    content = contents(path)
    assert f"results/runs/{RUN}/record.json" in content
    assert f"reports/{_site.SCALE}/index.html" in content
    listed = {name for name in content if name.startswith(("results/", "reports/"))}
    assert json.loads(content["manifest.json"])["files"].keys() == listed
    assert {"ro-crate-metadata.json", "workflow/Snakefile"} <= content.keys()
    assert bundled(tmp_path).read_bytes() == first
    here = read_bundle(scale_of(tmp_path))
    there = read_bundle(path)
    assert here.records == there.records
    assert here.runs.to_json() == there.runs.to_json()


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda content: content.update({"reports/index.html": b"another"}), "checksum"),
        (lambda content: content.pop("reports/index.html"), "not a bundle"),
        (lambda content: content.pop("manifest.json"), "no manifest.json"),
        (lambda content: rewrite_manifest(content, version=1), "version 1; valid: 2 and 3"),
    ],
)
def test_a_damaged_bundle_is_refused(change, message, tmp_path):
    path = bundled(write_set(tmp_path))
    rewrite(path, change)
    with pytest.raises(ConfigError, match=message):
        read_bundle(path)


@pytest.mark.parametrize(
    "place, content, message",
    [
        ("plan.json", '[{"digest": "../x"}]', "run 0"),
        ("memory/x.json", "[1]", "x.json"),
        ("layers.json", '{"kind": "layers", "rows": [{"layer": "self"}]}', "layers"),
        (f"../runs/{RUN}/record.json", None, OTHER_RUN),
    ],
)
def test_a_folder_with_a_file_of_something_else_is_refused(place, content, message, tmp_path):
    scale = scale_of(write_set(tmp_path))
    other = scale / "../runs" / OTHER_RUN / "record.json"
    write_text(scale / place, content or other.read_text())
    with pytest.raises(ConfigError, match=message):
        read_bundle(scale)


def exit_code(*words) -> int:
    with pytest.raises(SystemExit) as end:
        compare.main([str(word) for word in words])
    return end.value.code


def test_results_compared_with_themselves_have_not_moved(tmp_path, capsys):
    path = write_set(tmp_path)
    assert exit_code(scale_of(path), bundled(path)) == 0
    assert "the provenance is the same" in capsys.readouterr().out


def test_what_moved_is_named_and_cannot_steer_a_terminal(tmp_path, capsys):
    better = write_set(tmp_path / "a")
    worse = write_set(tmp_path / "b", adaptive=2.8, device="gpu\x1b[2J\n0 of 9")
    assert exit_code(scale_of(better), scale_of(worse)) == 3
    printed = capsys.readouterr().out
    assert "adaptive on text8, S = 64, dev bpc: 1.820 in A, 2.820 in B (+54.9 %)" in printed
    assert "fixed on text8" not in printed
    assert r"gpu\x1b[2J\n0 of 9 in B" in printed


def test_a_variant_that_breaks_has_moved():
    ended = table(run(seed=1), run(seed=2))
    broken = table(failed(seed=1), failed(seed=2))
    (moved,) = compare_cells(ended, broken).moved
    assert (moved.measure, moved.b) == ("share of successful runs", 0)


def test_origins_differ_by_name_and_sources_by_file(tmp_path):
    record = read_record(write_set(tmp_path) / "results" / "runs" / RUN / "record.json")
    sources = record.origin.sources | {"models/a.py": "0" * 12}
    changes = {"threads": 64, "sources": sources, "accepted": ["a.py: why"]}
    origin = record.origin.model_copy(update=changes)
    other = record.model_copy(update={"origin": origin})
    assert compare_origins([record], [other]) == {
        "threads": ([str(record.origin.threads)], ["64"]),
        "source models/a.py": (["none"], ["0" * 12]),
        "accepted change 1": (["none"], ["a.py: why"]),
    }
