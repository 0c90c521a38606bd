"""What a figure's file says of itself, and the command that reads it."""

import json

import pandas as pd
import pytest

from tests._runs import everything
from workflow.cli import trace
from workflow.config.errors import ConfigError
from workflow.results import provenance as traces
from workflow.scripts import figure, table


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("traced")
    (folder / "runs.json").write_text(everything().to_json(orient="records"))
    figure.main(["adaptive_span_figure4", str(folder / "runs.json"), str(folder / "f")])
    table.main(["adaptive_span_table3", str(folder / "runs.json"), str(folder / "t")])
    return folder


@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
def test_a_figure_carries_its_runs_their_commit_and_its_numbers(ending, made):
    found = traces.read(made / f"f.{ending}")
    assert found.runs == ["span_limit-adaptive-64-None-1", "span_limit-adaptive-64-None-2"]
    assert found.commits == ["0123abc"] and found.origin.startswith("scale test; a device; 2 seeds")
    assert found.data == (made / "f.csv").read_text()


def test_a_table_tells_the_runs_of_its_cells(made):
    found = traces.read(made / "t.json")
    content = json.loads((made / "t.json").read_text())
    assert set(found.runs) == {digest for cell in content["cells"] for digest in cell["digests"]}
    assert found.commits == ["0123abc"]


def test_the_command_prints_them(made, capsys):
    trace.main([str(made / "f.pdf")])
    said = capsys.readouterr().out
    assert "commit: 0123abc" in said and "runs: 2\n" in said
    assert "results/runs/span_limit-adaptive-64-None-1/record.json" in said
    trace.main([str(made / "f.svg"), "--data"])
    assert capsys.readouterr().out == (made / "f.csv").read_text()


@pytest.mark.parametrize(
    "name, content, said",
    [
        ("a.txt", "x", "expected a figure or table of this suite"),
        ("a.svg", "<svg", "cannot be read"),
        ("a.svg", "<svg/>", "says nothing of the runs behind it"),
        ("a.pdf", "%PDF-1.4", "cannot be read"),
        ("a.png", "x", "cannot be read"),
        ("a.json", "{}", "says nothing of the runs behind it"),
        ("none.svg", None, "no such file"),
        ("a.svg", '<?xml version="1.0" encoding="klingon"?><svg/>', "cannot be read"),
        ("a.json", '{"cells": 3}', "cannot be read"),
        ("a.json", '{"cells": [{"digests": [5]}], "provenance": "p"}', "runs.0 = 5"),
    ],
)
def test_other_files_are_refused(name, content, said, tmp_path):
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(ConfigError, match=said) as error:
        traces.read(tmp_path / name)
    assert "\n" not in str(error.value)


def test_a_figure_of_no_run_says_so(tmp_path):
    told = json.loads(traces.told(pd.DataFrame(), "computed", pd.DataFrame({"n": [1]}), []))
    assert (told["runs"], told["commits"], told["data"]) == ([], [], "n\n1\n")
