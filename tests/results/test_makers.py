"""What measured a cost, read off records; and that costs of other code or another machine are not
compared.
"""

import pytest

from tests._costs import split_costs
from tests._runs import as_frame, run
from workflow.claims.collect import collect_evidence
from workflow.claims.schema import load_claim
from workflow.report.tables.cells import ratio
from workflow.results.makers import UNNAMED, code_of, why_apart
from workflow.results.runs_table import Frames

C = "cpu float32: Adaptive All Softmax, reach <= 32, T <= 32, backward: compiled (1234)"
TORCH = "cpu float32: Fixed TopP Softmax, reach <= 32, T <= 32, backward: band (1,234)"
SCORED = "cpu float32: Fixed All Softmax, reach <= 32, T <= 32, forward: band (12)"
TIMES = {"train_turns": [1.0, 1.1, 1.2], "predict_turns": [1.0, 1.1, 1.2]}


@pytest.mark.parametrize(
    "lines, code",
    [
        ([C, SCORED], "compiled"),  # what trained it, not what scored it
        ([TORCH, C], "band and compiled"),
        ([SCORED], "band"),
        (["definition"], "definition"),
        (["cpu float32: not compiled, so slower: no compiler", TORCH], "band"),
        (["tiles of 32 x 32, 4 warps, 2 stages (3)"], None),
        ([], None),
    ],
)
def test_the_code_that_trained_a_net_is_read_off_its_record(lines, code):
    assert code_of(lines) == code


def measured_with(variant: str, **about):
    rows = [run("span_limit", variant, seed, **TIMES, **about) for seed in (1, 2)]
    runs, costs = split_costs(rows)
    return as_frame(runs, costs)


SAME = {"backend": "compiled", "device": "a"}


@pytest.mark.parametrize(
    "quantity, ours, why",
    [
        ("memory_train_bytes", SAME, None),
        (
            "memory_train_bytes",
            SAME | {"backend": "band"},
            "computed in PyTorch, base in compiled C",
        ),
        ("memory_train_bytes", SAME | {"device": "b"}, "measured on a different machine from base"),
        (
            "memory_train_bytes",
            SAME | {"backend": None},
            f"computed in {UNNAMED}",
        ),
        (
            "train_tokens_per_s",
            SAME | {"backend": "band"},
            "computed in PyTorch, base in compiled C",
        ),
        # the reference step says that it is the same
        ("train_tokens_per_s", SAME | {"device": "b"}, None),
        (
            "train_tokens_per_s",
            SAME | {"reference_ms": 9.0},
            "measured on a different machine from base",
        ),
        ("library_train_tokens_per_s", SAME, "computed in PyTorch, base in compiled C"),
        # the same whatever computes it
        ("macs_executed", SAME | {"backend": "band", "device": "b"}, None),
    ],
)
def test_costs_compare_where_code_and_machine_are_the_same(quantity, ours, why):
    of_base = quantity.removeprefix("library_")
    ours = {"library_train_tokens_per_s": 900.0, **ours}
    runs, base = measured_with("adaptive", **ours), measured_with("fixed", **SAME)
    told = why_apart(runs, base, quantity, "base", of_base)
    assert told is None if why is None else told.startswith(why)
    cell = ratio("r", "c", quantity, runs, base, "base", of_base)
    assert cell.status == ("ok" if why is None else "not run")
    assert ("no ratio" in cell.explanation) == (why is not None)


def test_what_a_row_of_costs_says_comes_before_what_its_run_says():
    runs, costs = split_costs([run(**SAME, **TIMES)])
    costs["memory"] = [row | {"backend": "band", "machine": "b"} for row in costs["memory"]]
    rows = as_frame(runs, costs)
    assert rows[["memory_backend", "memory_machine"]].iloc[0].tolist() == ["band", "b"]
    assert rows[["throughput_backend", "throughput_machine"]].iloc[0].tolist() == ["compiled", "a"]


@pytest.mark.parametrize("backend, verdict", [("compiled", "reproduced"), ("band", "not tested")])
def test_a_claim_about_a_cost_is_not_tested_across_backends(backend, verdict):
    rows = [run("span_limit", "fixed", S=64, memory_train_bytes=1 << 21, **SAME)]
    rows.append(
        run(
            "span_limit",
            "adaptive",
            S=64,
            memory_train_bytes=1 << 20,
            **SAME | {"backend": backend},
        )
    )
    runs = as_frame(*split_costs(rows))
    line = collect_evidence("a", load_claim("adaptive_trains_in_less_memory"), Frames(runs, None))
    assert line.verdict == verdict and ("no ratio" in line.why) == (verdict == "not tested")
