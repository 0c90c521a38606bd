"""Adaptive Attention Span, section 3: memory and time of fixed and adaptive spans as the limit S grows."""

import pandas as pd

from workflow.report.tables._cells import cell, cited, measured, once, pick, table

READS = ("runs", "memory", "longest_span", "throughput")
TITLE = "Memory and time by span limit (Adaptive Attention Span, section 3)"
CAPTION = (
    "Each cell measured on one trained net, alone on the device; memory is what a process of its own holds "
    "above the libraries. The longest S is found by doubling until a training step no longer fits the budget, or "
    "until the search ends: then it is a lower bound, and says so. The paper's figures are for 8 V100 and its small "
    "model: compare the direction, not the numbers."
)
COSTS = [
    ("training memory", "memory_train_bytes", "bytes"),
    ("evaluation memory", "memory_evaluate_bytes", "bytes"),
    ("training step", "train_ms", "ms"),
    ("training speed", "train_tokens_per_s", "characters / s"),
    ("one more character", "predict_ms", "ms"),
    ("prediction speed", "predict_tokens_per_s", "characters / s"),
]
RESERVED = ("training memory, reserved", "memory_reserved_bytes", "bytes")
CLAIMS = {"fixed": "as.txt.max_fixed_fit", "adaptive": "as.txt.max_adapt_fit"}
TIMES = {"fixed": "as.txt.ms_fixed2048", "adaptive": "as.txt.ms_adapt8192"}


def build(runs: pd.DataFrame) -> pd.DataFrame:
    mine, cells = pick(runs, ablation="span_limit"), []
    # only a CUDA allocator reserves
    costs = [*COSTS, RESERVED] if mine["memory_reserved_bytes"].notna().any() else COSTS
    for variant in CLAIMS:
        ours = pick(mine, variant=variant)
        for S in sorted(ours["S"].dropna().unique()):
            at, label = pick(ours, S=S), f"{variant}, S = {S:.0f}"
            cells += [_cost(label, column, once(at), what, unit) for column, what, unit in costs]
            cells.append(measured(label, "executed", at, "macs_executed", "multiply-adds / character"))
        cells += _longest(f"{variant}, any S", ours, CLAIMS[variant])
        cells.append(cited(f"{variant}, any S", "training step", TIMES[variant], "ms", "8 V100, batch of 64 x 512"))
    return table(cells)


def _cost(label: str, column: str, runs: pd.DataFrame, what: str, unit: str) -> dict:
    """Measured once per cell, not per seed: an interval over seeds would pretend otherwise."""
    made = measured(label, column, runs, what, unit)
    spread = f"{what.split('_')[0]}_spread"
    if made["status"] == "ok" and spread in runs and pd.notna(runs[spread].iloc[0]):
        made["note"] = f"median; middle half of the rounds within {runs[spread].iloc[0]:.0%} of it"
    return made


def _longest(label: str, ours: pd.DataFrame, claim: str) -> list[dict]:
    """The longest S, what ended the search, and the budget."""
    sought = once(ours[ours["longest_S_ended"].notna()])
    longest = measured(label, "longest S that fits", sought, "longest_S", "characters", claim)
    if not len(sought):
        return [longest | {"note": "no search from a cell of this span"}]
    ended = sought["longest_S_ended"].iloc[0]
    if longest["value"] is None and longest["status"] != "failed":
        longest |= {"status": "failed", "note": f"not even the S it was trained with: {ended}"}
    budget = measured(label, "memory budget", sought, "memory_budget_bytes", "bytes")
    return [longest, cell(label, "search ended by", ended, "", "measured", runs=sought), budget]
