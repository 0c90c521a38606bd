"""The learning curves of all configurations in small multiples."""

import pandas as pd
from matplotlib.ticker import MaxNLocator

from workflow.report.answers.lines import Line, drawn_axis, lines_of, panels, texts_of
from workflow.report.figures.colours import GREY, INK, as_named, shades
from workflow.report.figures.marks import shows
from workflow.report.figures.style import (
    DASHES,
    SMALL,
    draw_curve,
    draw_message,
    fold,
    label_ends,
    set_count_ticks,
    set_log,
    share_legend,
)
from workflow.report.tables.cells import name_runs
from workflow.results.datasets import with_badge
from workflow.results.numbers import is_number
from workflow.results.statistics import FEWEST, POSITIVE, over_seeds

PART_OF_DEV = (
    "During training, a model may be evaluated on part of dev; tables may average its last checkpoints. So the last "
    "point can differ from the score in a table."
)
TOGETHER = 4  # so many configurations can be told apart in one panel
WIDE = 4  # small panels in a row of the file
TITLE, LINE = 1.5, 0.15  # inches of width of a title of a small panel; inches of a line of a title
# the part of the updates that may be cut off on top; the room above and below the rest
START, ROOM = 0.15, 0.06
PLACE = ["text", "variant", "colour", "S", "k"]
COLUMNS = [*PLACE, "line", "step", "mean", "low", "high", "runs"]


def data(runs: pd.DataFrame, unit: str) -> pd.DataFrame:
    """Make a row per point that is drawn: the loss on dev, the mean of the seeds that ended, with
    its interval.

    Where they are few, each seed has a line of its own, and so have failed runs, as far as they
    got. line: `mean` or a digest. unit: of the task's curve.
    """
    points = [
        (
            run.text,
            run.variant,
            run.colour,
            run.S,
            run.k,
            run.digest,
            point["step"],
            point[f"dev_{unit}"],
        )
        for run in with_badge(as_named(runs))[[*PLACE, "digest", "curve"]].itertuples()
        for point in run.curve
        if is_number(point.get(f"dev_{unit}"))
    ]
    points = pd.DataFrame(points, columns=[*PLACE, "digest", "step", "value"]).astype(
        {"S": float, "k": float}
    )
    rows = []
    for key, mine in points.groupby(PLACE, dropna=False, sort=False):
        ended = mine.groupby("digest")["step"].transform("max") == mine["step"].max()
        line = (
            mine["digest"].mask(ended, "mean")
            if mine.loc[ended, "digest"].nunique() >= FEWEST
            else mine["digest"]
        )
        for (name, step), at in mine.groupby([line, "step"], sort=False):
            seeds = over_seeds(at["value"].tolist(), bounds=POSITIVE)
            rows.append(
                (
                    *key,
                    name,
                    step,
                    seeds["value"],
                    seeds["low"],
                    seeds["high"],
                    name_runs(at, "value"),
                )
            )
    return pd.DataFrame(rows, columns=COLUMNS).astype(
        dict.fromkeys(("S", "k", "mean", "low", "high"), float)
    )


def draw(data: pd.DataFrame, title: str, scale: str):
    """Draw a panel for each text where variants are few, else for each line, with the first variant
    dotted over it.
    """
    if not len(data):
        return draw_message("no run has left a learning curve")
    few = len(data[["variant", "S", "k"]].drop_duplicates()) <= TOGETHER
    figure, drawn = (_by_text if few else _by_line)(data)
    for panel, rows in drawn:
        _scale(panel, rows, scale, 3 if few else 2)
        panel.set_xlabel("updates")
        panel.set_ylabel(f"dev {title}")
    share_legend(figure)
    if few:
        label_ends(figure)
    return figure


def _scale(panel, rows: pd.DataFrame, scale: str, ticks: int) -> None:
    """Cut off the first steep part of the curves, which would leave no room for the rest. rows: of
    the panel's text.
    """
    shown = rows.loc[rows["step"] >= START * rows["step"].max(), "mean"]
    low, high = shown.min(), shown.max()
    if low < high:  # else there is one value, and matplotlib makes room around it
        log_room, room = (high / low) ** ROOM, ROOM * (high - low)
        panel.set_ylim(
            *((low / log_room, high * log_room) if scale == "log" else (low - room, high + room))
        )
    if scale == "log":
        set_log(panel.yaxis)
    else:
        panel.yaxis.set_major_locator(MaxNLocator(5, min_n_ticks=3))
        set_count_ticks(panel.yaxis)
    panel.locator_params(axis="x", nbins=ticks)
    set_count_ticks(panel.xaxis)


