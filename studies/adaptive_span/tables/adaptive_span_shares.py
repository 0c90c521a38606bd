"""Adaptive Attention Span, section 3: breakdown of the FLOPs by fixed span."""

import pandas as pd

from studies.adaptive_span.formulas import (
    attention_share,
    feed_forward_share,
    mac,
    saving,
    score_and_value_share,
)
from workflow.report.tables.cells import analytic, make_table

READS = ()
TITLE = "Breakdown of the MACs by span (Adaptive Attention Span, section 3)"
CAPTION = (
    "Computed for the paper's small model (12 layers, width 512, feed-forward width 2,048). The "
    "projections count as attention."
)
SMALL = {"L": 12, "d": 512, "ff": 2048}
MEAN_SPAN = 314  # of the paper's small model at S = 8192; a span cannot exceed its limit
SPANS = (256, 512, 1024, 2048, 4096, 8192)
CLAIMS = {
    (256, "feed-forward"): "as.txt.ff_share_256",
    (8192, "attention layers"): "as.txt.attn_share_8192",
    (8192, f"saved at mean span {MEAN_SPAN}"): "as.txt.flops_cut",
}


def build() -> pd.DataFrame:
    """Build the table from formulas alone."""
    cells = []
    for S in SPANS:
        sizes = {**SMALL, "S": S}
        label = f"S = {S}"
        cells.append(
            analytic(label, "#FLOPS", mac(**sizes), "MACs/character", f"as.f3.right.fixed.{S}")
        )
        shares = {
            "feed-forward": feed_forward_share(**sizes),
            "attention layers": attention_share(**sizes),
            "scores and values": score_and_value_share(**sizes),
        }
        if S >= MEAN_SPAN:
            shares[f"saved at mean span {MEAN_SPAN}"] = saving(**SMALL, S=MEAN_SPAN, fixed=S)
        cells += [
            analytic(label, name, 100 * share, "%", CLAIMS.get((S, name)))
            for name, share in shares.items()
        ]
    return make_table(cells)
