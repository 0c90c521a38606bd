"""Bundles: written, read back, compared; and what is refused on the way."""

import json
import sys
import zipfile

import pytest

from tests import _site
from tests._costs import split_costs
from tests._layers import layer
from tests._runs import as_frame, failed, run
from workflow.cli import compare
from workflow.cli.compare import compare_cells, compare_origins
from workflow.config.errors import ConfigError
from workflow.report.bundle import read_bundle
from workflow.results.record import read_record, write_record, write_text
from workflow.results.rows import write_rows
from workflow.scripts import bundle

RUN = "span_limit-fixed-64-None-1"


def write_set(path, adaptive=1.8, device="cpu"):
    """Write the results of a scale of two variants, three seeds each, with pages of a word; return
    `path`.
    """
    scores = {"fixed": 2.0, "adaptive": adaptive}.items()
    rows = [
        run(variant=name, seed=n, dev_bpc=bpc + n / 100) for name, bpc in scores for n in (1, 2, 3)
    ]
    for row in rows:
        record = _site.record(row)
        made = record.model_copy(
            update={"origin": record.origin.model_copy(update={"device": device})}
        )
        write_record(path / "results" / "runs" / row["digest"] / "record.json", made)
    scale = scale_of(path)
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


def table(*rows):
    return as_frame(*split_costs(rows))


def test_a_bundle_holds_records_pages_and_their_checksums_and_is_the_same_twice(tmp_path):
    path = bundled(write_set(tmp_path))
    first = path.read_bytes()
    content = contents(path)
    assert {
        f"reports/{_site.SCALE}/index.html",
        f"results/runs/{RUN}/record.json",
    } <= content.keys()
    # it names no other scale
    assert f'href="{_site.SCALE}/index.html"' in content["reports/index.html"].decode()
    listed = {name for name in content if name.startswith(("results/", "reports/"))}
    assert json.loads(content["manifest.json"])["files"].keys() == listed
    assert {
        "manifest.json",
        "ro-crate-metadata.json",
        "workflow/Snakefile",
    } <= content.keys() - listed
    assert bundled(tmp_path).read_bytes() == first


def test_a_bundle_is_read_back_as_the_folder_it_was_made_from(tmp_path):
    write_text(
        scale_of(write_set(tmp_path)) / "layers.json",
        write_rows("layers", [layer("self", 64, 1.0)]),
    )
    here, there = read_bundle(scale_of(tmp_path)), read_bundle(bundled(tmp_path))
    assert here.records == there.records
    assert here.runs.to_json() == there.runs.to_json()
    assert here.frames.layers.equals(there.frames.layers) and len(here.frames.layers) == 1


def test_what_systems_and_editors_leave_stays_at_home_and_every_recipient_reads_the_bundle(
    tmp_path,
):
    path = bundled(write_set(tmp_path))
    before = path.read_bytes()
    results, reports = scale_of(tmp_path), tmp_path / "reports" / _site.SCALE
    for place in (
        "tables/.DS_Store",
        "figures/.nfs0001",
        "tables/x.csv~",
        "._plan.json",
        "tables/#x.csv#",
        "figures/x",
    ):
        write_text(results / place, "left behind")
    pages = (
        "index.html~",
        "it's.html",
        "Thumbs.db",
        "index.html.swp",
        "files/.x.html.1.part",
        "e\n.html",
    )
    for place in (".DS_Store", *pages):
        write_text(reports / place, "left behind")
    (reports / "._index.html").write_bytes(b"\0\x05\x16\x07\xff")  # of a Mac
    assert bundled(tmp_path).read_bytes() == before
    assert len(read_bundle(path).records) == 6


def test_results_that_lie_elsewhere_and_are_linked_are_in_the_bundle_as_files(tmp_path):
    """Two clones may share results/runs by a link; a record may be a link too."""
    home = write_set(tmp_path / "a")
    before = contents(bundled(home))
    (home / "results" / "runs").rename(tmp_path / "shared")
    (home / "results" / "runs").symlink_to(tmp_path / "shared")
    record = tmp_path / "shared" / RUN / "record.json"
    (tmp_path / "kept.json").symlink_to(record.rename(tmp_path / "real.json"))
    record.symlink_to(tmp_path / "kept.json")
    (home / "reports" / _site.SCALE / "gone.html").symlink_to("nowhere.html")
    (home / "results" / _site.SCALE / "tables").symlink_to(home)  # of folders, and in a circle
    assert contents(bundled(home)) == before and len(read_bundle(home / "b.zip").records) == 6
    with zipfile.ZipFile(home / "b.zip") as archive:
        assert not any(entry.external_attr >> 28 for entry in archive.infolist())  # none is a link


def rewrite(path, change):
    """Change the contents of a bundle by hand."""
    change(content := contents(path))
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in content.items():
            archive.writestr(name, text)


def rewrite_manifest(content, **changes):
    content["manifest.json"] = json.dumps(json.loads(content["manifest.json"]) | changes)


