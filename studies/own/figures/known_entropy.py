"""Spans compared with the optimal predictor: bpc at each S, and the learned span of every head."""

import pandas as pd

from studies.own.tables._attainable import PAYS, best_bpc, of_text, paying_window, windows
from workflow.report.figures.colours import COLOURS, GREY, INK
from workflow.report.figures.marks import shows
from workflow.report.figures.style import (
    canvas,
    draw_curve,
    draw_message,
    label_ends,
    set_powers,
    set_span_axis,
    share_legend,
)
from workflow.report.tables.cells import pick, summarise
from workflow.results.trained_enough import hardly_moved

READS = ("runs", "optimal_predictor")
TITLE = "Spans compared with the optimal predictor"
CAPTION = (
    "Left: test bpc by span limit S, with the bpc of the optimal predictor given the last w "
    "characters. Right: the learned span of every head."
)
NOTES = (
    "Means over seeds with 95 % CI (bands). Dashed: the optimal predictor given the last w "
    "characters; a model with several layers sees further than S and can go below it. Solid: the "
    "optimal predictor given the full context, which no model can beat. To the right of the "
    "vertical line, more characters improve even the optimal predictor by less than 0.01 bpc. "
    "Hollow marks: the learned span barely moved from its initial value, which supports no "
    "conclusion."
)
VARIANTS = ("fixed", "adaptive", "dynamic")
SEEN = "optimal, last w characters"
WHOLE = "optimal, full context"
ROOM = 2.2  # factor: around the smallest and the largest S, so that another window can be seen
SLIDER = (SEEN, "S", "span")


def used(runs: pd.DataFrame) -> pd.DataFrame:
    return pick(runs, question="known_entropy")


def data(runs: pd.DataFrame, optimal_predictor: pd.DataFrame) -> pd.DataFrame:
    """Return the bpc of models and optimal predictors, and the spans of heads.

    source: a variant, an optimal predictor, `heads`, or `pays`, up to where a longer context helps.
    """
    runs = used(runs)
    optimal_predictor = of_text(optimal_predictor, runs)
    curves = summarise(runs, ["variant", "label", "S"], "test_bpc")
    rows = curves.rename(columns={"variant": "source"}).to_dict("records")
    if best_bpc(optimal_predictor) is not None:
        for row in windows(optimal_predictor).itertuples():
            rows.append({"source": SEEN, "label": SEEN, "S": row.window, "mean": row.bpc})
        rows.append({"source": WHOLE, "mean": best_bpc(optimal_predictor)})
        rows.append({"source": "pays", "span": paying_window(optimal_predictor)})
    columns = ["source", "label", "S", "layer", "span", "mean", "low", "high", "n", "unmoved"]
    return pd.DataFrame(rows + _heads(runs), columns=columns)


def _heads(runs: pd.DataFrame) -> list[dict]:
    """List the span of every head of the adaptive runs with the largest S that moved."""
    adaptive = pick(runs, variant="adaptive", status="ok")
    adaptive = adaptive[adaptive["S"] == adaptive["S"].max()]
    adaptive = adaptive[~hardly_moved(adaptive)]
    rows = []
    for run in adaptive.itertuples():
        of_run = {"source": "heads", "label": run.label, "S": run.S}
        layers = run.spans if isinstance(run.spans, list) else []
        for layer, spans in enumerate(layers, start=1):
            rows += [{**of_run, "layer": layer, "span": span} for span in spans]
    return rows


def draw(data: pd.DataFrame):
    if not data[data["source"].isin(VARIANTS)]["mean"].notna().any():
        return draw_message("no run of this figure finished")
    figure, (quality, spans) = canvas(2, height=2.9)
    _draw_quality(quality, data)
    _draw_spans(spans, data)
    share_legend(figure)
    label_ends(figure)
    return figure


def _draw_quality(axes, data: pd.DataFrame) -> None:
    trained = data[data["source"].isin(VARIANTS)]
    ends = trained["S"].min() / ROOM, trained["S"].max() * ROOM
    reader = data[(data["source"] == SEEN) & data["S"].between(*ends)]
    line = axes.plot(
        reader["S"], reader["mean"], color=INK, linewidth=1, linestyle="--", label=SEEN
    )
    shows(line, reader.index)
    for variant in VARIANTS:
        line = data[data["source"] == variant]
        draw_curve(
            axes, line, "S", COLOURS[variant], line["label"].iloc[0] if len(line) else variant
        )
    for whole in data[data["source"] == WHOLE]["mean"]:
        axes.axhline(whole, color=INK, linewidth=1, label=WHOLE)
    set_span_axis(axes, trained["S"])
    axes.set_xlim(*ends)
    axes.set_xlabel("span limit S, or characters seen w")
    axes.set_ylabel("test bits per character")


def _draw_spans(axes, data: pd.DataFrame) -> None:
    heads = data[data["source"] == "heads"]
    title = (
        f"heads at S = {heads['S'].iloc[0]:.0f}" if len(heads) else "no learned spans that moved"
    )
    axes.set_xlabel("learned span of a head (characters)")
    axes.set_ylabel("layer")
    axes.set_yticks(sorted(heads["layer"].unique()))
    axes.set_ylim(0.4, (heads["layer"].max() if len(heads) else 1) + 0.6)
    rank = heads.groupby("layer").cumcount()
    shift = (rank - rank.mean()) / (rank.max() + 1) * 0.6 if len(heads) else 0
    style = {"s": 16, "color": COLOURS["adaptive"], "alpha": 0.75, "linewidths": 0}
    shows(axes.scatter(heads["span"], heads["layer"] + shift, **style), heads.index)
    for window in data[data["source"] == "pays"]["span"].dropna():
        axes.axvline(window, color=GREY, linewidth=1)
        title += f";\nright of the line: < {PAYS:g} bpc to gain"
    axes.set_title(title)
    ends = range(2, int(heads["S"].max()).bit_length()) if len(heads) else ()
    set_powers(axes.xaxis, {2**n: str(2**n) for n in ends})
