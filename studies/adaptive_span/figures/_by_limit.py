"""Draw a part of Figure 3: one quantity by span limit S, of fixed and adaptive spans."""

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
    """Return the mean of `quantity` for each dataset, variant and S, of our runs and of the paper.

    points: ids of printed values, by variant and S. Columns of the result: text, the badge of the
    dataset, or `PUBLISHED`; unmoved, whether learned spans have hardly moved from their start;
    published, the id of a printed value.
    """
    runs = with_badge(used(runs))
    labels = dict(zip(runs["variant"], runs["label"], strict=True))
    measured = summarise(runs, ["text", "variant", "S"], quantity).assign(published=None)
    measured["label"] = measured["variant"].map(labels)
    rows = measured.to_dict("records")
    for variant, ids in points.items():
        for S, key in ids.items():
            published = {
                "text": PUBLISHED,
                "variant": variant,
                "label": labels.get(variant, variant),
                "S": S,
                "mean": find(key).number,
                "unmoved": False,
                "published": key,
            }
            rows.append(published)
    columns = measured.columns.drop(["text", "published"])
    return pd.DataFrame(rows, columns=["text", *columns, "published"])


def draw(data: pd.DataFrame, ylabel: str):
    """Draw a panel for each dataset, and a last one for the paper's values, each on its scale."""
    if not data[data["text"] != PUBLISHED]["mean"].notna().any():
        return draw_message("no run of this figure finished")
    panels = data.groupby("text", sort=False)
    figure, axes = canvas(len(panels), height=2.8)
    for panel, (text, points) in zip(axes, panels, strict=True):
        for variant in VARIANTS:
            line = points[points["variant"] == variant]
            if not len(line):
                continue
            name = line["label"].iloc[0]
            colour = COLOURS[variant]
            if text != PUBLISHED:
                draw_curve(panel, line, "S", colour, name)
            elif _are_by_formula(line):
                look = {"linestyle": "--", "marker": "s"}
                draw_curve(panel, line, "S", colour, f"{name} (by formula)", **look)
            else:
                look = {"linestyle": "none", "marker": "D", "markersize": 6}
                draw_curve(panel, line, "S", colour, f"{name} (the paper)", **look)
        set_span_axis(panel, points["S"])
        panel.set_title(fold(text), color=GREY if text == PUBLISHED else INK)
        if data["mean"].max() > 1000:
            set_count_ticks(panel.yaxis)
        panel.set_ylabel(ylabel)
    share_legend(figure)
    label_ends(figure)
    return figure


def _are_by_formula(points: pd.DataFrame) -> bool:
    """Say whether all of the paper's values follow from a formula, none being printed."""
    published = [find(key) for key in points["published"]]
    return all(value.kind == "analytic" and value.inferred for value in published)
