"""Costs of made-up runs: what stands on their rows, and the rows of its own that the workflow keeps
for each kind.
"""

from collections.abc import Iterable

from workflow.results.registry import COSTS, names

COST_COLUMNS = {kind: (*names(kind), f"{kind}_status", f"{kind}_reason") for kind in COSTS}
MEASURED = dict.fromkeys(column for columns in COST_COLUMNS.values() for column in columns)
MEASURED |= {
    "flops_status": "ok",
    "macs_analytic": 70_000.0,
    "macs_torch": 70_100.0,
    "macs_fvcore": 69_900.0,
}
MEASURED |= {"memory_status": "ok", "memory_train_bytes": 1 << 20, "memory_evaluate_bytes": 1 << 18}
MEASURED |= {
    "throughput_status": "ok",
    "train_tokens_per_s": 1000.0,
    "train_ms": 64.0,
    "train_spread": 0.03,
}
MEASURED |= {"predict_tokens_per_s": 10.0, "predict_ms": 100.0, "predict_spread": 0.05}
MEASURED |= {"reference_ms": 8.0, "quiet": True}
LONGEST = {
    "longest_span_status": "ok",
    "longest_S": 4096.0,
    "longest_S_ended": "the end of the search",
}
LONGEST |= {"memory_budget_bytes": 1 << 30}


def split_costs(
    rows: list[dict], costs: Iterable[str] = COSTS
) -> tuple[list[dict], dict[str, list[dict]]]:
    """Rows of runs alone, and the rows of each kind of cost, one for each configuration that was
    measured.
    """
    runs, measured = (
        [{key: value for key, value in row.items() if key not in MEASURED} for row in rows],
        {},
    )
    for kind in costs:
        measured[kind] = {}
        for row in (row for row in rows if row[f"{kind}_status"]):
            cost = {
                "configuration": row["configuration"],
                **{name: row[name] for name in names(kind)},
            }
            cost |= {"status": row[f"{kind}_status"], "reason": row[f"{kind}_reason"]}
            measured[kind].setdefault(row["configuration"], cost)
    return runs, {kind: [*by_configuration.values()] for kind, by_configuration in measured.items()}
