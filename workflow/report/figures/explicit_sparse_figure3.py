"""Explicit Sparse Transformer, Figure 3: BLEU against the number of keys that top-k keeps."""

import math

import pandas as pd

from workflow.papers.published import find
from workflow.report.figures._colours import COLOURS, GREY, shades
from workflow.report.figures._style import canvas, draw_message
from workflow.report.tables._cells import pick, summarise
from workflow.results.statistics import half_width

READS = ("runs",)
TITLE = "BLEU by number of kept keys k (Explicit Sparse Transformer, Figure 3)"
CAPTION = (
    "Dev BLEU of tokens, means over seeds with 95 % intervals; k = ∞ is softmax over every key. Grey "
    "marks on the axis: the k of the paper's figure, whose BLEU it only draws; its text recommends 8 and calls 16 the "
    "exception on En-Vi. Comparable: whether BLEU rises to a k and falls after it. Not comparable: BLEU, and k itself "
    "where our sentences are shorter than the paper's."
)
DIRECTIONS = {"iwslt15-envi": "En-Vi", "iwslt14-deen": "De-En", "wmt14-ende": "En-De"}
AXIS = "est.f3.k_axis"


def used(runs: pd.DataFrame) -> pd.DataFrame:
    return pick(runs, ablation="translation_k")


def data(runs: pd.DataFrame) -> pd.DataFrame:
    """source, paper_corpus, k (inf: every key), mean, low, high, n, failed, published (the id of the paper's k)."""
    runs = used(runs)
    measured = summarise(runs.assign(k=runs["k"].fillna(math.inf)), ["paper_corpus", "k"], "dev_bleu_tokenised")
    published = [{"source": "published", "k": float(k), "published": AXIS} for k in find(AXIS).value]
    rows = measured.assign(source="measured").to_dict("records") + published
    return pd.DataFrame(rows, columns=["source", *measured.columns, "published"])


def draw(data: pd.DataFrame):
    measured = data[(data["source"] == "measured") & data["mean"].notna()]
    if not len(measured):
        return draw_message("no run of this figure has ended well")
    end = max(k for k in data["k"] if math.isfinite(k)) * 2  # where the axis has its infinity
    figure, axes = canvas()
    corpora = measured.groupby("paper_corpus")
    for colour, (paper_corpus, points) in zip(shades(len(corpora)), corpora, strict=True):
        points = points.assign(x=points["k"].clip(upper=end))
        _draw_direction(axes, points, colour, DIRECTIONS.get(paper_corpus, paper_corpus))
    published = data[data["source"] == "published"]["k"].clip(upper=end)
    grey = {"color": COLOURS["published"], "marker": "D", "markersize": 6, "linestyle": "none", "clip_on": False}
    axes.plot(published, [0] * len(published), transform=axes.get_xaxis_transform(), label="k in the paper", **grey)
    axes.set_xscale("log", base=2)
    ticks = sorted(set(data["k"].clip(upper=end)))
    axes.set_xticks(ticks, ["∞" if k == end else f"{k:.0f}" for k in ticks])
    axes.minorticks_off()
    axes.tick_params(axis="x", pad=8)
    axes.axvline(end / math.sqrt(2), color=GREY, linewidth=0.8, linestyle=":")  # beyond it the scale has no meaning
    axes.set_xlabel("kept keys k")
    axes.set_ylabel("dev BLEU")
    axes.legend()
    return figure


def _draw_direction(axes, points: pd.DataFrame, colour: str, label: str) -> None:
    """A line through the k; softmax stands alone at infinity, its mean as a dashed line to compare with."""
    for chosen, style, name in ((points["k"] < math.inf, "-", label), (points["k"] == math.inf, "none", None)):
        line = points[chosen].sort_values("k")
        half = half_width(line["low"].astype(float), line["high"].astype(float))
        marks = {"marker": "o", "markersize": 5, "capsize": 4, "linestyle": style}
        axes.errorbar(line["x"], line["mean"], half, color=colour, label=name, **marks)
    for mean in points[points["k"] == math.inf]["mean"]:
        axes.axhline(mean, color=colour, linewidth=0.8, linestyle="--", label=f"{label}, softmax")
