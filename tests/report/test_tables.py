"""Tables on a handful of rows, worked out by hand, and the files that their script writes."""

import json

import pandas as pd
import pytest

from studies.adaptive_span.tables import (
    adaptive_span_costs,
    adaptive_span_shares,
    adaptive_span_table1,
)
from tests._layers import layers
from tests._runs import all_frames, everything, failed, run, unscored, write_inputs
from tests.report._cells import at
from workflow.config.studies import study_files
from workflow.report.builders import builder_inputs, load_builder
from workflow.report.comparison import join
from workflow.report.layout import list_columns
from workflow.report.table_files import (
    as_latex,
    as_lines,
    compared_cells,
    read_table,
    write_table,
)
from workflow.report.tables.cells import COLUMNS
from workflow.results.runs_table import Frames, as_frame, read_frames

NONE = Frames(everything().head(0), layers().head(0))
FRAMES = {
    "good": all_frames(run),
    "failed": all_frames(failed),
    "unscored": all_frames(unscored),
    "none": NONE,
}


def searched(**changes) -> pd.DataFrame:
    return adaptive_span_costs.build(as_frame([run(variant="fixed", **changes)]))


def test_the_longest_span_says_what_ended_the_search():
    cells = searched(longest_S=4096.0, longest_S_ended="the end", memory_budget_bytes=1 << 30)
    assert at(cells, "fixed, any S", "longest S that fits")["value"] == 4096
    assert at(cells, "fixed, any S", "search ended by")["value"] == "the end"
    assert at(cells, "adaptive, any S", "longest S that fits")["status"] == "not run"
    never = at(
        searched(longest_S=None, longest_S_ended="oom"), "fixed, any S", "longest S that fits"
    )
    assert never["status"] == "failed"
    assert never["note"].endswith("oom")


@pytest.mark.parametrize("reserved, shown", [(5.0, True), (None, False)])
def test_reserved_memory_has_a_column_where_something_was_reserved(reserved, shown):
    columns = set(searched(memory_reserved_bytes=reserved)["column"])
    assert ("training memory, reserved" in columns) == shown


@pytest.mark.parametrize("name", study_files("tables"))
@pytest.mark.parametrize("frames", FRAMES.values(), ids=FRAMES)
def test_every_table_is_built_from_good_failed_and_missing_runs(name, frames):
    cells = load_builder("tables", name).build(*builder_inputs("tables", name, frames))
    assert list(cells.columns) == COLUMNS
    assert len(cells) or frames is NONE
    assert not cells.duplicated(["row", "column"]).any()
    joined = join(cells)
    assert (joined["published_value"].notna() == joined["published"].notna()).all()
    assert frames is not NONE or not (cells["status"] == "failed").any()


def test_table_1_has_ours_the_papers_and_what_a_formula_gives():
    joined = join(adaptive_span_table1.build(everything().assign(layers=3)))
    dev = at(joined, "Adaptive span, small", "dev")
    assert dev["value"] == pytest.approx(2.15)
    assert dev["published_value"] == 1.05
    flops = at(joined, "Adaptive span, small", "#FLOPS, paper size")
    assert (flops["value"], flops["published_value"]) == (41_607_168, 42e6)
    cited = at(joined, "T12 (Al-Rfou)", "test")
    assert cited["kind"] == "cited"
    assert pd.isna(cited["value"])
    assert cited["published_value"] == 1.18


def test_what_follows_from_a_formula_is_not_called_published():
    joined = join(adaptive_span_shares.build()).assign(texts=[[]] * 29)
    apart = {column.title: column.apart for column in list_columns(compared_cells(joined))}
    assert apart["#FLOPS"]
    assert not apart["feed-forward"]
    assert as_lines(joined, "o")["published as"].iloc[0] == "inferred"


def test_a_table_is_three_files_that_say_where_they_come_from(tmp_path):
    frames = read_frames(write_inputs(tmp_path / "inputs"))
    write_table(tmp_path / "t.json", "adaptive_span_table3", frames)
    table = read_table(tmp_path / "t.json")
    written = json.loads((tmp_path / "t.json").read_text())
    assert json.loads(table.as_json()) == written
    lines = pd.read_csv(tmp_path / "t.csv").set_index(["row", "column"])
    span = lines.loc[("Dynamic span", "avg. span")]
    assert (span["measured"], span["n"]) == (40, 2)
    assert (span["published"], span["published id"]) == (149, "as.t3.dynamic.span")
    assert pd.isna(span["difference %"])  # a span on another corpus
    assert span["measured at"] == table.provenance
    dev = lines.loc[("Dynamic span", "dev")]
    assert dev["points"] == "2.1 2.2"
    assert dev["text"] == "Python sources in 27 letters, not text8"
    assert r"\#params" in (tmp_path / "t.tex").read_text()


def test_latex_is_escaped_and_names_what_is_cited_failed_and_published():
    runs = everything()
    runs.loc[runs["variant"] == "as_large", ["status", "reason"]] = ["oom", "no memory"]
    cells = join(adaptive_span_table1.build(runs))
    text = as_latex(cells, "100 % of a_b & c", "file:my_text")
    assert r"\caption{100 \% of a\_b \& c. file:my\_text." in text
    rows = {line.partition(" & ")[0]: line for line in text.splitlines()}
    assert "1.18" in rows["T12 (Al-Rfou)"]
    assert "failed" in rows["Adaptive span, large"]
    assert "2.100, 2.200 & 1.05" in rows["Adaptive span, small"]
