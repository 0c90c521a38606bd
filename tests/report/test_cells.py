"""Cells on a handful of runs, with means and intervals worked out by hand."""

import pytest

from tests._costs import split_costs
from tests._runs import failed, run
from workflow.report.tables.cells import measured, ratio, setting, take_cost_row
from workflow.results.precomputed import NOT_MEASURED
from workflow.results.runs_table import as_frame
from workflow.results.trained_enough import UNMOVED


def test_a_mean_over_seeds_with_its_runs_and_a_setting_without_an_interval():
    runs = as_frame([run(seed=1), run(seed=2)])
    cell, size = (
        measured("r", "dev", runs, "dev_bpc"),
        setting("r", "S", runs, "S", unit="characters"),
    )
    assert (cell["value"], cell["n"], len(cell["digests"]), cell["status"]) == (
        pytest.approx(2.15),
        2,
        2,
        "ok",
    )
    assert (size["value"], size["low"], size["kind"]) == (64, None, "setting")
    cell = measured("r", "dev", as_frame([run(seed=1), failed(seed=2)]), "dev_bpc")
    assert (
        cell["status"] == "ok"
        and cell["n"] == 1
        and "seed 2: diverged" in cell["note"]
        and cell["low"] is None
    )


def test_a_cell_of_learned_spans_says_where_they_have_hardly_moved_and_how_much_they_still_learned():
    late = {"variant": "adaptive", "start_span": 8.0, "late_gain": 0.05}
    still, grown = (as_frame([run(mean_span=span, **late)]) for span in (9.0, 20.0))
    for quantity in ("mean_span", "macs_executed", "dev_bpc"):
        cells = [measured("r", "c", runs, quantity) for runs in (still, grown)]
        assert [(cell["note"], cell["late_gain"]) for cell in cells] == [
            (UNMOVED, 0.05),
            ("", 0.05),
        ]
    assert ratio("r", "c", "macs_executed", grown, still, "adaptive")["note"] == UNMOVED
    fixed = as_frame([run(variant="fixed", late_gain=0.05)])
    cells = [
        measured("r", "c", fixed, "macs_executed"),
        setting("r", "#params", still, "parameters"),
    ]
    assert [(cell["note"], cell["late_gain"]) for cell in cells] == [("", None)] * 2


REASON = "macs_torch differs from our count by +9.0%"


@pytest.mark.parametrize(
    "quantity, value, state, status, note",
    [
        ("memory_train_bytes", None, "oom", "failed", REASON),
        # what was measured before the rest broke still counts
        ("memory_train_bytes", 7.0, "oom", "ok", ""),
        ("macs_torch", 109.0, "error", "failed", REASON),  # a count that its check refuses
        ("macs_analytic", 100.0, "error", "ok", ""),  # the other counts stand
    ],
)
def test_a_measurement_that_broke_is_a_failed_cell_with_its_reason(
    quantity, value, state, status, note
):
    kind = "memory" if quantity.startswith("memory") else "flops"
    broke = {"macs_torch": 109.0, "macs_analytic": 100.0, quantity: value}
    broke |= {f"{kind}_status": state, f"{kind}_reason": REASON}
    cell = measured("r", "c", as_frame([run(**broke)]), quantity)
    assert (cell["status"], cell["value"], cell["note"]) == (status, value, note)


def test_what_nobody_measured_has_not_failed():
    """A scale that was run in part has an error with this reason in the rows of its costs."""
    runs, costs = split_costs([run(seed=seed) for seed in (1, 2)])
    lost = {"status": "error", "reason": NOT_MEASURED, "memory_train_bytes": None}
    frame = as_frame(runs, {"memory": [row | lost for row in costs["memory"]]})
    cell = measured("r", "c", frame, "memory_train_bytes")
    assert (cell["status"], cell["note"], cell["value"]) == ("not run", NOT_MEASURED, None)
    both = ratio("r", "c", "memory_train_bytes", frame, frame, "fixed span")
    assert (both["status"], both["note"]) == ("not run", NOT_MEASURED)
    assert set(frame["memory_status"]) == {"not run"}
    broken = failed(memory_status="not run", memory_reason=NOT_MEASURED)
    # its run failed
    assert measured("r", "c", as_frame([broken]), "memory_train_bytes")["status"] == "failed"


def test_a_ratio_to_nothing_is_no_number_and_the_cell_says_to_what():
    cell = ratio(
        "r",
        "c",
        "macs_executed",
        as_frame([run()]),
        as_frame([run(macs_executed=0.0)]),
        "fixed span",
    )
    assert (cell["value"], cell["status"], cell["note"]) == (None, "not run", "fixed span: 0")


def test_a_ratio_is_of_the_means_over_seeds_and_of_one_value_measured_once_of_a_seed_that_ended_well():
    """Fixed 60,000 twice; sparsemax 30,000 and 60,000. Speeds 430 and 1,000."""

    def to_fixed(quantity: str, ours: list[dict], base: list[dict]) -> dict:
        return ratio("r", "c", quantity, as_frame(ours), as_frame(base), "fixed span")

    base, ours = (
        [run(variant=name, seed=seed) for seed in (1, 2)] for name in ("fixed", "sparsemax")
    )
    ours[0] |= {"macs_executed": 3e4, "train_tokens_per_s": 430.0}
    counts, speed = (to_fixed(name, ours, base) for name in ("macs_executed", "train_tokens_per_s"))
    assert (counts["value"], counts["n"], counts["unit"]) == (pytest.approx(0.75), 2, "×")
    assert (speed["value"], speed["n"], speed["low"]) == (pytest.approx(0.43), 1, None)
    for sides, note in (
        (([failed()], base), "seed 1: diverged"),
        ((ours, [failed()]), "fixed span: seed 1: diverged"),
    ):
        cell = to_fixed("train_tokens_per_s", *sides)
        assert (cell["status"], cell["value"]) == ("failed", None) and cell["note"].startswith(note)
    for rows, seed in ([failed(seed=1), run(seed=2)], 2), ([failed(seed=1)], 1):
        assert take_cost_row(as_frame(rows))["seed"].tolist() == [seed]
