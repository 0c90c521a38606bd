"""Adaptive Attention Span, section 3: memory and time of fixed and adaptive spans by limit S."""

from dataclasses import replace

import pandas as pd

from workflow.config.missing import Missing
from workflow.report.tables.cells import (
    NO_SEARCH,
    Cell,
    cited,
    make_cell,
    make_table,
    measured,
    pick,
    take_cost_row,
)
from workflow.results.datasets import with_badge

READS = ("runs", "memory", "longest_span", "throughput")
TITLE = "Memory and time by span limit (Adaptive Attention Span, section 3)"
CAPTION = (
    "One trained model per configuration, measured alone on the device. Memory is that of the "
    "process minus the loaded libraries. The longest S is found by doubling S until a training "
    "step runs out of memory; if the search ended first, it is a lower bound. The paper's numbers "
    "are for its small model on 8 V100 GPUs: compare the trend, not the values."
)
MEASURED = [
    ("training memory", "memory_train_bytes"),
    ("evaluation memory", "memory_evaluate_bytes"),
    ("step time", "train_ms"),
    ("training speed", "train_tokens_per_s"),
    ("time per predicted character", "predict_ms"),
    ("prediction speed", "predict_tokens_per_s"),
]
RESERVED = ("training memory, reserved", "memory_reserved_bytes")
CLAIMS = {"fixed": "as.txt.max_fixed_fit", "adaptive": "as.txt.max_adapt_fit"}
TIMES = {"fixed": "as.txt.ms_fixed2048", "adaptive": "as.txt.ms_adapt8192"}


def build(runs: pd.DataFrame) -> pd.DataFrame:
    runs = with_badge(pick(runs, question="span_limit"))
    cells = []
    # only a CUDA allocator reserves
    costs = [*MEASURED, RESERVED] if runs["memory_reserved_bytes"].notna().any() else MEASURED
    for variant in CLAIMS:
        variant_runs = pick(runs, variant=variant)
        for (text, S), seeds in variant_runs.groupby(["text", "S"]):
            label = f"{variant}, S = {S:.0f}, {text}"
            cost_row = take_cost_row(seeds)
            cells += [measured(label, column, cost_row, quantity) for column, quantity in costs]
            cells.append(measured(label, "MACs, executed", seeds, "macs_executed"))
        cells += _longest(f"{variant}, any S", variant_runs, CLAIMS[variant])
        cells.append(
            cited(
                f"{variant}, any S",
                "step time",
                TIMES[variant],
                "ms",
                "8 V100 GPUs, batch of 64 × 512",
            )
        )
    return make_table(cells)


def _longest(label: str, runs: pd.DataFrame, claim: str) -> list[Cell]:
    """Return cells with the longest S that fits, what ended the search, and the memory budget."""
    searched = take_cost_row(runs[runs["longest_S_ended"].notna()])
    longest = measured(label, "longest S that fits", searched, "longest_S", claim)
    if not len(searched):
        return [replace(longest, value=Missing(NO_SEARCH))]
    ended = searched["longest_S_ended"].iloc[0]
    if isinstance(longest.value, Missing) and longest.status != "failed":
        reason = f"even the S of training does not fit: {ended}"
        longest = replace(longest, value=Missing(reason), status="failed")
    budget = measured(label, "memory budget", searched, "memory_budget_bytes")
    return [
        longest,
        make_cell(label, "search ended by", ended, "", "measured", runs=searched),
        budget,
    ]
