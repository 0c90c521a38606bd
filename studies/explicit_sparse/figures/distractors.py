"""BLEU by number of distractor sentences, and the attention on them."""

from dataclasses import asdict

import pandas as pd

from workflow.report.figures.colours import as_named
from workflow.report.figures.style import (
    DASHES,
    canvas,
    draw_curve,
    draw_message,
    label_ends,
    pick_holding,
    share_legend,
)
from workflow.report.tables.cells import pick
from workflow.results.statistics import over_seeds
from workflow.tasks.translation import PLANTED

READS = ("runs",)
TITLE = "BLEU and misplaced attention by number of distractor sentences"
CAPTION = (
    "Test BLEU by number of distractor sentences, and the share of attention that goes to 12 of "
    "them, by layer. Means over seeds with 95 % CI."
)
NOTES = (
    "Encoder: attention of the source's own subwords. Decoder to source: attention of the "
    "target's subwords."
)
KEYS = ["panel", "variant", "colour", "x"]
PANELS = {"bleu": "distractor sentences", "encoder": "layer", "cross": "layer"}
BOUNDS = {"bleu": (0.0, 100.0), "encoder": (0.0, 1.0), "cross": (0.0, 1.0)}
NAMES = {"bleu": "translation quality", "encoder": "encoder", "cross": "decoder to source"}
UP = {"bleu": "test BLEU (higher is better)"} | dict.fromkeys(
    ("encoder", "cross"), "attention on distractors"
)


def used(runs: pd.DataFrame) -> pd.DataFrame:
    return pick(runs, question="distractors")


def data(runs: pd.DataFrame) -> pd.DataFrame:
    """Make a row for each panel, variant and place with the mean over seeds."""
    runs = pick_holding(as_named(pick(used(runs), status="ok")), "astray")
    rows = []
    for run in runs.to_dict("records"):
        rows += _points(run)
    points = pd.DataFrame(rows, columns=[*KEYS, "y"])
    means = []
    for key, values in points.groupby(KEYS, sort=False)["y"]:
        panel = key[0]
        summary = over_seeds(values.tolist(), bounds=BOUNDS[panel])
        place = dict(zip(KEYS, key, strict=True))
        means.append(place | asdict(summary))
    table = pd.DataFrame(means, columns=[*KEYS, "value", "low", "high", "points"])
    return table.rename(columns={"value": "mean"})


def _points(run: dict) -> list[dict]:
    name = run["variant"]
    if pd.notna(run["k"]):
        name = f"{name}, k = {run['k']:.0f}"
    points = [("bleu", 0, run["test_bleu"])]
    for n in PLANTED:
        points.append(("bleu", n, run[f"test_bleu_planted_{n}"]))
    for kind in ("encoder", "cross"):
        most_distractors = run["astray"][kind][-1]  # by layer
        for layer, share in enumerate(most_distractors, start=1):
            points.append((kind, layer, share))
    return [
        {"panel": panel, "variant": name, "colour": run["colour"], "x": x, "y": y}
        for panel, x, y in points
    ]


def draw(data: pd.DataFrame):
    if not len(data):
        return draw_message("no run of this figure finished")
    figure, axes = canvas(3, height=2.6)
    lines = data[["variant", "colour"]].drop_duplicates()
    # of the same variant by k
    kinds = [DASHES[order % len(DASHES)] for order in lines.groupby("colour").cumcount()]
    for axis, (panel, across) in zip(axes, PANELS.items(), strict=True):
        for (variant, colour), kind in zip(lines.itertuples(index=False), kinds, strict=True):
            curve = pick(data, panel=panel, variant=variant)
            draw_curve(axis, curve, "x", colour, variant, ls=kind)
        axis.set_xlabel(across)
        axis.set_title(NAMES[panel])
        axis.set_ylabel(UP[panel])
        axis.set_xticks(sorted(set(data.loc[data["panel"] == panel, "x"])))
    share_legend(figure)
    label_ends(figure)
    return figure
