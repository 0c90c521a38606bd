"""Adaptive Attention Span, Table 3: adaptive and dynamic spans on text8."""

import pandas as pd

from workflow.report.tables.cells import make_table, measured, pick, setting

READS = ("runs",)
TITLE = "Adaptive and dynamic spans (Adaptive Attention Span, Table 3)"
CAPTION = (
    "The paper uses S = 1,024; we use the largest S of the scale. Comparable: whether dynamic "
    "spans match adaptive spans, and the fraction of the MACs that each saves relative to a fixed "
    "span."
)
ROWS = [
    ("Adaptive span", "adaptive", "as.t3.adaptive"),
    ("Dynamic span", "dynamic", "as.t3.dynamic"),
    ("Fixed span", "fixed", None),
]


def build(runs: pd.DataFrame) -> pd.DataFrame:
    cells = []
    for label, variant, stem in ROWS:
        seeds = pick(runs, question="dynamic_span", variant=variant)
        span = f"{stem}.span" if stem else None
        dev = f"{stem}.dev" if stem else None
        cells += [
            setting(label, "S", seeds, "S", unit="characters"),
            measured(label, "avg. span", seeds, "mean_span", span),
            measured(label, "dev", seeds, "dev_bpc", dev),
            measured(label, "test", seeds, "test_bpc"),
            setting(label, "#params", seeds, "parameters"),
            measured(label, "#FLOPS", seeds, "macs_paper"),
            measured(label, "MACs, executed", seeds, "macs_executed"),
        ]
    return make_table(cells)
