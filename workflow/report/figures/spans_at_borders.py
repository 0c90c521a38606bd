"""The dynamic span where a topic changes, and within words: what it follows, and what it does not."""

import pandas as pd

from workflow.report.figures._colours import COLOURS, shades
from workflow.report.figures._style import canvas, draw_message
from workflow.report.tables._cells import pick

READS = ("runs", "topic_borders")
TITLE = "The dynamic span at the borders of topics"
CAPTION = (
    "Left: mean dynamic span at the blanks before and after a place where a topic changes, one line for each topic by "
    "its mean duration in characters; a slow topic changes seldom, so its line is less sure. Right: the same spans by "
    "place in a word, 0 the blank before it. Test text, all heads, layers and seeds, the largest S. A flat line says "
    "that the span takes no notice of a change."
)


def used(runs: pd.DataFrame) -> pd.DataFrame:
    dynamic = pick(runs, ablation="limit", variant="dynamic")
    return dynamic[dynamic["S"] == dynamic["S"].max()]


def data(runs: pd.DataFrame, topic_borders: pd.DataFrame) -> pd.DataFrame:
    """duration, low, high, borders, or place; span, mean over the nets; nets, how many."""
    rows = topic_borders[topic_borders["digest"].isin(used(runs)["digest"])]
    by = ["duration", "low", "high", "borders", "place"]
    grouped = rows.astype(dict.fromkeys((*by, "span"), float)).groupby(by, dropna=False)["span"]
    return grouped.agg(span="mean", nets="count").reset_index()


def draw(data: pd.DataFrame):
    if not data["span"].notna().any():
        return draw_message("no dynamic span over a text of topics has been measured")
    figure, (borders, words) = canvas(2, height=3.0, width_ratios=[1.5, 1], sharey=True)
    durations = sorted(data["duration"].dropna().unique())
    for duration, colour in zip(durations, shades(len(durations)), strict=True):
        line = data[data["duration"] == duration].sort_values("low")
        label = f"{duration:,.0f} characters ({line['borders'].iloc[0]:.0f} borders)"
        borders.plot((line["low"] + line["high"]) / 2, line["span"], color=colour, label=label, linewidth=1.2)
    borders.axvline(0, color=COLOURS["published"], linewidth=1)
    borders.set_xlabel("characters after a topic changed")
    borders.set_ylabel("mean span (characters)")
    borders.set_ylim(0, 1.1 * data["span"].max())  # from zero: noise must not look like an effect
    borders.legend(fontsize=7, title="topics that last", title_fontsize=7)
    places = data[data["place"].notna()].sort_values("place")
    words.plot(places["place"], places["span"], "o-", color=COLOURS["dynamic"], markersize=4)
    words.set_xticks(places["place"], [f"{place:.0f}" for place in places["place"]])
    words.set_xlabel("place in a word (0: the blank)")
    return figure
