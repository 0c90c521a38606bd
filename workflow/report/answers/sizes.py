"""Nets of several sizes: the effect of each variant over size, and its score over what a character costs."""

import pandas as pd

from workflow.report.answers.effects import OWN, baselines, effect_beside
from workflow.report.answers.lines import MARKS, name_score, panels
from workflow.report.figures.colours import as_named
from workflow.report.figures.marks import shows
from workflow.report.figures.style import bars_of, fold, label_ends, set_log, share_legend
from workflow.report.tables.cells import name_runs
from workflow.report.texts import with_badge, with_titles
from workflow.results.registry import bounds_of
from workflow.results.statistics import FEWEST, mean_interval
from workflow.results.trained_enough import hardly_moved

COST = "macs_executed"
COLUMNS = ["text", "variant", "baseline", "colour", "size", "parameters", "cost", "score", "low", "high", "n"]
COLUMNS += ["effect", "effect_low", "effect_high", "d_model", "layers", "steps", "seconds", "runs", "baseline_runs"]
INTERVALS = ("low", "high", "effect", "effect_low", "effect_high")  # missing where seeds are few
SHAPE = ("d_model", "layers", "steps")


def data(runs: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Make a row for each text, size and variant: its score, and its effect beside its baseline, with intervals.

    runs: of one question, at all sizes. cost: executed MACs per character or subword. Few seeds have no
    interval. Models whose learned spans have hardly moved from their start have no effect.
    """
    runs = with_badge(with_titles(as_named(runs)))
    of, rows = baselines(runs), []
    runs = runs[(runs["status"] == "ok") & runs[quantity].notna()]
    moved = runs.assign(**{quantity: runs[quantity].mask(hardly_moved(runs))})
    for (text, size), group in runs.groupby(["text", "size"], sort=False):
        for variant, mine in group.groupby("variant", sort=False):
            values = mine[quantity].astype(float).tolist()
            mean, low, high = mean_interval(values, bounds=bounds_of(quantity))
            bounds = (low, high) if len(values) >= FEWEST else (None, None)
            base = group[group["variant"] == of.get(variant)]
            sides = (moved.loc[each.index] for each in (mine, base))
            effect = effect_beside(*sides, quantity) if variant in of else None
            told = (effect.mean, effect.low, effect.high) if effect else (None, None, None)
            place = (
                text,
                variant,
                of.get(variant),
                mine["colour"].iloc[0],
                size,
                mine["parameters"].mean(),
                mine[COST].mean(),
            )
            shape = [mine[key].iloc[0] for key in SHAPE]
            seeds = name_runs(mine, quantity), name_runs(base, quantity) if effect else ""
            rows.append((*place, mean, *bounds, len(values), *told, *shape, mine["seconds"].mean(), *seeds))
    table = pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(INTERVALS, float))
    return table.sort_values(["text", "size"], kind="stable", ignore_index=True)


def compared_with(data: pd.DataFrame) -> str:
    """Name the baseline of all variants, or say that each has its own."""
    named = data["baseline"].dropna().unique()
    return named[0] if len(named) == 1 else OWN


def draw(data: pd.DataFrame, quantity: str, title: str, of: str):
    """Draw for each text the effects over the number of parameters, and the scores over cost. of: what cost is for."""
    texts, than = list(data.groupby("text", sort=False)), compared_with(data)
    figure, axes = panels(2 * len(texts), 2, 2.8)
    places = iter(axes)
    for text, rows in texts:
        effects, scores = next(places), next(places)
        effects.axhline(0, lw=0.8, ls="--", color=rows["colour"].iloc[0])
        for number, (variant, mine) in enumerate(rows.groupby("variant", sort=False)):
            style = {"marker": MARKS[number % len(MARKS)], "color": mine["colour"].iloc[0], "label": variant}
            if mine["baseline"].notna().all():
                _draw_line(effects, mine["parameters"], mine, ("effect", "effect_low", "effect_high"), style)
            _draw_line(scores, mine["cost"], mine, ("score", "low", "high"), style)
        _label(effects, "parameters", f"{title}, less {than}'s", text)
        if rows["effect"].isna().all():
            _say_nothing_compared(effects)
        _label(scores, f"MACs/{of} (less is better)", name_score(quantity, title), text)
    share_legend(figure)
    label_ends(figure)
    return figure


def _say_nothing_compared(panel) -> None:
    """Write why a panel is empty, and leave out its axes."""
    for line in list(panel.lines):
        line.remove()
    panel.xaxis.set_visible(False)
    panel.set_yticks([])
    why = "nothing to compare:\nruns are missing,\nor learned spans\nhardly moved"
    panel.text(0.5, 0.5, why, transform=panel.transAxes, ha="center", va="center")


def _draw_line(panel, places: pd.Series, rows: pd.DataFrame, columns: tuple[str, str, str], style: dict) -> None:
    bars = bars_of(rows, *columns)
    shows(panel.errorbar(places, rows[columns[0]].astype(float), bars, ms=5, lw=1.4, capsize=3, **style), rows.index)


def _label(panel, across: str, up: str, text: str) -> None:
    set_log(panel.xaxis)
    panel.set_xlabel(across)
    panel.set_ylabel(up)
    panel.set_title(fold(text), parse_math=False)
