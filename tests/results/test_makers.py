"""What measured a cost; costs of other code or of another machine are not compared."""

import pytest

from tests._costs import split_costs
from tests._runs import as_frame, run
from workflow.claims.collect import collect_evidence
from workflow.claims.schema import load_claim
from workflow.report.tables.cells import ratio
from workflow.results.makers import UNNAMED, why_apart
from workflow.results.runs_table import Frames

SAME = {"backend": "compiled", "device": "a"}
TIMES = {"train_turns": [1.0, 1.1, 1.2], "predict_turns": [1.0, 1.1, 1.2]}
OTHER_CODE = "computed in PyTorch, base in compiled C"
OTHER_MACHINE = "measured on a different machine from base"


def measured_with(variant: str, **about):
    rows = [run("span_limit", variant, seed, **TIMES, **about) for seed in (1, 2)]
    return as_frame(*split_costs(rows))


@pytest.mark.parametrize(
    "quantity, ours, why",
    [
        ("memory_train_bytes", {}, None),
        ("memory_train_bytes", {"backend": "band"}, OTHER_CODE),
        ("memory_train_bytes", {"device": "b"}, OTHER_MACHINE),
        ("memory_train_bytes", {"backend": None}, f"computed in {UNNAMED}"),
        # the reference step says that it is the same machine
        ("train_tokens_per_s", {"device": "b"}, None),
        ("train_tokens_per_s", {"reference_ms": 9.0}, OTHER_MACHINE),
        ("library_train_tokens_per_s", {}, OTHER_CODE),
        # the same whatever computes it
        ("macs_executed", {"backend": "band", "device": "b"}, None),
    ],
)
def test_costs_compare_where_code_and_machine_are_the_same(quantity, ours, why):
    of_base = quantity.removeprefix("library_")
    runs = measured_with("adaptive", library_train_tokens_per_s=900.0, **SAME | ours)
    base = measured_with("fixed", **SAME)
    reason = why_apart(runs, base, quantity, "base", of_base)
    cell = ratio("r", "c", quantity, runs, base, "base", of_base)
    if why is None:
        assert reason is None
        assert cell.status == "ok"
    else:
        assert reason.startswith(why)
        assert cell.status == "not run"


@pytest.mark.parametrize("backend, verdict", [("compiled", "reproduced"), ("band", "not tested")])
def test_a_claim_about_a_cost_is_not_tested_across_backends(backend, verdict):
    ours = SAME | {"backend": backend}
    rows = [
        run("span_limit", "fixed", memory_train_bytes=1 << 21, **SAME),
        run("span_limit", "adaptive", memory_train_bytes=1 << 20, **ours),
    ]
    runs = as_frame(*split_costs(rows))
    claim = load_claim("adaptive_trains_in_less_memory")
    assert collect_evidence("a", claim, Frames(runs, None)).verdict == verdict