def _by_text(data: pd.DataFrame):
    """Make the figure and list each panel with the rows of its text."""
    groups, axis, lines = (
        list(data.groupby("text", sort=False)),
        drawn_axis(data),
        lines_of(data, drawn_axis(data)),
    )
    figure, axes = panels(len(groups), 2, 2.6)
    for panel, (text, rows) in zip(axes, groups, strict=True):
        for number, line in enumerate(lines):
            _plot_places(panel, line, line.rows(rows, axis), axis, number)
        panel.set_title(fold(text), parse_math=False)
    return figure, [(panel, rows) for panel, (_, rows) in zip(axes, groups, strict=True)]


def _plot_places(panel, line: Line, rows: pd.DataFrame, axis: str | None, number: int) -> None:
    """Draw a variant in its colour and kind of line; where it has a grid, each place has its own
    kind of line.
    """
    places = [*iter(rows.groupby(axis or "variant", dropna=False))]
    for order, (place, runs) in enumerate(places):
        name = f"{line.name}, {axis} = {place:g}" if len(places) > 1 else line.name
        kind = DASHES[(order if len(places) > 1 else number) % len(DASHES)]
        _plot_runs(panel, runs, line.colour, kind, name)


def _by_line(data: pd.DataFrame):
    """Make a panel for each line on each text, and list each with the rows of its text, which set
    its scale.
    """
    texts, axis = dict(iter(texts_of(data))), drawn_axis(data)
    lines = lines_of(data, axis)
    groups = [
        (text, each.name, each.rows(rows, axis)) for text, rows in texts.items() for each in lines
    ]
    groups = [group for group in groups if len(group[-1])]
    names = [[name, text][: min(2, len(texts))] for text, name, _ in groups]
    titles = ["\n".join(fold(line, TITLE) for line in name) for name in names]
    height = 2.3 + LINE * max(title.count("\n") for title in titles)
    figure, axes = panels(len(groups), WIDE, height, width=SMALL)
    styles = _styles(data, axis)
    for style in styles.values():
        axes[0].plot([], [], **style)  # so that the legend has them in order
    for panel, title, (text, _, rows) in zip(axes, titles, groups, strict=True):
        _plot_variant(panel, rows, texts[text], axis, styles)
        panel.set_title(title, parse_math=False)
    return figure, [(panel, texts[text]) for panel, (text, *_) in zip(axes, groups, strict=True)]


def _styles(data: pd.DataFrame, axis: str | None) -> dict[float, dict]:
    """Choose the colour, kind of line and label of each place on the grid."""
    values = sorted(data[axis].dropna().unique()) if axis else []
    return {
        value: {"color": colour, "ls": DASHES[order % len(DASHES)], "label": f"{axis} = {value:g}"}
        for order, (value, colour) in enumerate(zip(values, shades(len(values)), strict=True))
    }


def _plot_variant(
    panel, rows: pd.DataFrame, same_text: pd.DataFrame, axis: str | None, styles: dict
) -> None:
    first = same_text["variant"].iloc[0]
    compared = same_text[same_text["variant"] == first]
    for place, runs in rows.groupby(axis or "variant", dropna=False):
        _plot_runs(
            panel, runs, **styles.get(place, {"color": INK, "ls": "-", "label": "this variant"})
        )
    # a grid is compared by colour
    if rows["variant"].iloc[0] != first and not (axis and compared[axis].nunique() > 1):
        _plot_runs(panel, compared, color=GREY, ls=":", label=first)


def _plot_runs(panel, runs: pd.DataFrame, color: str, ls: str, label: str) -> None:
    for (*_, name), curve in runs.groupby(["S", "k", "line"], sort=False, dropna=False):
        if name == "mean":
            draw_curve(panel, curve, "step", color, label, marker="", ls=ls, lw=1.2)
        else:
            line = panel.plot(
                curve["step"], curve["mean"], lw=0.8, alpha=0.8, color=color, ls=ls, label=label
            )
            shows(line, curve.index)
