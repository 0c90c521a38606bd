"""The weight that the highest of n scores keeps as n grows, by formula."""

import pandas as pd

from studies.long_context.formulas import entmax15_weight, softmax_weight, ssmax_weight
from workflow.report.figures.colours import COLOURS
from workflow.report.figures.marks import shows
from workflow.report.figures.style import DASHES, canvas, set_powers, share_legend

READS = ()
TITLE = "The weight of the highest score as keys are added"
CAPTION = (
    "One score exceeds all others by a gap, and the query sees n keys. Softmax spreads its weight "
    "over the others; SSMax and entmax-1.5 need not."
)
NOTES = (
    "SSMax multiplies scores by s log n, here with s = 0.43 (Nakanishi 2025, Figure 1, has a gap "
    "of 5). It keeps the key where s times the gap is above 1. From a gap of 2 upwards, entmax-1.5 "
    "gives the other keys zero weight. By formula, without training."
)
GAPS = (1.0, 2.5, 5.0)
KEYS = tuple(2**power for power in range(1, 17))
S = 0.43  # of SSMax
LINES = {
    "softmax": (COLOURS["fixed"], softmax_weight),
    "SSMax": (COLOURS["dynamic"], lambda n, gap: ssmax_weight(n, gap, S)),
    "entmax-1.5": (COLOURS["entmax15"], entmax15_weight),
}


def data() -> pd.DataFrame:
    """Compute the weight for each gap, function and number of keys."""
    rows = []
    for gap in GAPS:
        for name, (_, weight) in LINES.items():
            for n in KEYS:
                rows.append({"gap": gap, "line": name, "n": n, "weight": weight(n, gap)})
    return pd.DataFrame(rows)


def draw(data: pd.DataFrame):
    figure, every = canvas(len(GAPS), width=2.6, height=2.6, sharey=True)
    for axes, gap in zip(every, GAPS, strict=True):
        for dashes, (name, (colour, _)) in zip(DASHES, LINES.items(), strict=False):
            rows = data[(data["gap"] == gap) & (data["line"] == name)]
            line = axes.plot(rows["n"], rows["weight"], color=colour, ls=dashes, label=name)
            shows(line, rows.index)
        labels = {n: f"{n:,}" if n in (2, 256, 65536) else "" for n in KEYS}
        set_powers(axes.xaxis, labels)
        axes.set_title(f"gap {gap:g}")
        axes.set_xlabel("keys n")
        axes.set_ylim(-0.02, 1.04)
    every[0].set_ylabel("weight of the highest score")
    share_legend(figure)
    return figure
