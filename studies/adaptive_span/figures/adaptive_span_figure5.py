"""Adaptive Attention Span, Figure 5: a dynamic span along a passage, character by character."""

import pandas as pd

from workflow.report.figures.colours import COLOURS, GREY
from workflow.report.figures.style import canvas, draw_message, pick_holding
from workflow.report.tables.cells import pick
from workflow.results.trained_enough import hardly_moved

READS = ("runs",)
TITLE = "Dynamic span along a passage (Adaptive Attention Span, Figure 5)"
CAPTION = (
    "Mean dynamic span for each character of a passage. Triangles mark the first letter of each "
    "word."
)
NOTES = "Mean over layers and heads. Dev set, one seed."
LINE = 32  # characters
BLANKS = ("<eos>", " ", "\n", "\t")
SIGNS = {"<eos>": "↵", " ": "␣"}


def used(runs: pd.DataFrame) -> pd.DataFrame:
    dynamic = pick(runs, question="dynamic_span", variant="dynamic", status="ok")
    return pick_holding(dynamic[~hardly_moved(dynamic)], "fragment").head(1)


def data(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the mean span at each character. starts: whether a word starts there."""
    fragment = next(iter(used(runs)["fragment"]), None)
    if fragment is None:
        return pd.DataFrame(columns=["place", "character", "span", "starts"])
    characters = fragment["text"]
    rows = pd.DataFrame(
        {"place": range(len(characters)), "character": characters, "span": fragment["span"]}
    )
    blank = rows["character"].isin(BLANKS)
    return rows.assign(starts=~blank & blank.shift(fill_value=False))


def draw(data: pd.DataFrame):
    if not len(data):
        return draw_message("no finished run has a dynamic span that moved from its initial value")
    lines = [data.iloc[start : start + LINE] for start in range(0, len(data), LINE)]
    figure, axes = canvas(rows=len(lines), height=1.7, sharey=True, squeeze=False)
    for panel, line in zip(axes[:, 0], lines, strict=True):
        panel.step(line["place"], line["span"], where="mid", color=COLOURS["dynamic"])
        starts = line[line["starts"]]["place"]
        above = [1.06] * len(starts)  # just above the axes
        panel.plot(
            starts,
            above,
            "v",
            color=GREY,
            markersize=5,
            transform=panel.get_xaxis_transform(),
            clip_on=False,
        )
        signs = [SIGNS.get(character, character) for character in line["character"]]
        panel.set_xticks(line["place"], signs, family="DejaVu Sans Mono")
        first = line["place"].iloc[0]
        panel.set_xlim(first - 0.7, first + LINE - 0.3)
        panel.tick_params(axis="x", length=0)
        panel.grid(axis="x", visible=False)
        panel.set_ylabel("mean span")
    return figure
