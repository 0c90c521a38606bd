"""Cost beside quality: a point per configuration, for the costs that were measured and that
differ.
"""

import pandas as pd

from workflow.report.answers.effect_figure import data as scores_of
from workflow.report.answers.lines import LEGEND, Line, drawn_axis, lines_of, name_score, panels
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
from workflow.results.timings import SPEEDS, WITHOUT, clocks, over_turns

DRAWN = ("macs_executed", "train_tokens_per_s")
KEYS, SHOWN = ["text", "variant", "S", "k"], ("value", "low", "high")
FEWEST = 3  # configurations on a text: of fewer the table says all that there is to see
DIFFERS = 1.02  # the largest over the smallest, below which there is nothing to see
FAR = 3  # the same, from which on a logarithmic axis has ticks enough


def data(runs: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Join the scores with each cost that differs between configurations.

    There is no row where no cost differs, none was measured, or configurations are too few or too
    many to keep apart.

    COST_low, COST_high: the interval of a speed; of a count the value itself.
    """
    runs = as_named(runs)
    scores = scores_of(runs, quantity)
    finished = with_badge(runs[runs["status"] == "ok"])
    kept = []
    for cost in (name for name in DRAWN if name in runs):
        measured = _measured(finished, cost)
        on_texts = measured.groupby("text")
        differs = (on_texts[f"{cost}_low"].max() > DIFFERS * on_texts[f"{cost}_high"].min()).any()
        # speeds of one machine and code may be those of very few variants
        if differs and on_texts.size().max() >= FEWEST:
            scores, kept = scores.merge(measured, on=KEYS, how="left"), [*kept, cost]
    enough = len(scores) and scores.groupby("text").size().max() >= FEWEST
    return (
        scores
        if kept and enough and len(lines_of(scores, drawn_axis(scores))) <= LEGEND
        else scores.head(0)
    )


def _measured(finished: pd.DataFrame, cost: str) -> pd.DataFrame:
    """Make a row for each place with its cost; speeds are those of one machine and code, which
    timed most of them.
    """
    rows = finished[finished[cost].notna()]
    if cost in SPEEDS and len(rows):
        beside = pd.Series(clocks(rows), index=rows.index)
        if "throughput_backend" in rows:
            # without a reference step the machine is known by its name alone
            named = rows["throughput_machine"].fillna("").where(beside == WITHOUT, "")
            beside += named + rows["throughput_backend"].fillna("")
        rows = rows[beside == beside.mode()[0]]
    places = []
    for key, group in rows.groupby(KEYS, dropna=False, sort=False):
        shown = (
            over_turns(group, cost) if cost in SPEEDS else dict.fromkeys(SHOWN, group[cost].mean())
        )
        places.append((*key, *(shown[each] for each in SHOWN)))
    columns = [cost, f"{cost}_low", f"{cost}_high"]
    return pd.DataFrame(places, columns=[*KEYS, *columns]).astype(
        dict.fromkeys(["S", "k", *columns], float)
    )


def draw(data: pd.DataFrame, quantity: str, title: str, names: dict[str, str]):
    """Draw costs side by side, texts one below the other; without the panels of what was not
    measured on a text.
    """
    costs, axis = [cost for cost in DRAWN if cost in data], drawn_axis(data)
    lines = lines_of(data, axis)
    places = [
        (text, rows, cost) for text, rows in data.groupby("text", sort=False) for cost in costs
    ]
    measured = [place for place in places if place[1][place[2]].notna().any()]
    figure, axes = panels(len(measured), 2, 2.9)
    for panel, (text, rows, cost) in zip(axes, measured, strict=True):
        _draw_points(panel, lines, rows.dropna(subset=[cost]), cost, axis)
        panel.set_xlabel(fold(f"{_title(cost, names)} ({_better(cost)} is better)"))
        panel.set_ylabel(name_score(quantity, title))
        missing = [
            f"{_title(each, names)}: not measured" for each in costs if rows[each].isna().all()
        ]
        panel.set_title("\n".join(fold(line) for line in (text, *missing)), parse_math=False)
    share_legend(figure)
    place_names(figure)
    return figure


def _title(cost: str, names: dict[str, str]) -> str:
    return names.get(cost, REGISTRY[cost].title)


def _better(cost: str) -> str:
    return "less" if REGISTRY[cost].better == "lower" else "more"


def _draw_points(panel, lines: list[Line], rows: pd.DataFrame, cost: str, axis: str | None) -> None:
    """Draw the places of a grid, named by S or k and joined where their costs can be told apart."""
    for line in lines:
        mine = line.rows(rows, axis).sort_values(axis or "mean")
        bars = [bars_of(mine), bars_of(mine, cost, f"{cost}_low", f"{cost}_high")]
        style = {"marker": line.mark, "mec": INK, "mew": 0.4, "elinewidth": 0.9}
        style |= {
            "ls": "-" if _apart(mine, cost) else "none",
            "label": line.name,
            "color": line.colour,
        }
        shows(
            panel.errorbar(mine[cost], mine["mean"], *bars, ms=6, lw=0.9, alpha=0.7, **style),
            mine.index,
        )
        for row in mine.itertuples():
            place, name = (
                (getattr(row, cost), row.mean),
                f"{getattr(row, axis):g}" if len(mine) > 1 else line.name,
            )
            panel.annotate(name, place, OFFSETS[0], textcoords="offset points", color=INK)
    far_apart = rows[cost].max() > FAR * rows[cost].min()
    panel.margins(x=0.12, y=0.12)
    (set_log if far_apart else set_count_ticks)(panel.xaxis)


def _apart(places: pd.DataFrame, cost: str) -> bool:
    """Check whether the intervals of neighbours on the grid do not overlap; a missing interval
    overlaps.
    """
    low, high = places[f"{cost}_low"].to_numpy(), places[f"{cost}_high"].to_numpy()
    return bool(((high[:-1] <= low[1:]) | (high[1:] <= low[:-1])).all())
