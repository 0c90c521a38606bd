"""The grid of span limits and k as four maps."""

import numpy as np
import pandas as pd
from matplotlib.ticker import EngFormatter

from workflow.report.figures._colours import INK
from workflow.report.figures._maps import BLUES
from workflow.report.figures._style import canvas, draw_message
from workflow.report.tables._cells import pick, summarise
from workflow.results.statistics import half_width
from workflow.results.timings import SPEEDS

READS = ("runs", "throughput")
TITLE = "Span limit S by number of kept keys k"
CAPTION = (
    "Means over seeds, whose intervals are in the data; of speeds over turns, ± half the 95 % interval. k = all: no "
    "selection. "
    "A stronger blue is more: from 0; of bpc from the least, over a tenth of it at least, so that noise stays pale."
)
LEAST = 0.1  # of the lowest bpc: over so much the colours run at least
ROOM = 0.25  # of the scale, left above its largest value, so that a number is read on every cell
PANELS = (
    ("dev_bpc", "dev bits per character", ".3f"),
    ("mean_span", "average span", ".0f"),
    ("macs_executed", "executed multiply-adds / char.", "k"),
    ("train_tokens_per_s", "training, characters / s", "k"),
)


def used(runs: pd.DataFrame) -> pd.DataFrame:
    return pick(runs, ablation="span_by_k")


def data(runs: pd.DataFrame) -> pd.DataFrame:
    """quantity, S, k (0: all), mean, low, high, n: seeds, or turns of a speed."""
    runs = used(runs)
    runs = runs.assign(k=runs["k"].fillna(0))
    return pd.concat([summarise(runs, ["S", "k"], name).assign(quantity=name) for name, _, _ in PANELS])


def draw(data: pd.DataFrame):
    if not data["mean"].notna().any():
        return draw_message("no run of this grid has ended well")
    figure, axes = canvas(2, rows=2, height=2.4)
    for panel, (quantity, title, form) in zip(axes.flat, PANELS, strict=True):
        grid, *ends = (_grid(data[data["quantity"] == quantity], each) for each in ("mean", "low", "high"))
        halves = half_width(*ends) if quantity in SPEEDS else grid * np.nan
        low, high = _scale(grid.to_numpy(), quantity)
        cells = np.ma.masked_invalid(grid.to_numpy())
        panel.pcolormesh(cells, cmap=BLUES, vmin=low, vmax=high + ROOM * (high - low))
        panel.set_xticks(np.arange(len(grid.columns)) + 0.5, [f"{S:.0f}" for S in grid.columns])
        panel.set_yticks(np.arange(len(grid.index)) + 0.5, ["all" if k == 0 else f"{k:.0f}" for k in grid.index])
        panel.set_xlabel("S")
        panel.set_ylabel("k")
        panel.set_title(title)
        panel.grid(False)
        _name_cells(panel, grid.to_numpy(), halves.to_numpy(), form)
    return figure


def _grid(data: pd.DataFrame, values: str) -> pd.DataFrame:
    """k by S, rising; the row of all keys on top."""
    grid = data.pivot(index="k", columns="S", values=values).astype(float)
    return grid.reindex([*sorted(k for k in grid.index if k), 0])


def _scale(values: np.ndarray, quantity: str) -> tuple[float, float]:
    """Where the colours start and end: a difference that seeds make must not look like one that S or k makes."""
    if not np.isfinite(values).any():
        return 0.0, 1.0
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    return (low, max(high, low * (1 + LEAST))) if quantity == "dev_bpc" else (0.0, high or 1.0)


def _name_cells(panel, values: np.ndarray, halves: np.ndarray, form: str) -> None:
    """The number in each cell, with half its interval where one is shown."""
    for (row, column), value in np.ndenumerate(values):
        text = _format(value, form) if np.isfinite(value) else "–"
        half = halves[row, column]
        text += f"\n± {_format(half, form)}" if np.isfinite(half) else ""
        panel.text(column + 0.5, row + 0.5, text, ha="center", va="center", color=INK, fontsize=8)


def _format(value: float, form: str) -> str:
    return EngFormatter(places=1, sep="")(value) if form == "k" else format(value, form)
