"""The learning curves of all runs in small multiples."""

import pandas as pd

from workflow.report.answers.look import Line, add_legend, drawn_axis, lines_of, panels
from workflow.report.answers.words import label
from workflow.report.figures._colours import GREY, INK, shades
from workflow.report.figures._style import draw_message, set_count_ticks
from workflow.results.runs_table import with_text

TOGETHER = 4  # so many configurations can be told apart in one panel
WIDE = 4  # panels in a row
START, ROOM = 0.15, 0.06  # the part of the updates that may be cut off on top; the room above and below the rest
DASHES = ("-", "--", ":", "-.")
COLUMNS = ["text", "variant", "S", "k", "digest", "step", "value"]


def data(runs: pd.DataFrame, unit: str) -> pd.DataFrame:
    """A row per point: the loss on dev of every run, failed ones as far as they got. unit: of the task's curve."""
    rows = [
        (run.text, run.variant, run.S, run.k, run.digest, point["step"], point[f"dev_{unit}"])
        for run in with_text(runs).itertuples()
        for point in run.curve
        if point.get(f"dev_{unit}") is not None
    ]
    return pd.DataFrame(rows, columns=COLUMNS).astype({"S": float, "k": float})


def draw(data: pd.DataFrame, title: str, scale: str):
    """A panel for each text where there are few variants, else for each variant, the first dotted behind it."""
    if not len(data):
        return draw_message("no run has left a learning curve")
    few = len(data[["variant", "S", "k"]].drop_duplicates()) <= TOGETHER
    figure, drawn = (_by_text if few else _by_variant)(data)
    for panel, rows in drawn:
        _scale(panel, rows, scale)
    figure.supylabel(f"{title}, dev", fontsize=8)
    figure.supxlabel("updates", fontsize=8)
    add_legend(figure, [panel for panel, _ in drawn])
    return figure


def _scale(panel, rows: pd.DataFrame, scale: str) -> None:
    """Without the first steep part, which would leave no room for what is of interest. rows: of the panel's text."""
    panel.set_yscale(scale)
    shown = rows.loc[rows["step"] >= START * rows["step"].max(), "value"]
    low, high = shown.min(), shown.max()
    if low < high:  # else there is one value, and matplotlib makes room around it
        log_room, room = (high / low) ** ROOM, ROOM * (high - low)
        panel.set_ylim(*((low / log_room, high * log_room) if scale == "log" else (low - room, high + room)))
    set_count_ticks(panel.yaxis, log=scale == "log")
    panel.locator_params(axis="x", nbins=4)
    set_count_ticks(panel.xaxis)
    panel.tick_params(labelsize=7)


def _by_text(data: pd.DataFrame):
    """The figure, and each panel with what is on its text."""
    groups, axis, lines = list(data.groupby("text", sort=False)), drawn_axis(data), lines_of(data, drawn_axis(data))
    figure, axes = panels(len(groups), 3, 2.4)
    for panel, (text, rows) in zip(axes, groups, strict=True):
        for number, line in enumerate(lines):
            _plot_places(panel, line, line.rows(rows, axis), axis, number)
        panel.set_title(text, fontsize=8, parse_math=False)
    return figure, [(panel, rows) for panel, (_, rows) in zip(axes, groups, strict=True)]


def _plot_places(panel, line: Line, rows: pd.DataFrame, axis: str | None, number: int) -> None:
    """A variant in its colour and its kind of line; where it has a grid, each place of it has its own kind."""
    places = [*iter(rows.groupby(axis or "variant", dropna=False))]
    for order, (place, runs) in enumerate(places):
        name = f"{line.name}, {axis} = {place:g}" if len(places) > 1 else line.name
        _plot_runs(panel, runs, line.colour, name, ls=DASHES[(order if len(places) > 1 else number) % len(DASHES)])


def _by_variant(data: pd.DataFrame):
    """The figure, and each panel with what is on its text."""
    texts, variants, axis = data["text"].nunique(), data["variant"].nunique(), drawn_axis(data)
    groups = list(data.groupby(["text", "variant"], sort=False))
    in_rows = texts > 1 and variants <= WIDE  # a row of panels for each text
    share = "row" if in_rows else texts == 1
    number = texts * variants if in_rows else len(groups)
    figure, axes = panels(number, variants if in_rows else WIDE, 1.5 if number > 6 else 2.2, sharex=share, sharey=share)
    values = sorted(data[axis].dropna().unique()) if axis else []
    colours = dict(zip(values, shades(len(values)), strict=True))
    for value, colour in colours.items():
        axes[0].plot([], [], color=colour, label=f"{axis} = {value:g}")  # so that the legend has them in order
    drawn = []
    for panel, ((text, variant), rows) in zip(axes, groups, strict=False):
        same_text = data[data["text"] == text]
        _plot_variant(panel, rows, same_text, axis, colours)
        title = f"{label(variant)}\n{text}".replace(" for ", "\nfor ") if texts > 1 else label(variant)
        panel.set_title(title, fontsize=7 if texts > 1 else 8, parse_math=False)
        drawn.append((panel, same_text))
    return figure, drawn


def _plot_variant(panel, rows: pd.DataFrame, same_text: pd.DataFrame, axis: str | None, colours: dict) -> None:
    first = same_text["variant"].iloc[0]
    behind = same_text[same_text["variant"] == first]
    if rows["variant"].iloc[0] != first and not (axis and behind[axis].nunique() > 1):  # a grid is compared by colour
        _plot_runs(panel, behind, GREY, f"{label(first)}, behind the others", ls=":")
    for place, runs in rows.groupby(axis or "variant", dropna=False):
        name = f"{axis} = {place:g}" if place in colours else "the variant, each seed"
        _plot_runs(panel, runs, colours.get(place, INK), name)


def _plot_runs(panel, runs: pd.DataFrame, colour: str, name: str, ls: str = "-") -> None:
    for _, curve in runs.groupby("digest", sort=False):
        panel.plot(curve["step"], curve["value"], lw=1.0, ls=ls, alpha=0.8, color=colour, label=name)
