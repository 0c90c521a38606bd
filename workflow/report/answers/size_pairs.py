"""The difference between every two variants over model size.

A panel for each pair, a line for each corpus.
"""

import math
from itertools import combinations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workflow.report.answers.effects import Effect, effect_of, pair
from workflow.report.answers.lines import MARKS, panels
from workflow.report.figures.colours import COLOURS, as_named
from workflow.report.figures.marks import shows
from workflow.report.figures.style import bars_of, fold, set_powers, share_legend
from workflow.report.tables.cells import name_runs
from workflow.results.datasets import with_titles
from workflow.results.numbers import number
from workflow.results.registry import REGISTRY
from workflow.results.runs_table import finished
from workflow.results.trained_enough import hardly_moved

COLUMNS = [
    "label",
    "variant",
    "baseline",
    "corpus",
    "size",
    "parameters",
    "mean",
    "low",
    "high",
    "n",
    "runs",
    "baseline_runs",
]
NUMBERS = ("parameters", "mean", "low", "high")  # missing where seeds are few
OF_CORPORA = [COLOURS["fixed"], COLOURS["adaptive"], COLOURS["dynamic"]]
WIDE = 3  # panels in a row


def data(runs: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Make a row, with `COLUMNS`, for each pair of variants, corpus and size.

    It has the later variant less the earlier, paired by seed. Few seeds have no interval. Models
    whose learned spans have hardly moved are left out. runs: of one question, at all sizes.
    parameters: of the later variant.
    """
    runs = with_titles(as_named(runs))
    has_moved = ~hardly_moved(runs)
    runs = finished(runs[has_moved], quantity)
    rows = []
    for earlier, later in combinations(runs["variant"].unique(), 2):
        for (corpus, size), group in runs.groupby(["title", "size"], sort=True):
            ours = group[group["variant"] == later]
            than = group[group["variant"] == earlier]
            effect = _effect(ours, than, quantity)
            if effect is None:
                continue
            row = {
                "label": f"{later} − {earlier}",
                "variant": later,
                "baseline": earlier,
                "corpus": corpus,
                "size": size,
                "parameters": ours["parameters"].mean(),
                "mean": effect.mean,
                "low": effect.low,
                "high": effect.high,
                "n": effect.n,
                "runs": name_runs(ours, quantity),
                "baseline_runs": name_runs(than, quantity),
            }
            rows.append(row)
    return pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(NUMBERS, float))


def _effect(ours: pd.DataFrame, than: pd.DataFrame, quantity: str) -> Effect | None:
    if not len(ours) or not len(than):
        return None
    return effect_of(pair(ours, than, quantity))


def draw(data: pd.DataFrame, quantity: str, title: str) -> Figure:
    """Draw a panel for each pair, its differences over the number of parameters."""
    pairs = list(data.groupby("label", sort=False))
    figure, axes = panels(len(pairs), WIDE, 2.7, sharey=True)
    corpora = [*data["corpus"].unique()]
    ticks = _ticks(data["parameters"])
    better = "below" if REGISTRY[quantity].better == "lower" else "above"
    for panel, (names, rows) in zip(axes, pairs, strict=True):
        panel.axhline(0, lw=0.8, ls="--", color="#777777")  # no difference
        for corpus, mine in rows.groupby("corpus", sort=False):
            by_size = mine.sort_values("parameters")
            _draw_corpus(panel, corpus, by_size, corpora.index(corpus))
        set_powers(panel.xaxis, ticks)
        panel.set_xlabel("parameters")
        panel.set_title(fold(names), parse_math=False)
        panel.set_ylabel(f"difference in {title}\n({better} 0: first is better)")
        panel.tick_params(labelleft=True)
    share_legend(figure)
    return figure


def _draw_corpus(panel: Axes, corpus: str, rows: pd.DataFrame, order: int) -> None:
    line = panel.errorbar(
        rows["parameters"],
        rows["mean"],
        bars_of(rows),
        ms=5,
        lw=1.4,
        capsize=3,
        marker=MARKS[order % len(MARKS)],
        color=OF_CORPORA[order % len(OF_CORPORA)],
        label=corpus,
    )
    shows(line, rows.index)


def _ticks(parameters: pd.Series) -> dict[float, str]:
    """Label the powers of ten alone: panels next to each other leave no space for more."""
    first = math.ceil(math.log10(parameters.min()))
    last = math.floor(math.log10(parameters.max()))
    ticks = {}
    for power in range(first, last + 1):
        label = number(10**power)
        if power <= 5:
            thousands = 10 ** (power - 3)
            label = f"{thousands:g}k"
        ticks[10.0**power] = label
    return ticks
