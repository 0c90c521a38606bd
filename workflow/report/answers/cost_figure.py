"""Cost beside quality: a point per configuration, for the costs that were measured and that differ."""

import pandas as pd

from workflow.report.answers.effect_figure import data as scores_of
from workflow.report.answers.look import LEGEND, Line, add_legend, drawn_axis, lines_of, name_score, panels
from workflow.report.figures._colours import INK
from workflow.report.figures._style import fold, set_count_ticks, set_log, thin_names
from workflow.report.figures._variants import as_named
from workflow.report.texts import with_badge
from workflow.results.registry import REGISTRY
from workflow.results.statistics import half_width
from workflow.results.timings import SPEEDS, clocks, over_turns

COSTS = ("macs_executed", "train_tokens_per_s")
KEYS, SHOWN = ["text", "variant", "S", "k"], ("value", "low", "high")
FEWEST = 3  # configurations on a text: of fewer the table says all that there is to see
DIFFERS = 1.02  # the largest over the smallest, below which there is nothing to see
OFFSETS = (5, 4), (5, -10), (-16, 4)  # of names from their points, in points
FAR = 3  # the same, from which on a logarithmic axis has ticks enough


def data(runs: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """The scores with each cost that differs between configurations; no row where none does, none was measured, or
    configurations are few.

    COST_low, COST_high: the interval of a speed; of a count the value itself.
    """
    runs = as_named(runs)
    scores = scores_of(runs, quantity)
    finished = with_badge(runs[runs["status"] == "ok"])
    kept = []
    for cost in (name for name in COSTS if name in runs):
        measured = _measured(finished, cost)
        on_texts = measured.groupby("text")
        if (on_texts[f"{cost}_low"].max() > DIFFERS * on_texts[f"{cost}_high"].min()).any():
            scores, kept = scores.merge(measured, on=KEYS, how="left"), [*kept, cost]
    enough = len(scores) and scores.groupby("text").size().max() >= FEWEST
    return scores if kept and enough else scores.head(0)


def _measured(finished: pd.DataFrame, cost: str) -> pd.DataFrame:
    """A row for each place with its cost; of speeds those of one machine, the one that timed the most of them."""
    rows = finished[finished[cost].notna()]
    if cost in SPEEDS and len(rows):
        beside = pd.Series(clocks(rows), index=rows.index)
        rows = rows[beside == beside.mode()[0]]
    places = []
    for key, group in rows.groupby(KEYS, dropna=False, sort=False):
        shown = over_turns(group, cost) if cost in SPEEDS else dict.fromkeys(SHOWN, group[cost].mean())
        places.append((*key, *(shown[each] for each in SHOWN)))
    columns = [cost, f"{cost}_low", f"{cost}_high"]
    return pd.DataFrame(places, columns=[*KEYS, *columns]).astype(dict.fromkeys(["S", "k", *columns], float))


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
    """Places of a grid are joined where their costs can be told apart, and each is named by its S or k."""
    for number, line in enumerate(lines):
        mine = line.rows(rows, axis).sort_values(axis or "mean")
        colour = line.colour if len(lines) <= LEGEND else INK
        bars = [half_width(mine["low"], mine["high"]), half_width(mine[f"{cost}_low"], mine[f"{cost}_high"])]
        style = {"marker": line.mark if len(lines) <= LEGEND else "o", "mec": INK, "mew": 0.4, "elinewidth": 0.9}
        style |= {"ls": "-" if _apart(mine, cost) else "none", "label": line.name, "color": colour}
        panel.errorbar(mine[cost], mine["mean"], *(bar.fillna(0) for bar in bars), ms=6, lw=0.9, alpha=0.7, **style)
        for row in mine.itertuples() if len(mine) > 1 else ():
            _name(panel, f"{getattr(row, axis):g}", row, cost, OFFSETS[number % len(OFFSETS)])
    far_apart = rows[cost].max() > FAR * rows[cost].min()
    panel.margins(x=0.12, y=0.12)
    (set_log if far_apart else set_count_ticks)(panel.xaxis)
    panel.tick_params(labelsize=8)


def _apart(places: pd.DataFrame, cost: str) -> bool:
    """Whether the intervals of neighbours on a grid, in its order, do not overlap; of what has none, not told."""
    low, high = places[f"{cost}_low"].to_numpy(), places[f"{cost}_high"].to_numpy()
    return bool(((high[:-1] <= low[1:]) | (high[1:] <= low[:-1])).all())


def _name(panel, text: str, row, cost: str, offset: tuple = OFFSETS[0], ha: str = "left") -> None:
    place = (getattr(row, cost), row.mean)
    panel.annotate(text, place, offset, textcoords="offset points", fontsize=7, color=INK, parse_math=False, ha=ha)


def _name_best(panel, rows: pd.DataFrame, cost: str, quantity: str) -> None:
    """Where there are too many for a legend: the first, and those that no other beats in both, as far as is told."""
    lower, less = (REGISTRY[name].better == "lower" for name in (quantity, cost))
    scores, low, high = rows["mean"] if lower else -rows["mean"], rows[f"{cost}_low"], rows[f"{cost}_high"]
    for number, row in enumerate(rows.itertuples()):
        below, above = high < low.iloc[number], low > high.iloc[number]
        cheaper, dearer = (below, above) if less else (above, below)
        score = scores.iloc[number]
        beaten = (cheaper & (scores <= score)) | (~dearer & (scores < score))
        if not number or not beaten.any():
            right = getattr(row, cost) > rows[cost].median()  # its name stays inside of the panel
            _name(panel, row.variant, row, cost, (-5, 4) if right else OFFSETS[0], "right" if right else "left")
