"""What the file of a figure or table carries, and the command that reads it."""

import json

import pytest

from tests import _site
from tests._runs import run, write_inputs
from workflow.cli import trace as trace_command
from workflow.config.errors import ConfigError
from workflow.report.figure_files import write_figure
from workflow.results import provenance
from workflow.results.record import read_record, write_record
from workflow.results.runs_table import read_frames

RUNS = ["head_spans-adaptive-64-None-1", "head_spans-adaptive-64-None-2"]


@pytest.fixture(scope="module")
def artefacts(tmp_path_factory):
    """Write a figure f."""
    folder = tmp_path_factory.mktemp("artefacts")
    frames = read_frames(write_inputs(folder / "inputs"))
    write_figure(folder / "f.svg", "adaptive_span_figure4", frames)
    return folder


@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
def test_a_figure_carries_its_runs_their_commit_and_its_numbers(ending, artefacts):
    trace = provenance.read(artefacts / f"f.{ending}")
    assert trace.runs == RUNS
    assert trace.commits == ["0123abc"]
    assert trace.data == (artefacts / "f.csv").read_text()


def test_the_command_prints_runs_and_data(artefacts, capsys):
    trace_command.main([str(artefacts / "f.pdf")])
    printed = capsys.readouterr().out
    assert "commit: 0123abc" in printed
    assert f"results/runs/{RUNS[0]}/record.json" in printed
    trace_command.main([str(artefacts / "f.svg"), "--data"])
    assert capsys.readouterr().out == (artefacts / "f.csv").read_text()


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("a.txt", "x", "figure or table"),
        ("a.svg", "<svg/>", "no provenance"),
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


def test_a_verdict_is_followed_to_the_records_it_rests_on(tmp_path, monkeypatch, capsys):
    """Of four records one is as signed, one replaced, one edited, one missing."""
    monkeypatch.chdir(tmp_path)
    record = _site.record(run())
    paths = [tmp_path / f"results/runs/{n}/record.json" for n in range(3)]
    signed = {"3": "cafe"}
    for n, path in enumerate(paths):
        write_record(path, record.model_copy(update={"digest": str(n)}))
        signed[str(n)] = read_record(path).signature
    line = {"name": "a_claim", "verdict": "reproduced", "digests": ["0", "1", "2", "3"]}
    ledger = {"provenance": ["scale test"], "claims": [line | {"signed": signed}]}
    (tmp_path / "ledger.json").write_text(json.dumps(ledger))
    write_record(paths[1], record.model_copy(update={"digest": "1", "log": []}))
    paths[2].write_text(paths[2].read_text().replace('"seconds": 3', '"seconds": 4'))
    trace_command.main(["ledger.json"])
    *_, good, replaced, edited, missing = capsys.readouterr().out.splitlines()
    assert good.endswith(f"runs/0/record.json, signed {signed['0']}")
    assert replaced.endswith("runs/1/record.json, not the record that was used")
    assert edited.endswith("runs/2/record.json, refused: edited after the run")
    assert missing.endswith("runs/3/record.json, missing")
    trace_command.main(["ledger.json", "--data"])
    assert f"a_claim,reproduced,0,{signed['0']}" in capsys.readouterr().out
