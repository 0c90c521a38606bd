"""Adaptive Attention Span, Figure 1: two heads of one model that attend differently."""

import numpy as np
import pandas as pd

from workflow.report.figures.colours import shades
from workflow.report.figures.marks import shows
from workflow.report.figures.style import canvas, draw_message, pick_holding, set_log, share_legend
from workflow.report.tables.cells import pick

READS = ("runs",)
TITLE = "Attention of two heads by distance (Adaptive Attention Span, Figure 1)"
CAPTION = (
    "Mean attention weight by distance, for the heads with the shortest and the longest mean "
    "distance."
)
NOTES = "One model with a fixed span, on the dev set; one seed."


def used(runs: pd.DataFrame) -> pd.DataFrame:
    """Pick one run with the longest fixed span."""
    fixed = pick(runs, question="span_limit", variant="fixed", status="ok")
    holding = pick_holding(fixed, "attention_by_distance")
    order = ["S", "paper_corpus", "seed"]
    return holding.sort_values(order, ascending=[False, True, True]).head(1)


def data(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the mean weight of each of the two heads (`head`, a label) by distance."""
    profile = next(iter(used(runs)["attention_by_distance"]), None)
    if profile is None:
        return pd.DataFrame(columns=["head", "distance", "weight"])
    distance = np.array(profile["distance"])  # D, of bins
    weight = np.array(profile["weight"])  # layer, head, D: of one key
    mass = weight * np.array(profile["keys"])  # of all keys of a bin
    mean_distance = (mass * distance).sum(-1) / mass.sum(-1)  # layer, head
    shown = {"A: nearest": mean_distance.argmin(), "B: farthest": mean_distance.argmax()}
    rows = []
    for name, place in shown.items():
        layer, head = np.unravel_index(place, mean_distance.shape)
        label = f"head {name} (layer {layer + 1}, head {head + 1})"
        for x, w in zip(distance, weight[layer, head], strict=True):
            rows.append({"head": label, "distance": x, "weight": w})
    return pd.DataFrame(rows)


def draw(data: pd.DataFrame):
    if not len(data):
        return draw_message("no run with a fixed span finished")
    figure, axes = canvas()
    for colour, (label, head) in zip(shades(2), data.groupby("head"), strict=True):
        weight = head["weight"].clip(lower=1e-6)  # on a logarithmic axis there is no 0
        line = axes.plot(head["distance"], weight, color=colour, label=label)
        shows(line, head.index)
    set_log(axes.xaxis)
    set_log(axes.yaxis)
    axes.set_xlabel("distance of the past character")
    axes.set_ylabel("mean attention weight")
    share_legend(figure)
    return figure
