"""The dynamic span within words and at changes of topic."""

import pandas as pd

from workflow.report.figures.colours import COLOURS, GREY
from workflow.report.figures.marks import shows
from workflow.report.figures.style import canvas, draw_message, fold, share_legend
from workflow.report.tables.cells import pick
from workflow.results.trained_enough import hardly_moved

READS = ("runs", "topic_borders")
TITLE = "Dynamic span within words and at topic changes"
CAPTION = (
    "Mean dynamic span by position in a word, where 0 is the space before it. The grey band is the "
    "span near a change of topic."
)
NOTES = (
    "Test set, all heads, layers and seeds, the largest S. The band covers the mean spans at all "
    "spaces near a change of topic, at every distance and topic length."
)
NOTICED = 0.05  # share of the span: a change of topic that moves it by less goes unnoticed


def used(runs: pd.DataFrame) -> pd.DataFrame:
    dynamic = pick(runs, question="known_entropy", variant="dynamic")
    dynamic = dynamic[dynamic["S"] == dynamic["S"].max()]
    return dynamic[~hardly_moved(dynamic)]


def data(runs: pd.DataFrame, topic_borders: pd.DataFrame) -> pd.DataFrame:
    """Return the mean span over models near borders (duration, low, high) and by place in a word.

    nets: how many models.
    """
    rows = topic_borders[topic_borders["digest"].isin(used(runs)["digest"])]
    by = ["duration", "low", "high", "borders", "place"]
    grouped = rows.astype(dict.fromkeys((*by, "span"), float)).groupby(by, dropna=False)["span"]
    return grouped.agg(span="mean", nets="count").reset_index()


def draw(data: pd.DataFrame):
    words = data[data["place"].notna()].sort_values("place")
    if not words["span"].notna().any():
        return draw_message(
            "no dynamic span that moved from its initial value was measured on synthetic topics"
        )
    figure, axes = canvas(height=2.8)
    line = axes.plot(words["place"], words["span"], "o-", color=COLOURS["dynamic"], markersize=4)
    shows(line, words.index)
    axes.set_xticks(words["place"], [f"{place:.0f}" for place in words["place"]])
    axes.set_ylim(0, 1.1 * words["span"].max())
    axes.set_xlabel("position in a word (0: the space)")
    axes.set_ylabel("mean span (characters)")
    borders = spans_at(data)
    if len(borders):
        axes.axhspan(
            borders.min(),
            borders.max(),
            color=GREY,
            alpha=0.5,
            label="spaces near a change of topic",
        )
        axes.set_title(fold(say_borders(borders)))
        share_legend(figure)
    return figure


def spans_at(data: pd.DataFrame) -> pd.Series:
    """Return the mean spans near the borders of topics, in characters."""
    return data[data["duration"].notna()]["span"].dropna()


def say_borders(spans: pd.Series) -> str:
    """Say in a sentence whether the span reacts to a change of topic."""
    low = spans.min()
    high = spans.max()
    said = "reacts" if high - low > NOTICED * high else "does not react"
    return (
        f"The span {said} to a change of topic: {low:.0f} to {high:.0f} characters at nearby spaces"
    )
