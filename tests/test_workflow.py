"""The whole line, from config to pages, at scale smoke, in a folder of its own."""

import json
import os
import re
import shlex
import sys
from pathlib import Path

import pytest

from tests import _site
from tests._copied import ROOT, copied, ended
from tests._runs import failed, run
from workflow.compare import bundles
from workflow.compare.result_set import read
from workflow.report.claims.schema import known_claims
from workflow.results.record import write_record, write_text
from workflow.scripts.summary import broken

COMMANDS = re.findall(r"^    python -m (workflow\.scripts\.\w+[^#\n]*)", (ROOT / "README.md").read_text(), re.MULTILINE)


def snakemake(folder, *words):
    config = ("--config", "scale=smoke", "tasks=[char_lm,translation,captioning,parsing]")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return ended(folder, "snakemake", *config, *words, env={**os.environ, "PATH": path})


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A copy of the project in which everything has been made."""
    folder = copied(tmp_path_factory.mktemp("smoke"), "benchmarks")
    made = snakemake(folder)
    assert made.returncode == 0, made.stdout[-3000:] + made.stderr[-3000:]
    return folder, made.stdout + made.stderr


def test_it_ends_with_the_failed_cells_and_the_path_of_the_report(done):
    folder, said = done
    assert "no failed cells" in said
    assert f"report: {folder / 'reports' / 'index.html'}" in said


def test_every_run_ended_well_and_every_cell_was_measured(done):
    rows = json.loads((done[0] / "results" / "runs.json").read_text())
    assert {row["status"] for row in rows} == {"ok"}
    for kind in ("flops", "memory", "throughput"):
        assert {row[f"{kind}_status"] for row in rows} == {"ok"}, kind


def test_every_artefact_of_the_issue_stands(done):
    kept = {path.name for path in (done[0] / "results").glob("*/*")}
    tables = [f"adaptive_span_{name}" for name in ("table1", "table2", "table3", "costs", "shares")]
    tables += ["explicit_sparse_table3", "span_by_k_grid", "quality_against_cost"]
    tables += [f"explicit_sparse_table{n}" for n in (1, 5)] + ["aiayn_table1", "aiayn_table2"]
    figures = [f"adaptive_span_figure{name}" for name in ("1", "2", "3_left", "3_center", "3_right", "4", "5")]
    figures += ["top_k_adaptive_span_curves", "span_by_k_grid", "quality_against_cost"]
    figures += [f"explicit_sparse_figure{n}" for n in (1, 4)] + ["aiayn_attention", "aiayn_table1_times"]
    tables += ["explicit_sparse_table2", "aiayn_table4"]
    figures += ["explicit_sparse_captions"]
    assert {f"{name}.{ending}" for name in tables for ending in ("csv", "tex", "json")} <= kept
    assert {f"{name}.{ending}" for name in figures for ending in ("svg", "pdf", "png", "csv")} <= kept


def test_the_ledger_stands_and_says_what_cannot_be_told(done):
    told = json.loads((done[0] / "results" / "claims.json").read_text())["claims"]
    assert {one["name"] for one in told} == set(known_claims())
    verdicts = {one["name"]: one["verdict"] for one in told}
    assert verdicts["feed_forward_share"] == "reproduced" and verdicts["base_model_on_wmt14"] == "cannot tell"


def test_all_of_it_is_bundled_and_read_back(done):
    made = snakemake(done[0], "--", "bundle")
    assert made.returncode == 0, made.stdout[-3000:] + made.stderr[-3000:]
    found = read(done[0] / "results" / "bundle.zip")
    assert len(found.runs) == len(json.loads((done[0] / "results" / "runs.json").read_text()))


def test_asked_again_there_is_nothing_to_do(done):
    again = snakemake(done[0], "-n")
    assert "Nothing to be done" in again.stdout + again.stderr


@pytest.mark.parametrize("target", ["adaptive_span", "adaptive_span_table1", "span_by_k_grid", "top_k"])
def test_named_targets(target, done):
    assert "Nothing to be done" in (said := snakemake(done[0], "-n", "--", target)).stdout + said.stderr


def test_a_paper_brings_every_page_that_its_own_lead_to(done, tmp_path):
    reports = (done[0] / "reports").rename(tmp_path / "reports")
    said = snakemake(done[0], "-n", "--", "adaptive_span")
    reports.rename(done[0] / "reports")
    asked = set(re.findall(r"reports/[\w/]+\.html", said.stdout + said.stderr))
    assert asked == {f"reports/{path.relative_to(done[0] / 'reports')}" for path in done[0].glob("reports/**/*.html")}


def test_the_summary_misses_no_run_that_left_nothing(tmp_path):
    rows = {
        name: run(variant=name) | {"digest": name, "configuration": f"cell of {name}"}
        for name in ("well", "gone", "torn")
    }
    rows["broke"] = failed() | {"digest": "broke"}
    for name in ("well", "broke"):
        write_record(tmp_path / "runs" / name / "record.json", _site.record(rows[name]))
    write_text(tmp_path / "runs" / "torn" / "record.json", "{")
    assert "nothing was run" in broken(tmp_path)[0]
    write_text(tmp_path / "plan.json", json.dumps(list(rows.values())))
    flops = [
        {"configuration": f"cell of {name}", "status": "error", "reason": "off"} for name in ("well", "of another plan")
    ]
    write_text(tmp_path / "measures" / "flops.json", json.dumps(flops))
    said = broken(tmp_path)
    assert said[0] == "span_limit: fixed (broke): diverged: mean loss nan"
    assert said[1] == "span_limit: gone (gone): not run: see logs/train/gone.log"
    assert said[2].startswith("span_limit: torn (torn): unreadable: ")
    assert said[3:] == ["span_limit: well (well): flops: error: off"]


def test_one_changed_figure_is_drawn_anew_and_nothing_is_trained(done):
    with open(done[0] / "workflow" / "figures" / "adaptive_span_figure2.py", "a") as file:
        file.write("# changed\n")
    said = snakemake(done[0], "-n")
    asked = said.stdout + said.stderr
    assert "adaptive_span_figure2" in asked and "rule train" not in asked


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_readme_works_as_it_stands_there(command, done):
    folder = done[0]
    for name in ("mine", "theirs", "other"):
        bundles.write(folder / f"{name}.zip", folder / "results", folder / "reports", commits=[])
    said = ended(folder, *shlex.split(command))
    assert said.returncode == 0 and said.stdout, said.stderr
