"""Cost beside quality: a point per configuration, for the costs that were measured and that differ."""

import pandas as pd

from workflow.report.answers.effect_figure import data as scores_of
from workflow.report.answers.look import LEGEND, Line, add_legend, drawn_axis, lines_of, name_score, panels
from workflow.report.figures._colours import INK
from workflow.report.figures._style import fold, set_count_ticks, set_log, thin_names
from workflow.report.figures._variants import as_named
from workflow.report.texts import with_badge
from workflow.results.registry import REGISTRY

COSTS = ("macs_executed", "train_tokens_per_s")
FEWEST = 3  # configurations on a text: of fewer the table says all that there is to see
DIFFERS = 1.02  # the largest over the smallest, below which there is nothing to see
OFFSETS = (5, 4), (5, -10), (-16, 4)  # of names from their points, in points
FAR = 3  # the same, from which on a logarithmic axis has ticks enough


def data(runs: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """The scores with each cost that differs between configurations; no row where none does, none was measured, or
    configurations are few."""
    runs = as_named(runs)
    scores = scores_of(runs, quantity)
    finished = with_badge(runs[runs["status"] == "ok"])
    keys, kept = ["text", "variant", "S", "k"], []
    for cost in (name for name in COSTS if name in runs):
        means = finished.groupby(keys, dropna=False, sort=False)[cost].mean().dropna().rename(cost).reset_index()
        on_texts = means.groupby("text")[cost]
        if (on_texts.max() > DIFFERS * on_texts.min()).any():
            scores, kept = scores.merge(means.astype({"S": float, "k": float}), on=keys, how="left"), [*kept, cost]
    enough = len(scores) and scores.groupby("text").size().max() >= FEWEST
    return scores if kept and enough else scores.head(0)


def draw(data: pd.DataFrame, quantity: str, title: str, names: dict[str, str]):
    """Costs side by side, texts one below the other."""
    costs, texts = [cost for cost in COSTS if cost in data], list(data.groupby("text", sort=False))
    figure, axes = panels(len(costs) * len(texts), len(costs), 2.8)
    axis, places = drawn_axis(data), iter(axes)
    lines = lines_of(data, axis)
    for text, rows in texts:
        for cost in costs:
            panel, points = next(places), rows.dropna(subset=[cost])
            _draw_points(panel, lines, points, cost, axis)
            if len(lines) > LEGEND:
                _name_best(panel, points, cost, quantity)
            panel.set_xlabel(f"{names.get(cost, REGISTRY[cost].title)}\n({_better(cost)} is better)", fontsize=8)
            panel.set_ylabel(name_score(quantity, title), fontsize=8)
            panel.set_title(fold(text, min(len(costs), len(axes))), fontsize=9, parse_math=False)
    if len(lines) <= LEGEND:
        add_legend(figure, axes)
    thin_names(figure)
    return figure


def _better(cost: str) -> str:
    return "less" if REGISTRY[cost].better == "lower" else "more"


def _draw_points(panel, lines: list[Line], rows: pd.DataFrame, cost: str, axis: str | None) -> None:
    """Places of a grid are joined, and each named by its S or k."""
    for number, line in enumerate(lines):
        mine = line.rows(rows, axis).sort_values(axis or "mean")
        colour = line.colour if len(lines) <= LEGEND else INK
        bars = (mine["high"] - mine["mean"]).fillna(0)
        style = {"marker": line.mark if len(lines) <= LEGEND else "o", "mec": INK, "mew": 0.4, "elinewidth": 0.9}
        panel.errorbar(mine[cost], mine["mean"], bars, label=line.name, ms=6, lw=0.9, alpha=0.7, color=colour, **style)
        for row in mine.itertuples() if len(mine) > 1 else ():
            _name(panel, f"{getattr(row, axis):g}", row, cost, OFFSETS[number % len(OFFSETS)])
    far_apart = rows[cost].max() > FAR * rows[cost].min()
    panel.margins(x=0.12, y=0.12)
    (set_log if far_apart else set_count_ticks)(panel.xaxis)
    panel.tick_params(labelsize=8)


def _name(panel, text: str, row, cost: str, offset: tuple = OFFSETS[0], ha: str = "left") -> None:
    place = (getattr(row, cost), row.mean)
    panel.annotate(text, place, offset, textcoords="offset points", fontsize=7, color=INK, parse_math=False, ha=ha)


def _name_best(panel, rows: pd.DataFrame, cost: str, quantity: str) -> None:
    """Where there are too many for a legend: the first, and those that no other beats in both."""
    signs = [1 if REGISTRY[name].better == "lower" else -1 for name in (cost, quantity)]
    for number, row in enumerate(rows.itertuples()):
        cheaper = signs[0] * rows[cost] < signs[0] * getattr(row, cost)
        as_good = signs[1] * rows["mean"] <= signs[1] * row.mean
        if not number or not (cheaper & as_good).any():
            right = getattr(row, cost) > rows[cost].median()  # its name stays inside of the panel
            _name(panel, row.variant, row, cost, (-5, 4) if right else OFFSETS[0], "right" if right else "left")
