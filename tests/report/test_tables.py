"""Tables on a handful of rows, worked out by hand, and the files that their script writes."""

import json

import pandas as pd
import pytest

from studies.adaptive_span.tables import (
    adaptive_span_costs,
    adaptive_span_table1,
)
from tests._runs import everything, run, write_inputs
from tests.report._cells import at
from workflow.report.comparison import join
from workflow.report.table_files import read_table, write_table
from workflow.results.runs_table import as_frame, read_frames


def searched(**changes) -> pd.DataFrame:
    return adaptive_span_costs.build(as_frame([run(variant="fixed", **changes)]))


def test_the_longest_span_says_what_ended_the_search():
    cells = searched(longest_S=4096.0, longest_S_ended="the end", memory_budget_bytes=1 << 30)
    assert at(cells, "fixed, any S", "longest S that fits")["value"] == 4096
    assert at(cells, "fixed, any S", "search ended by")["value"] == "the end"
    cells = searched(longest_S=None, longest_S_ended="oom")
    never = at(cells, "fixed, any S", "longest S that fits")
    assert never["status"] == "failed"
    assert never["note"].endswith("oom")


def test_table_1_has_ours_the_papers_and_what_a_formula_gives():
    joined = join(adaptive_span_table1.build(everything().assign(layers=3)))
    dev = at(joined, "Adaptive span, small", "dev")
    assert dev["value"] == pytest.approx(2.15)
    assert dev["published_value"] == 1.05
    flops = at(joined, "Adaptive span, small", "#FLOPS, paper size")
    assert (flops["value"], flops["published_value"]) == (41_607_168, 42e6)
    cited = at(joined, "T12 (Al-Rfou)", "test")
    assert (cited["kind"], cited["published_value"]) == ("cited", 1.18)
    assert pd.isna(cited["value"])


def test_a_table_is_three_files_that_say_where_they_come_from(tmp_path):
    frames = read_frames(write_inputs(tmp_path / "inputs"))
    write_table(tmp_path / "t.json", "adaptive_span_table3", frames)
    table = read_table(tmp_path / "t.json")
    assert json.loads(table.as_json()) == json.loads((tmp_path / "t.json").read_text())
    lines = pd.read_csv(tmp_path / "t.csv").set_index(["row", "column"])
    span = lines.loc[("Dynamic span", "avg. span")]
    assert (span["measured"], span["n"]) == (40, 2)
    assert (span["published"], span["published id"]) == (149, "as.t3.dynamic.span")
    # a span on another corpus
    assert pd.isna(span["difference %"])
    assert span["measured at"] == table.provenance
    assert lines.loc[("Dynamic span", "dev"), "points"] == "2.1 2.2"
    assert r"\#params" in (tmp_path / "t.tex").read_text()
