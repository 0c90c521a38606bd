"""Tables on a handful of rows, worked out by hand, and the files that their script writes."""

import json

import pandas as pd
import pytest

from studies.adaptive_span.tables import (
    adaptive_span_costs,
    adaptive_span_shares,
    adaptive_span_table1,
    adaptive_span_table3,
)
from studies.explicit_sparse.tables import explicit_sparse_table3
from tests._layers import layers
from tests._runs import all_frames, everything, failed, run, write_inputs
from tests.report._cells import at
from workflow.config.studies import study_files
from workflow.report.builders import builder_inputs, load_builder
from workflow.report.layout import list_columns
from workflow.report.published import join
from workflow.report.table_files import as_latex, as_lines, write_table
from workflow.report.tables.cells import COLUMNS
from workflow.results.runs_table import Frames, as_frame, read_frames


def test_the_longest_span_says_what_ended_the_search():
    ended = {"longest_S": 4096.0, "longest_S_ended": "the end of the search", "memory_budget_bytes": 1 << 30}
    cells = adaptive_span_costs.build(as_frame([run(variant="fixed", **ended)]))
    assert at(cells, "fixed, any S", "longest S that fits")["value"] == 4096
    assert at(cells, "fixed, any S", "search ended by")["value"] == "the end of the search"
    assert at(cells, "fixed, any S", "memory budget")["value"] == 1 << 30
    assert at(cells, "adaptive, any S", "longest S that fits")["status"] == "not run"


def test_a_span_that_never_fitted_is_failed():
    cells = adaptive_span_costs.build(as_frame([run(variant="fixed", longest_S=None, longest_S_ended="oom")]))
    cell = at(cells, "fixed, any S", "longest S that fits")
    assert cell["status"] == "failed" and cell["note"].endswith("oom")


def test_memory_reserved_is_a_column_where_something_was_reserved():
    assert "training memory, reserved" not in set(adaptive_span_costs.build(as_frame([run()]))["column"])
    cells = adaptive_span_costs.build(as_frame([run(memory_reserved_bytes=5.0)]))
    assert (
        at(cells, "fixed, S = 64, Python sources in 27 letters, not text8", "training memory, reserved")["value"] == 5
    )


def test_a_variant_that_was_not_run_is_shown_as_such():
    cells = adaptive_span_table3.build(everything())
    assert at(cells, "Dynamic span", "dev")["status"] == "ok"
    without = everything()
    cells = adaptive_span_table3.build(without[without["variant"] != "dynamic"])
    assert at(cells, "Dynamic span", "dev")["status"] == "not run"


@pytest.mark.parametrize("name", study_files("tables"))
@pytest.mark.parametrize("make", [run, failed])
def test_every_table_stands_on_good_and_on_failed_runs(name, make):
    cells = load_builder("tables", name).build(*builder_inputs("tables", name, all_frames(make)))
    assert list(cells.columns) == COLUMNS and len(cells)
    assert not cells.duplicated(["row", "column"]).any()
    joined = join(cells)
    assert (joined["published_value"].notna() == joined["published"].notna()).all()


@pytest.mark.parametrize("name", study_files("tables"))
def test_every_table_stands_without_runs(name):
    without = Frames(everything().head(0), layers().head(0))
    cells = load_builder("tables", name).build(*builder_inputs("tables", name, without))
    assert not (cells["status"] == "failed").any()


def test_table_1_puts_ours_the_papers_and_the_formula_side_by_side():
    joined = join(adaptive_span_table1.build(everything()))
    dev = at(joined, "Adaptive span, small", "dev")
    assert (dev["value"], dev["published_value"]) == (pytest.approx(2.15), 1.05)
    flops = at(joined, "Adaptive span, small", "#FLOPS, paper size")
    assert flops["value"] == 41_607_168 and flops["published_value"] == 42e6 and flops["kind"] == "analytic"
    cited = at(joined, "T12 (Al-Rfou)", "test")
    assert cited["kind"] == "cited" and pd.isna(cited["value"]) and cited["published_value"] == 1.18


def test_top_k_rows_by_k():
    cells = explicit_sparse_table3.build(everything())
    assert at(cells, "Adaptive span, top-k, k = 8", "dev")["n"] == 2


def test_what_follows_from_a_formula_is_not_called_published():
    joined = join(adaptive_span_shares.build())
    flops, share = at(joined, "S = 256", "#FLOPS"), at(joined, "S = 256", "feed-forward")
    assert (flops["published_source"], share["published_source"]) == ("inferred", "published")
    column = {column.title: column for column in list_columns(json.loads(joined.to_json(orient="records")))}
    assert column["#FLOPS"].apart and not column["feed-forward"].apart
    assert "40.89M & inferred 40.89M & 61.54 (62, -0.7" in as_latex(joined, "t", "o")
    assert as_lines(joined.assign(texts=[[]] * len(joined)), "o").iloc[0]["published as"] == "inferred"


def test_a_table_is_three_files_that_say_where_they_come_from(tmp_path):
    write_table(tmp_path / "t.json", "adaptive_span_table3", read_frames(write_inputs(tmp_path / "inputs")))
    content = json.loads((tmp_path / "t.json").read_text())
    assert (
        content["provenance"]
        == "scale test; a device; 2 seeds; 10 steps; text: Python sources in 27 letters, not text8"
    )
    tidy = pd.read_csv(tmp_path / "t.csv")
    dynamic = tidy[(tidy["row"] == "Dynamic span") & (tidy["column"] == "avg. span")].iloc[0]
    assert (dynamic["measured"], dynamic["published"], dynamic["published id"]) == (40, 149, "as.t3.dynamic.span")
    assert pd.isna(dynamic["difference %"])  # a span on another text
    assert dynamic["measured at"] == content["provenance"] and dynamic["n"] == 2
    dev = tidy[(tidy["row"] == "Dynamic span") & (tidy["column"] == "dev")].iloc[0]
    assert (dev["points"], dev["text"]) == ("2.1 2.2", "Python sources in 27 letters, not text8") and pd.isna(
        dev["low"]
    )
    (text,) = content["texts"]
    assert text["badge"] == dev["text"] and text["about"].startswith("the same sources") and "dev" in text["columns"]
    assert r"\toprule" in (tmp_path / "t.tex").read_text() and r"\#params" in (tmp_path / "t.tex").read_text()


def test_latex_is_escaped_and_names_what_is_cited_failed_and_published():
    runs = everything()
    runs.loc[runs["variant"] == "as_large", ["status", "reason"]] = ["oom", "no room"]
    text = as_latex(join(adaptive_span_table1.build(runs)), "100 % of a_b & c", "text: file:my_text")
    assert r"\caption{100 \% of a\_b \& c. text: file:my\_text." in text
    rows = {line.split(" & ")[0]: line for line in text.splitlines() if " & " in line}
    assert "dev, published & test & test, published" in text
    cells = {name: [cell.strip() for cell in line.split(" & ")] for name, line in rows.items()}
    assert "1.18" in cells["T12 (Al-Rfou)"] and "failed" in cells["Adaptive span, large"]
    small = cells["Adaptive span, small"]
    assert small[small.index("2.100, 2.200") + 1] == "1.05" and "%" not in "".join(small[:8])
    assert r"41.61M (42M, -0.9 \%)" in rows["Adaptive span, small"]
    assert list(rows)[-1].startswith("T64")  # cited rows come last
