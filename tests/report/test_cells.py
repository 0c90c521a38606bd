"""Cells on a handful of runs, with means and intervals worked out by hand."""

import pytest

from tests._runs import failed, run
from workflow.report.tables.cells import measured, ratio, setting, take_cost_row
from workflow.results.runs_table import as_frame


def test_a_mean_over_seeds_with_its_runs():
    cell = measured("r", "dev", as_frame([run(seed=1), run(seed=2)]), "dev_bpc")
    assert (
        cell["value"] == pytest.approx(2.15) and cell["n"] == 2 and len(cell["digests"]) == 2 and cell["status"] == "ok"
    )


def test_one_failed_seed_of_two_is_told():
    cell = measured("r", "dev", as_frame([run(seed=1), failed(seed=2)]), "dev_bpc")
    assert cell["status"] == "ok" and cell["n"] == 1 and "seed 2: diverged" in cell["note"] and cell["low"] is None


def test_a_measurement_that_broke_is_a_failed_cell_with_its_reason():
    broke = {"memory_train_bytes": None, "memory_status": "oom", "memory_reason": "out of memory at 3 GiB"}
    cell = measured("r", "c", as_frame([run(**broke)]), "memory_train_bytes")
    assert (cell["status"], cell["value"], cell["note"]) == ("failed", None, "out of memory at 3 GiB")


def test_what_was_measured_before_the_rest_broke_still_counts():
    broke = {"memory_train_bytes": 7.0, "memory_status": "oom", "memory_reason": "evaluation: out of memory"}
    cell = measured("r", "c", as_frame([run(**broke)]), "memory_train_bytes")
    assert (cell["status"], cell["value"], cell["note"]) == ("ok", 7, "")


def test_a_count_that_its_check_refuses_is_failed_and_the_other_counts_stand():
    broke = {"flops_status": "error", "flops_reason": "macs_torch differs from our count by +9.0%"}
    runs = as_frame([run(macs_torch=109.0, macs_analytic=100.0, **broke)])
    assert measured("r", "c", runs, "macs_torch")["status"] == "failed"
    assert measured("r", "c", runs, "macs_analytic")["status"] == "ok"


def test_a_setting_has_no_interval():
    cell = setting("r", "S", as_frame([run(seed=1), run(seed=2)]), "S", unit="characters")
    assert (cell["value"], cell["low"], cell["kind"]) == (64, None, "setting")


def test_a_cost_is_read_from_a_seed_that_ended_well():
    assert take_cost_row(as_frame([failed(seed=1), run(seed=2)]))["seed"].tolist() == [2]
    assert take_cost_row(as_frame([failed(seed=1)]))["seed"].tolist() == [1]


def ratio_to_fixed(quantity: str, *rows: dict) -> dict:
    runs = as_frame([*rows])
    sides = (runs[runs["variant"] == name] for name in ("sparsemax", "fixed"))
    return ratio("r", "c", quantity, *sides, "fixed span")


def test_a_ratio_is_of_the_means_over_seeds_and_of_one_value_measured_once():
    """Fixed 60,000 twice; sparsemax 30,000 and 60,000. Speeds 430 and 1,000."""
    rows = [run(variant=name, seed=seed) for name in ("sparsemax", "fixed") for seed in (1, 2)]
    rows[0] |= {"macs_executed": 3e4, "train_tokens_per_s": 430.0}
    cell, speed = (ratio_to_fixed(name, *rows) for name in ("macs_executed", "train_tokens_per_s"))
    assert (cell["value"], cell["n"]) == (pytest.approx(0.75), 2)
    assert (speed["value"], speed["n"]) == (pytest.approx(0.43), 1)


def test_a_ratio_of_a_failed_run_is_failed():
    cell = ratio_to_fixed("train_tokens_per_s", run(), failed(variant="sparsemax"))
    assert cell["status"] == "failed" and "diverged" in cell["note"] and cell["value"] is None