@pytest.mark.parametrize(
    "change, message",
    [
        (
            lambda content: content.update({"reports/index.html": b"another"}),
            "does not match its checksum in the manifest",
        ),
        (lambda content: content.pop("reports/index.html"), "not a bundle that can be read"),
        (
            lambda content: content.pop("manifest.json"),
            "not a bundle of this suite; it has no manifest.json",
        ),
        (lambda content: rewrite_manifest(content, version=1), "bundle version 1; valid: 2 and 3"),
        (
            lambda content: rewrite_manifest(content, commit="a"),
            "unknown key 'commit': did you mean 'commits'",
        ),
        (
            lambda content: rewrite_manifest(content, files={"reports/../x.html": "0"}),
            "'reports/../x.html' is out",
        ),
    ],
)
def test_a_damaged_bundle_is_refused(change, message, tmp_path):
    path = bundled(write_set(tmp_path))
    rewrite(path, change)
    with pytest.raises(ConfigError, match=message) as error:
        read_bundle(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "place, content, message",
    [
        ("plan.json", "null", "expected a list of runs"),
        ("plan.json", '[{"digest": "../x"}]', "run 0"),
        ("memory/x.json", "[1]", "expected rows of one kind"),
        (
            "layers.json",
            '{"kind": "layers", "rows": [{"layer": "self"}]}',
            "not layers as the workflow writes",
        ),
        (f"../runs/{RUN}/record.json", None, "span_limit-fixed-64-None-2"),
    ],
)
def test_a_folder_of_something_else_is_refused_in_a_line(place, content, message, tmp_path):
    scale = scale_of(write_set(tmp_path))
    other = scale / "../runs/span_limit-fixed-64-None-2/record.json"
    write_text(scale / place, other.read_text() if content is None else content)
    with pytest.raises(ConfigError, match=message):
        read_bundle(scale)


def test_bundles_of_several_scales_are_not_compared():
    with pytest.raises(ConfigError, match="different scales: laptop and small"):
        compare_cells(table(run(scale="laptop")), table(run(scale="small", seed=2)))


def test_a_bundle_of_nothing_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="run the workflow first"):
        bundled(tmp_path)
    assert not (tmp_path / "b.zip").exists()


def exit_code(*words) -> int:
    with pytest.raises(SystemExit) as end:
        compare.main([str(word) for word in words])
    return end.value.code


def test_a_set_beside_itself_has_not_moved(tmp_path, capsys):
    path = write_set(tmp_path)
    assert exit_code(scale_of(path), bundled(path)) == 0
    printed = capsys.readouterr().out
    assert "the provenance is the same" in printed and "0 of" in printed


def test_what_moved_is_named_and_ends_with_3(tmp_path, capsys):
    better, worse = write_set(tmp_path / "a"), write_set(tmp_path / "b", adaptive=2.8, device="gpu")
    assert exit_code(scale_of(better), scale_of(worse)) == 3
    printed = capsys.readouterr().out
    moved = (
        "differs: span_limit: adaptive on text8, S = 64, dev bpc: 1.820 in A, 2.820 in B (+54.9 %)"
    )
    assert "gpu in B" in printed and moved in printed
    assert "fixed on text8" not in printed and "1 of" in printed


def test_what_a_bundle_says_of_itself_cannot_steer_a_terminal_or_begin_a_line(tmp_path, capsys):
    forged = "gpu\x1b[2J\n0 of 9 numbers differ"
    exit_code(
        scale_of(write_set(tmp_path / "a")), scale_of(write_set(tmp_path / "b", device=forged))
    )
    printed = capsys.readouterr().out
    assert (
        r"gpu\x1b[2J\n0 of 9 numbers differ in B" in printed
        and printed.replace("\n", "").isprintable()
    )


def test_a_variant_that_breaks_has_moved():
    a, b = (table(*(make(seed=seed) for seed in (1, 2))) for make in (run, failed))
    moved = compare_cells(a, b).moved
    assert [(each.measure, each.b) for each in moved] == [("share of successful runs", 0)]


def by_measure(a, b) -> dict[str, compare.Difference]:
    return {each.measure: each for each in compare_cells(a, b).differences}


def test_seeds_that_scatter_have_not_moved_and_of_one_seed_only_a_count_can_be_told():
    scores = ((2.0, 2.3, 2.1), (2.2, 2.1, 2.4))
    a, b = (
        table(*(run(seed=seed, dev_bpc=value) for seed, value in enumerate(side)))
        for side in scores
    )
    test = by_measure(a, b)["dev bpc"].test
    assert test.p > 0.05 and test.moved is False
    a, b = (table(run(dev_bpc=value, macs_executed=5.0)) for value in (2.0, 2.5))
    lines = by_measure(a, b)
    assert lines["dev bpc"].test.moved is None
    assert lines["executed"].test.moved is False
    assert by_measure(a, table(run(macs_executed=10.0)))["executed"].test.moved is True


def test_cells_of_one_side_are_named():
    a, b = table(run(S=16), run(S=64), run(variant="adaptive")), table(run(S=16), run(S=256))
    found = compare_cells(a, b)
    assert {each.key.S for each in found.differences} == {16}
    assert [(key.variant, key.S) for key in found.only_a] == [("fixed", 64), ("adaptive", 64)]
    assert [key.S for key in found.only_b] == [256]


def test_origins_differ_by_name_and_sources_by_file(tmp_path):
    record = read_record(write_set(tmp_path) / "results" / "runs" / RUN / "record.json")
    origin = {
        "threads": 64,
        "sources": {**record.origin.sources, "models/a.py": "0" * 12},
        "accepted": ["a.py: why"],
    }
    other = record.model_copy(update={"origin": record.origin.model_copy(update=origin)})
    expected = {
        "threads": ([str(record.origin.threads)], ["64"]),
        "source models/a.py": (["none"], ["0" * 12]),
    }
    assert compare_origins([record], [other]) == expected | {
        "accepted change 1": (["none"], ["a.py: why"])
    }


def test_a_bundle_without_rocrate_has_no_crate_and_says_how_to_get_one(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setitem(sys.modules, "rocrate.rocrate", None)
    assert "ro-crate-metadata.json" not in contents(bundled(write_set(tmp_path)))
    assert ".[archive]" in capsys.readouterr().out
