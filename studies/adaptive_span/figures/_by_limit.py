"""What the three parts of Figure 3 share: one quantity against the span limit S, of fixed and
adaptive spans.
"""

import pandas as pd

from workflow.claims.published import find
from workflow.report.figures.colours import COLOURS, GREY, INK
from workflow.report.figures.style import (
    canvas,
    draw_curve,
    draw_message,
    fold,
    label_ends,
    set_count_ticks,
    set_span_axis,
    share_legend,
)
from workflow.report.tables.cells import pick, summarise
from workflow.results.datasets import with_badge

VARIANTS = ("fixed", "adaptive")
SPANS = (256, 512, 1024, 2048, 4096, 8192)
PUBLISHED = "the paper's model"


def used(runs: pd.DataFrame) -> pd.DataFrame:
    return pick(runs, question="span_limit")


def data(runs: pd.DataFrame, quantity: str, points: dict[str, dict[int, str]]) -> pd.DataFrame:
    """Return a row for each text, variant and S, of our runs and of the paper: the mean of
    `quantity` over seeds.

    text: the badge of the text read, or `PUBLISHED`. unmoved: whether learned spans have hardly
    moved from their start.
    published: the id of a printed value. points: variant -> S -> id.
    """
    runs = with_badge(used(runs))
    labels = dict(zip(runs["variant"], runs["label"], strict=True))
    measured = summarise(runs, ["text", "variant", "S"], quantity).assign(published=None)
    measured["label"] = measured["variant"].map(labels)
    published = [
        {"text": PUBLISHED, "variant": variant, "S": S, "mean": find(key).value, "published": key}
        | {"label": labels.get(variant, variant), "unmoved": False}
        for variant, ids in points.items()
        for S, key in ids.items()
    ]
    rows = measured.to_dict("records") + published
    return pd.DataFrame(
        rows, columns=["text", *measured.columns.drop(["text", "published"]), "published"]
    )


def draw(data: pd.DataFrame, ylabel: str):
    """Draw a panel for each text, and a last one for the paper's own values, each on its own
    scale.
    """
    if not data[data["text"] != PUBLISHED]["mean"].notna().any():
        return draw_message("no run of this figure finished")
    panels = data.groupby("text", sort=False)
    figure, axes = canvas(len(panels), height=2.8)
    for panel, (text, points) in zip(axes, panels, strict=True):
        for variant in VARIANTS:
            line = points[points["variant"] == variant]
            if len(line):
                style = _style(line) if text == PUBLISHED else {"suffix": ""}
                name = line["label"].iloc[0] + style.pop("suffix")
                draw_curve(panel, line, "S", COLOURS[variant], name, **style)
        set_span_axis(panel, points["S"])
        panel.set_title(fold(text), color=GREY if text == PUBLISHED else INK)
        if data["mean"].max() > 1000:
            set_count_ticks(panel.yaxis)
        panel.set_ylabel(ylabel)
    share_legend(figure)
    label_ends(figure)
    return figure


def _style(points: pd.DataFrame) -> dict:
    """Choose a dashed line for values that all follow from a formula, single marks for values that
    the paper prints.
    """
    if all(find(key).kind == "analytic" and find(key).inferred for key in points["published"]):
        return {"suffix": " (by formula)", "linestyle": "--", "marker": "s"}
    return {"suffix": " (the paper)", "linestyle": "none", "marker": "D", "markersize": 6}
