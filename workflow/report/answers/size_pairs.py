"""The difference between every two variants over model size: a panel for each pair, a line for each
corpus.
"""

import math
from itertools import combinations

import pandas as pd

from workflow.report.answers.effects import by_text_and_seed, effect_of
from workflow.report.answers.lines import MARKS, panels
from workflow.report.figures.colours import COLOURS, as_named
from workflow.report.figures.marks import shows
from workflow.report.figures.style import bars_of, fold, set_powers, share_legend
from workflow.report.tables.cells import name_runs
from workflow.results.datasets import with_titles
from workflow.results.numbers import number
from workflow.results.registry import REGISTRY
from workflow.results.trained_enough import hardly_moved

COLUMNS = ["label", "variant", "baseline", "corpus", "size", "parameters"]
COLUMNS += ["mean", "low", "high", "n", "runs", "baseline_runs"]
NUMBERS = ("parameters", "mean", "low", "high")  # missing where seeds are few
OF_CORPORA = [COLOURS["fixed"], COLOURS["adaptive"], COLOURS["dynamic"]]
WIDE = 3  # panels in a row


def data(runs: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Make a row for each pair of variants, corpus and size: the later variant less the earlier,
    paired by seed.

    runs: of one question, at all sizes. parameters: of the later variant. Few seeds have no
    interval. Models whose learned spans have hardly moved are left out.
    """
    runs = with_titles(as_named(runs))
    runs = runs[(runs["status"] == "ok") & runs[quantity].notna() & ~hardly_moved(runs)]
    rows = []
    for earlier, later in combinations(runs["variant"].unique(), 2):
        for (corpus, size), group in runs.groupby(["title", "size"], sort=True):
            ours, than = (group[group["variant"] == name] for name in (later, earlier))
            effect = _effect(ours, than, quantity)
            if effect:
                place = (
                    f"{later} − {earlier}",
                    later,
                    earlier,
                    corpus,
                    size,
                    ours["parameters"].mean(),
                )
                seeds = name_runs(ours, quantity), name_runs(than, quantity)
                rows.append((*place, effect.mean, effect.low, effect.high, effect.n, *seeds))
    return pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(NUMBERS, float))


def _effect(ours: pd.DataFrame, than: pd.DataFrame, quantity: str):
    if not len(ours) or not len(than):
        return None
    mine, theirs = (by_text_and_seed(side, quantity) for side in (ours, than))
    return effect_of((mine - theirs.reindex(mine.index)).dropna())


def _ticks(parameters: pd.Series) -> dict[float, str]:
    """Label the powers of ten: panels side by side have no room for more."""
    least, most = (math.log10(end) for end in (parameters.min(), parameters.max()))
    powers = range(math.ceil(least), math.floor(most) + 1)
    return {
        10.0**power: number(10**power) if power > 5 else f"{10 ** (power - 3):g}k"
        for power in powers
    }


def draw(data: pd.DataFrame, quantity: str, title: str):
    """Draw a panel for each pair, its differences over the number of parameters; zero is no
    difference.
    """
    pairs = list(data.groupby("label", sort=False))
    figure, axes = panels(len(pairs), WIDE, 2.7, sharey=True)
    corpora = [*data["corpus"].unique()]
    ticks = _ticks(data["parameters"])
    better = "below" if REGISTRY[quantity].better == "lower" else "above"
    for panel, (pair, rows) in zip(axes, pairs, strict=True):
        panel.axhline(0, lw=0.8, ls="--", color="#777777")
        for corpus, mine in rows.groupby("corpus", sort=False):
            number = corpora.index(corpus)
            style = {
                "marker": MARKS[number % len(MARKS)],
                "color": OF_CORPORA[number % len(OF_CORPORA)],
                "label": corpus,
            }
            mine = mine.sort_values("parameters")
            bars = bars_of(mine)
            line = panel.errorbar(
                mine["parameters"], mine["mean"], bars, ms=5, lw=1.4, capsize=3, **style
            )
            shows(line, mine.index)
        set_powers(panel.xaxis, ticks)
        panel.set_xlabel("parameters")
        panel.set_title(fold(pair), parse_math=False)
        panel.set_ylabel(f"difference in {title}\n({better} 0: first is better)")
        panel.tick_params(labelleft=True)
    share_legend(figure)
    return figure
