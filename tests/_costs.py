"""Costs of made-up runs: what is on their rows, and the rows that the workflow keeps by kind."""

from collections.abc import Iterable

from workflow.results.registry import COSTS, names

COST_COLUMNS = {kind: (*names(kind), f"{kind}_status", f"{kind}_reason") for kind in COSTS}
MEASURED = dict.fromkeys(column for columns in COST_COLUMNS.values() for column in columns)
MEASURED |= {
    "flops_status": "ok",
    "macs_analytic": 70_000.0,
    "macs_torch": 70_100.0,
    "macs_fvcore": 69_900.0,
    "memory_status": "ok",
    "memory_train_bytes": 1 << 20,
    "memory_evaluate_bytes": 1 << 18,
    "throughput_status": "ok",
    "train_tokens_per_s": 1000.0,
    "train_ms": 64.0,
    "train_spread": 0.03,
    "predict_tokens_per_s": 10.0,
    "predict_ms": 100.0,
    "predict_spread": 0.05,
    "reference_ms": 8.0,
    "quiet": True,
}
LONGEST = {
    "longest_span_status": "ok",
    "longest_S": 4096.0,
    "longest_S_ended": "the end of the search",
    "memory_budget_bytes": 1 << 30,
}


def split_costs(
    rows: list[dict], costs: Iterable[str] = COSTS
) -> tuple[list[dict], dict[str, list[dict]]]:
    """Return rows of runs alone, and one row a configuration that was measured for each kind."""
    runs = [{key: value for key, value in row.items() if key not in MEASURED} for row in rows]
    measured = {kind: {} for kind in costs}
    for kind, by_configuration in measured.items():
        for row in rows:
            if row[f"{kind}_status"]:
                cost = {name: row[name] for name in ("configuration", *names(kind))}
                cost |= {"status": row[f"{kind}_status"], "reason": row[f"{kind}_reason"]}
                by_configuration.setdefault(row["configuration"], cost)
    return runs, {kind: [*each.values()] for kind, each in measured.items()}
