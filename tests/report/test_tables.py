"""Tables on a handful of rows, worked out by hand, and the files that their script writes."""

import json
import re

import pandas as pd
import pytest

from studies.adaptive_span.tables import (
    adaptive_span_costs,
    adaptive_span_shares,
    adaptive_span_table1,
    adaptive_span_table2,
    adaptive_span_table3,
)
from studies.explicit_sparse.tables import explicit_sparse_table3
from tests._layers import layers
from tests._runs import all_frames, everything, failed, run, unscored, write_inputs
from tests.report._cells import at
from workflow.config.studies import study_files
from workflow.plan.scales import load_corpora
from workflow.report.builders import builder_inputs, load_builder
from workflow.report.comparison import join
from workflow.report.layout import list_columns
from workflow.report.table_files import as_latex, as_lines, compared_cells, write_table
from workflow.report.tables.cells import COLUMNS
from workflow.results.runs_table import Frames, as_frame, read_frames

NONE = Frames(everything().head(0), layers().head(0))


def test_the_longest_span_says_what_ended_the_search():
    ended = {
        "longest_S": 4096.0,
        "longest_S_ended": "the end of the search",
        "memory_budget_bytes": 1 << 30,
    }
    cells = adaptive_span_costs.build(
        as_frame([run(variant="fixed", memory_reserved_bytes=5.0, **ended)])
    )
    told = {
        "longest S that fits": 4096,
        "search ended by": "the end of the search",
        "memory budget": 1 << 30,
    }
    assert {column: at(cells, "fixed, any S", column)["value"] for column in told} == told
    assert at(cells, "adaptive, any S", "longest S that fits")["status"] == "not run"
    assert cells[cells["column"] == "training memory, reserved"]["value"].dropna().tolist() == [5]
    cells = adaptive_span_costs.build(
        as_frame([run(variant="fixed", longest_S=None, longest_S_ended="oom")])
    )
    never = at(cells, "fixed, any S", "longest S that fits")
    assert never["status"] == "failed" and never["note"].endswith("oom")
    assert "training memory, reserved" not in set(cells["column"])  # where nothing was reserved


def test_a_variant_that_was_not_run_is_shown_as_such():
    runs = everything()
    for rows, status in ((runs, "ok"), (runs[runs["variant"] != "dynamic"], "not run")):
        assert at(adaptive_span_table3.build(rows), "Dynamic span", "dev")["status"] == status
    assert at(explicit_sparse_table3.build(runs), "Adaptive span, top-k, k = 8", "dev")["n"] == 2


@pytest.mark.parametrize("name", study_files("tables"))
@pytest.mark.parametrize(
    "frames",
    [*map(all_frames, (run, failed, unscored)), NONE],
    ids=["good", "failed", "unscored", "none"],
)
def test_every_table_stands_on_good_failed_and_missing_runs(name, frames):
    cells = load_builder("tables", name).build(*builder_inputs("tables", name, frames))
    assert list(cells.columns) == COLUMNS and (len(cells) or frames is NONE)
    assert not cells.duplicated(["row", "column"]).any()
    joined = join(cells) if len(cells) else cells.assign(published_value=None)
    assert (joined["published_value"].notna() == joined["published"].notna()).all()
    assert frames is not NONE or not (cells["status"] == "failed").any()


def test_table_1_puts_ours_the_papers_and_the_formula_side_by_side():
    joined, small = join(adaptive_span_table1.build(everything())), "Adaptive span, small"
    dev, flops = at(joined, small, "dev"), at(joined, small, "#FLOPS, paper size")
    assert (dev["value"], dev["published_value"]) == (pytest.approx(2.15), 1.05)
    assert (flops["value"], flops["published_value"], flops["kind"]) == (
        41_607_168,
        42e6,
        "analytic",
    )
    cited = at(joined, "T12 (Al-Rfou)", "test")
    assert cited["kind"] == "cited" and pd.isna(cited["value"]) and cited["published_value"] == 1.18


def test_what_follows_from_a_formula_is_not_called_published():
    joined = join(adaptive_span_shares.build())
    flops, share = at(joined, "S = 256", "#FLOPS"), at(joined, "S = 256", "feed-forward")
    assert (flops["published_source"], share["published_source"]) == ("inferred", "published")
    column = {column.title: column for column in list_columns(compared_cells(joined))}
    assert column["#FLOPS"].apart and not column["feed-forward"].apart
    assert "40.89M & inferred 40.89M & 61.54 (62, -0.7" in as_latex(joined, "t", "o")
    assert (
        as_lines(joined.assign(texts=[[]] * len(joined)), "o").iloc[0]["published as"] == "inferred"
    )


@pytest.mark.parametrize("table", [adaptive_span_table1, adaptive_span_table2])
def test_a_row_of_ours_has_the_layers_of_its_own_model(table):
    cells = join(table.build(everything().assign(layers=3)))
    ours = cells[(cells["column"] == "#layers") & (cells["kind"] == "setting")]
    assert "Transformer-XL, large" in set(ours["row"]) and set(ours["value"]) == {3}
    assert not ours["row"].str.contains("[0-9]").any()


def test_a_table_is_three_files_that_say_where_they_come_from(tmp_path):
    write_table(
        tmp_path / "t.json", "adaptive_span_table3", read_frames(write_inputs(tmp_path / "inputs"))
    )
    content, badge = (
        json.loads((tmp_path / "t.json").read_text()),
        "Python sources in 27 letters, not text8",
    )
    assert content["provenance"] == f"scale test; a device; 2 seeds; 10 steps; corpus: {badge}"
    tidy = pd.read_csv(tmp_path / "t.csv").set_index(["row", "column"])
    dynamic, dev = (tidy.loc[("Dynamic span", column)] for column in ("avg. span", "dev"))
    assert (dynamic["measured"], dynamic["published"], dynamic["published id"]) == (
        40,
        149,
        "as.t3.dynamic.span",
    )
    assert pd.isna(dynamic["difference %"])  # a span on another text
    assert dynamic["measured at"] == content["provenance"] and dynamic["n"] == 2
    assert (dev["points"], dev["text"]) == ("2.1 2.2", badge) and pd.isna(dev["low"])
    (text,) = content["texts"]
    assert (
        text["badge"] == badge
        and text["about"] == load_corpora("char_lm").about("words")
        and "dev" in text["columns"]
    )
    assert {r"\toprule", r"\#params"} <= set(
        re.findall(r"\\toprule|\\#params", (tmp_path / "t.tex").read_text())
    )


def test_latex_is_escaped_and_names_what_is_cited_failed_and_published():
    runs = everything()
    runs.loc[runs["variant"] == "as_large", ["status", "reason"]] = ["oom", "no room"]
    text = as_latex(
        join(adaptive_span_table1.build(runs)), "100 % of a_b & c", "text: file:my_text"
    )
    assert (
        r"\caption{100 \% of a\_b \& c. text: file:my\_text." in text
        and "dev, published & test & test" in text
    )
    rows = {line.split(" & ")[0]: line.split(" & ") for line in text.splitlines() if " & " in line}
    assert "1.18" in rows["T12 (Al-Rfou)"] and "failed" in rows["Adaptive span, large"]
    small = rows["Adaptive span, small"]
    assert small[small.index("2.100, 2.200") + 1] == "1.05" and "%" not in "".join(small[:8])
    assert r"41.61M (42M, -0.9 \%)" in " & ".join(small)
    assert list(rows)[-1].startswith("T64")  # cited rows come last
