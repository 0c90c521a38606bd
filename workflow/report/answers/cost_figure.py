"""Cost and quality: a point per configuration, for the costs that were measured and that differ."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workflow.report.answers.effect_figure import data as scores_of
from workflow.report.answers.lines import LEGEND, Line, drawn_axis, label_up, lines_of, panels
from workflow.report.figures.colours import INK, as_named
from workflow.report.figures.marks import shows
from workflow.report.figures.style import (
    OFFSETS,
    bars_of,
    fold,
    place_names,
    set_count_ticks,
    set_log,
    share_legend,
)
from workflow.results.datasets import with_badge
from workflow.results.registry import REGISTRY
from workflow.results.runs_table import finished
from workflow.results.timings import SPEEDS, WITHOUT, clocks, over_turns

DRAWN = ("macs_executed", "train_tokens_per_s")
KEYS = ["text", "variant", "S", "k"]
FEWEST = 3  # configurations on a corpus: of fewer the table says all that there is to see
DIFFERS = 1.02  # the largest over the smallest, below which there is nothing to see
FAR = 3  # the same, from which on a logarithmic axis has ticks enough


def data(runs: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Join the scores with each cost that differs between configurations.

    There is no row where no cost differs, none was measured, or configurations are too few or too
    many to keep apart. COST_low, COST_high: the interval of a speed; of a count the value itself.
    """
    runs = as_named(runs)
    scores = scores_of(runs, quantity)
    ended = with_badge(finished(runs))
    joined = scores
    for cost in DRAWN:
        if cost not in runs:
            continue
        measured = _measured(ended, cost)
        if _is_worth_drawing(measured, cost):
            joined = joined.merge(measured, on=KEYS, how="left")
    has_costs = len(joined.columns) > len(scores.columns)
    if not has_costs or not _has_enough(joined):
        return joined.head(0)
    lines = lines_of(joined, drawn_axis(joined))
    return joined if len(lines) <= LEGEND else joined.head(0)


def _is_worth_drawing(measured: pd.DataFrame, cost: str) -> bool:
    """Say whether a cost differs on some corpus, and is known of enough configurations."""
    on_corpora = measured.groupby("text")
    most = on_corpora[f"{cost}_low"].max()
    least = on_corpora[f"{cost}_high"].min()
    differs = most > DIFFERS * least
    if not differs.any():
        return False
    # speeds of one machine and code may be those of very few variants
    return on_corpora.size().max() >= FEWEST


def _has_enough(scores: pd.DataFrame) -> bool:
    if not len(scores):
        return False
    on_corpora = scores.groupby("text")
    return on_corpora.size().max() >= FEWEST


def _measured(ended: pd.DataFrame, cost: str) -> pd.DataFrame:
    """Make a row for each place with its cost.

    Speeds are those of the machine and code that timed most of them.
    """
    rows = ended[ended[cost].notna()]
    if cost in SPEEDS and len(rows):
        timers = _timers(rows)
        usual = timers.mode()[0]
        rows = rows[timers == usual]
    columns = [cost, f"{cost}_low", f"{cost}_high"]
    places = []
    by_place = rows.groupby(KEYS, dropna=False, sort=False)
    for place, group in by_place:
        if cost in SPEEDS:
            shown = over_turns(group, cost)
            values = (shown.value, shown.low, shown.high)
        else:
            mean = group[cost].mean()
            values = (mean, mean, mean)
        places.append([*place, *values])
    numbers = dict.fromkeys(["S", "k", *columns], float)
    return pd.DataFrame(places, columns=[*KEYS, *columns]).astype(numbers)


def _timers(rows: pd.DataFrame) -> pd.Series:
    """Name what timed each run: its reference step, else its machine, and the code."""
    timers = pd.Series(clocks(rows), index=rows.index)
    if "throughput_backend" not in rows:
        return timers
    # without a reference step the machine is known by its name alone
    is_alone = timers == WITHOUT
    machines = rows["throughput_machine"].fillna("").where(is_alone, "")
    backends = rows["throughput_backend"].fillna("")
    return timers + machines + backends


def draw(data: pd.DataFrame, quantity: str, title: str, names: dict[str, str]) -> Figure:
    """Draw costs next to each other, corpora below each other, where a cost was measured.

    names: titles of costs, where the task has others than the registry.
    """
    costs = [cost for cost in DRAWN if cost in data]
    axis = drawn_axis(data)
    lines = lines_of(data, axis)
    drawn = []
    for corpus, rows in data.groupby("text", sort=False):
        for cost in costs:
            if rows[cost].notna().any():
                drawn.append((corpus, rows, cost))
    figure, axes = panels(len(drawn), 2, 2.9)
    for panel, (corpus, rows, cost) in zip(axes, drawn, strict=True):
        measured = rows.dropna(subset=[cost])
        _draw_points(panel, lines, measured, cost, axis)
        across = f"{_title(cost, names)} ({_better(cost)} is better)"
        panel.set_xlabel(fold(across))
        panel.set_ylabel(label_up(quantity, title))
        heading = [fold(corpus)]
        for each in costs:
            if rows[each].isna().all():
                note = f"{_title(each, names)}: not measured"
                heading.append(fold(note))
        panel.set_title("\n".join(heading), parse_math=False)
    share_legend(figure)
    place_names(figure)
    return figure


def _title(cost: str, names: dict[str, str]) -> str:
    quantity = REGISTRY[cost]
    return names.get(cost, quantity.title)


def _better(cost: str) -> str:
    return "less" if REGISTRY[cost].better == "lower" else "more"


def _draw_points(
    panel: Axes, lines: list[Line], rows: pd.DataFrame, cost: str, axis: str | None
) -> None:
    """Draw the places of a grid, named by S or k and joined where their costs differ."""
    for line in lines:
        mine = line.rows(rows, axis).sort_values(axis or "mean")
        points = panel.errorbar(
            mine[cost],
            mine["mean"],
            bars_of(mine),
            bars_of(mine, cost, f"{cost}_low", f"{cost}_high"),
            ms=6,
            lw=0.9,
            alpha=0.7,
            marker=line.mark,
            mec=INK,
            mew=0.4,
            elinewidth=0.9,
            ls="-" if _are_apart(mine, cost) else "none",
            label=line.name,
            color=line.colour,
        )
        shows(points, mine.index)
        for row in mine.itertuples():
            name = f"{getattr(row, axis):g}" if len(mine) > 1 else line.name
            place = (getattr(row, cost), row.mean)
            panel.annotate(name, place, OFFSETS[0], textcoords="offset points", color=INK)
    panel.margins(x=0.12, y=0.12)
    if rows[cost].max() > FAR * rows[cost].min():
        set_log(panel.xaxis)
    else:
        set_count_ticks(panel.xaxis)


def _are_apart(places: pd.DataFrame, cost: str) -> bool:
    """Say whether the intervals of neighbours on the grid do not overlap; a missing one does."""
    low = places[f"{cost}_low"].to_numpy()
    high = places[f"{cost}_high"].to_numpy()
    before = slice(None, -1)
    after = slice(1, None)
    is_rising = high[before] <= low[after]
    is_falling = high[after] <= low[before]
    is_apart = is_rising | is_falling
    return bool(is_apart.all())
