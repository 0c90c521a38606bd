"""What a figure's file carries, and the command that reads it."""

import json

import pandas as pd
import pytest

from tests import _site
from tests._runs import run, write_inputs
from workflow.cli import trace as trace_command
from workflow.config.errors import ConfigError
from workflow.report.figure_files import write_figure
from workflow.report.table_files import write_table
from workflow.results import provenance
from workflow.results.record import read_record, write_record
from workflow.results.runs_table import read_frames


@pytest.fixture(scope="module")
def artefacts(tmp_path_factory):
    """Write a figure f and a table t."""
    folder = tmp_path_factory.mktemp("artefacts")
    frames = read_frames(write_inputs(folder / "inputs"))
    write_figure(folder / "f.svg", "adaptive_span_figure4", frames)
    write_table(folder / "t.json", "adaptive_span_table3", frames)
    return folder


@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
def test_a_figure_carries_its_runs_their_commit_and_its_numbers(ending, artefacts):
    trace = provenance.read(artefacts / f"f.{ending}")
    assert trace.runs == ["head_spans-adaptive-64-None-1", "head_spans-adaptive-64-None-2"]
    assert trace.commits == ["0123abc"] and trace.origin.startswith("scale test; a device; 2 seeds")
    assert trace.data == (artefacts / "f.csv").read_text()


def test_a_table_tells_the_runs_of_its_cells(artefacts):
    trace = provenance.read(artefacts / "t.json")
    content = json.loads((artefacts / "t.json").read_text())
    assert set(trace.runs) == {digest for cell in content["cells"] for digest in cell["digests"]}
    assert trace.commits == ["0123abc"]


def test_the_command_prints_them(artefacts, capsys):
    trace_command.main([str(artefacts / "f.pdf")])
    printed = capsys.readouterr().out
    assert "commit: 0123abc" in printed and "runs behind it: 2\n" in printed
    assert "results/runs/head_spans-adaptive-64-None-1/record.json" in printed
    trace_command.main([str(artefacts / "f.svg"), "--data"])
    assert capsys.readouterr().out == (artefacts / "f.csv").read_text()


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("a.txt", "x", "expected a figure or table of this suite"),
        ("a.svg", "<svg/>", "has no provenance"),
        ("a.pdf", "%PDF-1.4", "cannot be read"),
        ("a.png", "x", "cannot be read"),
        ("none.svg", None, "no such file"),
        ("a.json", '{"cells": [{"digests": [5]}], "provenance": "p"}', "runs.0 = 5"),
    ],
)
def test_other_files_are_refused(name, content, message, tmp_path):
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(ConfigError, match=message):
        provenance.read(tmp_path / name)


def test_a_figure_of_no_run_says_so(tmp_path):
    trace = json.loads(
        provenance.trace_of(pd.DataFrame(), "computed", [], pd.DataFrame({"n": [1]}), [])
    )
    assert (trace["runs"], trace["commits"], trace["data"]) == ([], [], "n\n1\n")


def test_a_verdict_is_followed_to_the_records_it_rests_on(tmp_path, monkeypatch, capsys):
    """Each as it was signed, another's in its place, edited, or not here."""
    monkeypatch.chdir(tmp_path)
    record = _site.record(run())
    paths = [tmp_path / f"results/runs/{n}/record.json" for n in range(3)]
    for n, path in enumerate(paths):
        write_record(path, record.model_copy(update={"digest": str(n)}))
    _, replaced, edited = paths
    signed = {
        n: read_record(tmp_path / f"results/runs/{n}/record.json").signature for n in "012"
    } | {"3": "cafe"}
    line = {
        "name": "a_claim",
        "verdict": "reproduced",
        "digests": ["0", "1", "2", "3"],
        "signed": signed,
    }
    (tmp_path / "ledger.json").write_text(
        json.dumps({"provenance": ["scale test"], "claims": [line]})
    )
    write_record(replaced, record.model_copy(update={"digest": "1", "log": []}))
    edited.write_text(edited.read_text().replace('"seconds": 3', '"seconds": 4'))
    trace_command.main(["ledger.json"])
    _, commit, _, *lines = capsys.readouterr().out.splitlines()
    told = [printed.partition("results/runs/")[2] for printed in lines]
    assert commit == "commit: see the record of each run"
    ends = [f", signed {signed['0']}", ", not the record that was used"]
    ends += [", refused: edited after the run", ", missing"]
    assert told == [f"{n}/record.json{end}" for n, end in enumerate(ends)]
    trace_command.main(["ledger.json", "--data"])
    assert f"a_claim,reproduced,0,{signed['0']}" in capsys.readouterr().out
