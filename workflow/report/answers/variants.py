"""The table of variants: the score with its interval and single seeds, the difference to the first variant, costs."""

import pandas as pd

from workflow.report.answers.effects import Effect, beside, effect_beside, places
from workflow.report.figures._variants import as_named
from workflow.report.texts import with_titles
from workflow.results.registry import REGISTRY
from workflow.results.span_growth import learned_spans
from workflow.results.statistics import FEWEST, half_width, mean_interval, over_seeds
from workflow.results.timings import SPEEDS, over_turns

BESIDE_SCORE = (
    *("mean_span", "macs_executed", "parameters"),
    *("train_tokens_per_s", "predict_tokens_per_s", "memory_train_bytes"),
)


def variant_table(runs: pd.DataFrame, quantity: str, names: dict[str, str]) -> dict:
    """The lines, and which columns they have. names: titles of costs, where the task has others than the registry.

    half, difference_half: the median width of the intervals, whose digits all numbers of a column are shown with.
    """
    runs = with_titles(as_named(runs))
    lines = [
        _line(text, *place, runs, quantity) for text, rows in runs.groupby("text", sort=False) for place in places(rows)
    ]
    costs = [name for name in BESIDE_SCORE if name in runs and runs[name].notna().any()]
    if not len(learned_spans(runs)):
        costs = [name for name in costs if name != "mean_span"]
    for line in lines:
        line["costs"] = [(*_cost(line["runs"], name), REGISTRY[name].unit) for name in costs]
    return {
        "lines": lines,
        "texts": runs["text"].nunique() > 1,
        "axes": [axis for axis in "Sk" if runs[axis].notna().any()],
        "costs": [names.get(name, REGISTRY[name].title) for name in costs],
        "compared": any(line["effect"] for line in lines),
        "first": runs["variant"].iloc[0],
        "half": _median([line["half"] for line in lines]),
        "difference_half": _median([line["effect"].half for line in lines if line["effect"]]),
    }


def _line(text: str, variant: str, S, k, group: pd.DataFrame, runs: pd.DataFrame, quantity: str) -> dict:
    finished = group[(group["status"] == "ok") & group[quantity].notna()]
    values = finished[quantity].astype(float).tolist()
    mean, low, high = mean_interval(values) if values else (None, None, None)
    return {
        "text": text,
        "variant": variant,
        "S": S,
        "k": k,
        "mean": mean,
        "half": half_width(low, high) if len(values) >= FEWEST else None,
        "points": [
            (run.seed, getattr(run, quantity), run.digest, run.status)
            for run in group[["seed", quantity, "digest", "status"]].itertuples()
        ],
        "effect": _effect(text, variant, S, k, group, runs, quantity),
        "runs": finished,
    }


def _effect(text: str, variant: str, S, k, group: pd.DataFrame, runs: pd.DataFrame, quantity: str) -> Effect | None:
    if variant == runs["variant"].iloc[0]:
        return None
    base = beside(runs, S, k)
    return effect_beside(group, base[base["text"] == text], quantity)


def _cost(runs: pd.DataFrame, name: str) -> tuple[float | None, float | None]:
    """The mean, and half its interval: of a span over seeds, of a speed over turns."""
    if name in SPEEDS or name == "mean_span":
        shown = over_turns(runs, name) if name in SPEEDS else over_seeds(runs[name].dropna().astype(float).tolist())
        return shown["value"], half_width(shown["low"], shown["high"])
    mean = pd.to_numeric(runs[name]).mean()
    return (None if pd.isna(mean) else float(mean)), None


def _median(halves: list[float | None]) -> float | None:
    known = [half for half in halves if half]
    return float(pd.Series(known).median()) if known else None
