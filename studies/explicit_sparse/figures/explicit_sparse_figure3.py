"""Explicit Sparse Transformer, Figure 3: BLEU against the number of keys that top-k keeps."""

import math

import pandas as pd

from workflow.claims.published import find
from workflow.report.figures.colours import COLOURS, GREY, shades
from workflow.report.figures.marks import shows
from workflow.report.figures.style import (
    bars_of,
    canvas,
    draw_message,
    draw_points,
    set_powers,
    share_legend,
)
from workflow.report.tables.cells import pick, summarise
from workflow.results.datasets import with_badge

READS = ("runs",)
TITLE = "BLEU by number of kept keys k (Explicit Sparse Transformer, Figure 3)"
CAPTION = (
    "Dev BLEU by number of kept keys k, mean over seeds with 95 % CI; k = ∞ is softmax over all "
    "keys."
)
NOTES = (
    "The paper prints no numbers for its curve on En-Vi, but names the values of k. Its Table 5 "
    "has two BLEU scores on the same set: softmax, and top-k (with k = 8, we infer). It recommends "
    "8 and calls 16 the exception. Comparable: whether BLEU rises to some k and then falls. Not "
    "comparable: BLEU itself, and k where our sentences are shorter."
)
AXIS = "est.f3.k_axis"
# k -> id of the dev BLEU on En-Vi that its Table 5 prints
PRINTED = {8.0: "est.t5.tp", math.inf: "est.t5.base"}


def used(runs: pd.DataFrame) -> pd.DataFrame:
    return pick(runs, question="translation_k")


def data(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each dataset and measured k, and for each k of the paper.

    k: infinite where every key is kept. published: the id of a printed value.
    """
    runs = with_badge(used(runs))
    with_softmax = runs.assign(k=runs["k"].fillna(math.inf))
    measured = summarise(with_softmax, ["text", "k"], "dev_bleu_tokenised")
    rows = measured.assign(source="measured").to_dict("records")
    for k in find(AXIS).value:
        key = PRINTED.get(float(k), AXIS)
        mean = None if key == AXIS else find(key).number
        rows.append({"source": "published", "k": float(k), "published": key, "mean": mean})
    return pd.DataFrame(rows, columns=["source", *measured.columns, "published"])


def draw(data: pd.DataFrame):
    measured = data[(data["source"] == "measured") & data["mean"].notna()]
    if not len(measured):
        return draw_message("no run of this figure finished")
    figure, (ours, theirs) = canvas(2, height=2.8)
    texts = measured.groupby("text")
    end = _set_axis(ours, measured["k"])
    for colour, (text, points) in zip(shades(len(texts)), texts, strict=True):
        points = points.assign(x=points["k"].clip(upper=end))
        _draw_direction(ours, points, colour, text)
    ours.set_ylabel("dev BLEU")
    share_legend(figure)
    _draw_published(theirs, data[data["source"] == "published"])
    return figure


def _set_axis(axes, k: pd.Series) -> float:
    """Make the x axis a scale of powers of two that ends at infinity; return the place of that."""
    finite = [each for each in k if math.isfinite(each)]
    end = max(finite) * 2 if finite else 2.0
    ticks = sorted(set(k.clip(upper=end)))
    set_powers(axes.xaxis, {each: "∞" if each == end else f"{each:.0f}" for each in ticks})
    # beyond it the scale has no meaning
    axes.axvline(end / math.sqrt(2), color=GREY, linewidth=0.8, linestyle=":")
    axes.set_xlabel("kept keys k")
    return end


def _draw_published(axes, published: pd.DataFrame) -> None:
    """Draw the k of the paper's curve, and the BLEU that its Table 5 prints for two of them."""
    end = _set_axis(axes, published["k"])
    grey = {"color": COLOURS["published"], "marker": "D", "markersize": 6, "linestyle": "none"}
    printed = published.dropna(subset=["mean"])
    shows(axes.plot(printed["k"].clip(upper=end), printed["mean"], **grey), printed.index)
    for row in printed.itertuples():
        axes.annotate(
            f"{row.mean:g}",
            (min(row.k, end), row.mean),
            (0, 8),
            textcoords="offset points",
            ha="center",
        )
    axes.set_xlim(min(published["k"]) / 1.5, end * 1.5)
    axes.margins(y=0.5)
    axes.set_title("the paper, En-Vi (Table 5)", color=GREY)


def _draw_direction(axes, points: pd.DataFrame, colour: str, label: str) -> None:
    """Draw a line through the k of top-k; softmax is a single point at infinity."""
    is_top_k = points["k"] < math.inf
    _draw_line(axes, points[is_top_k], "o-", colour, f"{label}, top-k")
    _draw_line(axes, points[~is_top_k], "s", colour, f"{label}, softmax")


def _draw_line(axes, points: pd.DataFrame, marks: str, colour: str, label: str) -> None:
    line = points.sort_values("k")
    bars = bars_of(line)
    style = {"fmt": marks, "markersize": 5, "capsize": 4, "color": colour, "label": label}
    shows(axes.errorbar(line["x"], line["mean"], bars, **style), line.index)
    draw_points(axes, line, "x", colour)
