"""Tables on a handful of rows, with means and intervals worked out by hand."""

import json
from importlib import import_module

import pandas as pd
import pytest

from tests._runs import everything, failed, run
from workflow.frame import frame, gather, provenance
from workflow.published import join
from workflow.scripts import table as script
from workflow.tables import adaptive_span_table1, adaptive_span_table3, explicit_sparse_table3, quality_against_cost
from workflow.tables._cells import COLUMNS, interval, measured


def at(cells, row, column):
    found = cells[(cells["row"] == row) & (cells["column"] == column)]
    assert len(found) == 1
    return found.iloc[0]


def test_interval_of_two_seeds_by_hand():
    """Mean 2.15, standard error .05, t(.975, 1) = 12.706."""
    mean, low, high = interval([2.1, 2.2])
    assert mean == pytest.approx(2.15)
    assert high - mean == pytest.approx(mean - low) == pytest.approx(12.706 * 0.05, rel=1e-4)


def test_one_seed_has_no_interval():
    assert interval([2.0]) == (2.0, None, None)


def test_a_mean_over_seeds_with_its_runs():
    made = measured("r", "dev", frame([run(seed=1), run(seed=2)]), "dev_bpc", "bpc")
    assert (
        made["value"] == pytest.approx(2.15) and made["n"] == 2 and len(made["digests"]) == 2 and made["status"] == "ok"
    )


def test_a_failed_run_is_shown_as_failed_with_its_reason():
    made = measured("r", "dev", frame([failed()]), "dev_bpc", "bpc")
    assert made["status"] == "failed" and "diverged: mean loss nan" in made["note"] and made["value"] is None


def test_one_failed_seed_of_two_is_told():
    made = measured("r", "dev", frame([run(seed=1), failed(seed=2)]), "dev_bpc", "bpc")
    assert made["status"] == "ok" and made["n"] == 1 and "seed 2: diverged" in made["note"] and made["low"] is None


def test_a_variant_that_was_not_run_is_shown_as_such():
    cells = adaptive_span_table3.build(everything())
    assert at(cells, "Dynamic span", "dev")["status"] == "ok"
    without = everything()
    cells = adaptive_span_table3.build(without[without["variant"] != "dynamic"])
    assert at(cells, "Dynamic span", "dev")["status"] == "not run"


@pytest.mark.parametrize("name", script.names())
@pytest.mark.parametrize("make", [run, failed])
def test_every_table_stands_on_good_and_on_failed_runs(name, make, tmp_path):
    runs = everything(make)
    cells = import_module(f"workflow.tables.{name}").build(runs)
    assert list(cells.columns) == COLUMNS and len(cells)
    assert not cells.duplicated(["row", "column"]).any()
    joined = join(cells)
    assert (joined["published_value"].notna() == joined["published"].notna()).all()


@pytest.mark.parametrize("name", script.names())
def test_every_table_stands_without_runs(name):
    cells = import_module(f"workflow.tables.{name}").build(everything().head(0))
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


def test_ratios_are_to_the_fixed_span():
    runs = everything()
    runs.loc[runs["variant"] == "sparsemax", "train_tokens_per_s"] = 430.0
    cells = quality_against_cost.build(runs)
    assert at(cells, "sparsemax", "training ratio")["value"] == pytest.approx(0.43)
    assert at(cells, "fixed", "training ratio")["value"] == 1


def test_the_script_writes_three_files_that_say_where_they_come_from(tmp_path):
    rows = json.loads(everything().to_json(orient="records"))
    (tmp_path / "runs.json").write_text(json.dumps(rows))
    script.main(["adaptive_span_table3", str(tmp_path / "runs.json"), str(tmp_path / "t")])
    content = json.loads((tmp_path / "t.json").read_text())
    assert content["provenance"] == "rung test; a device; 2 seeds; 10 steps; text: words"
    tidy = pd.read_csv(tmp_path / "t.csv")
    assert {"value", "published_value", "difference_pct", "digests"} <= set(tidy.columns)
    assert r"\toprule" in (tmp_path / "t.tex").read_text() and r"\#params" in (tmp_path / "t.tex").read_text()


def test_gather_joins_measures_by_cell(tmp_path):
    from tests._jobs import job
    from workflow.records import Record
    from workflow.training.origin import describe, pick_device

    made = job()
    record = Record(
        status="ok", digest=made.digest, job=made, metrics={"dev_bpc": 2.0}, origin=describe(pick_device("cpu"), "fp32")
    )
    asked = {"ablation": "a", "paper": "p", "variant": "v", "corpus": "c", "S": 24, "k": None, "text": "toy"}
    asked |= {"digest": made.digest, "cell": made.cell}
    rows = gather(
        [asked],
        {made.digest: record},
        {"flops": [{"cell": made.cell, "macs_torch": 7.0, "status": "ok", "reason": None}]},
    )
    runs = frame(rows)
    assert runs["macs_torch"][0] == 7 and runs["dev_bpc"][0] == 2 and pd.isna(runs["train_ms"][0])
    assert provenance(runs).startswith("rung test; cpu: ")
