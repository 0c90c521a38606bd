"""Cells on a handful of runs, with means and intervals worked out by hand."""

import pytest

from tests._costs import split_costs
from tests._runs import failed, run
from workflow.config.errors import ConfigError
from workflow.config.missing import Missing
from workflow.report.tables.cells import (
    Cell,
    make_table,
    measured,
    pick,
    ratio,
    setting,
    take_cost_row,
)
from workflow.results.precomputed import NOT_MEASURED
from workflow.results.runs_table import as_frame
from workflow.results.trained_enough import UNMOVED

REASON = "macs_torch differs from our count by +9.0%"


def test_a_mean_over_seeds_keeps_its_runs_and_a_setting_has_no_interval():
    runs = as_frame([run(seed=1), run(seed=2)])
    cell = measured("r", "dev", runs, "dev_bpc")
    assert cell.value == pytest.approx(2.15)
    assert (cell.n, len(cell.digests), cell.status) == (2, 2, "ok")
    size = setting("r", "S", runs, "S", unit="characters")
    assert (size.value, size.low, size.kind) == (64, None, "setting")
    cell = measured("r", "dev", as_frame([run(seed=1), failed(seed=2)]), "dev_bpc")
    assert (cell.status, cell.n) == ("ok", 1)
    assert "seed 2: diverged" in cell.note


def test_a_cell_returns_from_a_table_as_it_was():
    runs = as_frame([run(seed=1), run(seed=2)])
    cells = [
        measured("r", "dev", runs, "dev_bpc", "as.t1.as_small.dev"),
        measured("r", "test", runs.head(0), "test_bpc"),
    ]
    rows = make_table(cells).to_dict("records")
    assert [Cell.from_record(row) for row in rows] == cells


def test_a_column_that_runs_do_not_have_is_refused_with_the_nearest():
    with pytest.raises(ConfigError, match="variant"):
        pick(as_frame([run()]), varient="fixed")


@pytest.mark.parametrize("quantity", ["mean_span", "macs_executed", "dev_bpc"])
@pytest.mark.parametrize("mean_span, note", [(9.0, UNMOVED), (20.0, "")])
def test_a_cell_of_learned_spans_says_whether_they_moved_and_how_much_they_still_learned(
    quantity, mean_span, note
):
    late = {"variant": "adaptive", "start_span": 8.0, "late_gain": 0.05}
    cell = measured("r", "c", as_frame([run(mean_span=mean_span, **late)]), quantity)
    assert (cell.note, cell.late_gain) == (note, 0.05)


@pytest.mark.parametrize(
    "quantity, value, state, status",
    [
        ("memory_train_bytes", None, "oom", "failed"),
        # what was measured before the rest broke still counts
        ("memory_train_bytes", 7.0, "oom", "ok"),
        ("macs_torch", 109.0, "error", "failed"),  # a count that its check refuses
        ("macs_analytic", 100.0, "error", "ok"),  # the other counts remain
    ],
)
def test_a_measurement_that_broke_is_a_failed_cell_with_its_reason(quantity, value, state, status):
    kind = "memory" if quantity.startswith("memory") else "flops"
    broke = {"macs_torch": 109.0, "macs_analytic": 100.0, quantity: value}
    broke |= {f"{kind}_status": state, f"{kind}_reason": REASON}
    cell = measured("r", "c", as_frame([run(**broke)]), quantity)
    assert cell.status == status
    assert cell.explanation == (REASON if status == "failed" else "")


def test_what_nobody_measured_has_not_failed():
    """A scale that was run in part has an error with this reason in the rows of its costs."""
    runs, costs = split_costs([run(seed=seed) for seed in (1, 2)])
    lost = {"status": "error", "reason": NOT_MEASURED, "memory_train_bytes": None}
    frame = as_frame(runs, {"memory": [row | lost for row in costs["memory"]]})
    for cell in (
        measured("r", "c", frame, "memory_train_bytes"),
        ratio("r", "c", "memory_train_bytes", frame, frame, "fixed span"),
    ):
        assert (cell.status, cell.value) == ("not run", Missing(NOT_MEASURED))
    # its run failed
    broken = as_frame([failed(memory_status="not run", memory_reason=NOT_MEASURED)])
    assert measured("r", "c", broken, "memory_train_bytes").status == "failed"


def ratio_to_fixed(quantity: str, ours: list[dict], base: list[dict]) -> Cell:
    return ratio("r", "c", quantity, as_frame(ours), as_frame(base), "fixed span")


def test_a_ratio_is_of_means_over_seeds_and_of_one_value_where_measured_once():
    """Fixed 60,000 twice; sparsemax 30,000 and 60,000. Speeds 430 and 1,000."""
    base = [run(variant="fixed", seed=seed) for seed in (1, 2)]
    ours = [run(variant="sparsemax", seed=seed) for seed in (1, 2)]
    ours[0] |= {"macs_executed": 3e4, "train_tokens_per_s": 430.0}
    counts = ratio_to_fixed("macs_executed", ours, base)
    assert (counts.value, counts.n) == (pytest.approx(0.75), 2)
    speed = ratio_to_fixed("train_tokens_per_s", ours, base)
    assert (speed.value, speed.n, speed.low) == (pytest.approx(0.43), 1, None)


@pytest.mark.parametrize(
    "ours, base, status, reason",
    [
        ([failed()], [run()], "failed", "seed 1: diverged"),
        ([run()], [failed()], "failed", "fixed span: seed 1: diverged"),
        ([run()], [run(macs_executed=0.0)], "not run", "fixed span: 0"),
    ],
)
def test_a_ratio_without_one_side_says_which(ours, base, status, reason):
    cell = ratio_to_fixed("macs_executed", ours, base)
    assert cell.status == status
    assert cell.value.reason.startswith(reason)


@pytest.mark.parametrize("rows, seed", [([failed(seed=1), run(seed=2)], 2), ([failed(seed=1)], 1)])
def test_a_cost_measured_once_is_of_a_seed_that_ended_well(rows, seed):
    assert take_cost_row(as_frame(rows))["seed"].tolist() == [seed]
