"""The table of an answer: every variant at its S and k, with score, seeds, costs, and differences
to each baseline.
"""

from collections.abc import Iterable
from statistics import median

import pandas as pd

from workflow.report.answers.effects import (
    GRID,
    OWN,
    Effect,
    baselines,
    by_text_and_seed,
    effect_of,
    matching_runs,
    places,
)
from workflow.report.figures.colours import as_named
from workflow.results.datasets import with_titles
from workflow.results.numbers import missing, to_digits
from workflow.results.registry import REGISTRY, bounds_of
from workflow.results.statistics import FEWEST, LEVEL, half_width, holm, mean_interval, over_seeds
from workflow.results.timings import SPEEDS, over_turns
from workflow.results.trained_enough import hardly_moved, learned_spans

SHOWN_WITH_SCORE = (
    *("mean_span", "macs_executed", "parameters"),
    *("train_tokens_per_s", "predict_tokens_per_s", "memory_train_bytes"),
)
NEVER_DIFFERS = {"texts": ["no pair differs", "", ""], "sorts": [0, None, None], "told": False}


def variant_table(runs: pd.DataFrame, quantity: str, names: dict[str, str]) -> dict:
    """Make the lines of the table. names: titles of costs, where the task has others than the
    registry.

    first: what differences are to. baselines: what some variants are compared with in place of the
    rest's. half,
    difference_half: the median half width of the intervals, which sets the digits of all numbers in
    a column.
    """
    runs = with_titles(as_named(runs))
    lines = [
        _line(text, *place, quantity)
        for text, rows in runs.groupby("title", sort=False)
        for place in places(rows)
    ]
    effects = {variant: _against(variant, lines) for variant in runs["variant"].unique()}
    of, first = baselines(runs), runs["variant"].iloc[0]
    named = {variant: baseline for variant, baseline in of.items() if baseline != first}
    if named:
        own = [effects[of.get(line["variant"], first)][number] for number, line in enumerate(lines)]
        effects = {OWN: own, **effects}
    shown = next(iter(effects))
    for line, effect in zip(lines, effects[shown], strict=True):
        line["effect"] = effect
    costs = [name for name in SHOWN_WITH_SCORE if name in runs and runs[name].notna().any()]
    if not len(learned_spans(runs)):
        costs = [name for name in costs if name != "mean_span"]
    for line in lines:
        line["costs"] = [(*_cost(line["runs"], name), REGISTRY[name].unit) for name in costs]
    return {
        "lines": lines,
        "texts": runs["title"].nunique() > 1,
        "axes": [axis for axis in "Sk" if runs[axis].notna().any()],
        "costs": [names.get(name, REGISTRY[name].title) for name in costs],
        "compared": any(line["effect"] for line in lines),
        "unmoved": any(line["unmoved"] for line in lines),
        "first": shown,
        "baselines": named,
        "rest": first,
        "effects": [(variant, _written(lines, against)) for variant, against in effects.items()],
        "half": median_half([line["half"] for line in lines]),
        "difference_half": median_half([line["effect"].half for line in lines if line["effect"]]),
    }


def _against(base: str, lines: list[dict]) -> list[Effect | None]:
    """Compute the effect of each line against a variant at the same S and k, or at the only ones
    that it has.
    """
    places = pd.DataFrame(lines, columns=["variant", "text", *GRID])
    of_base = {text: rows for text, rows in places[places["variant"] == base].groupby("text")}
    effects: list[Effect | None] = []
    for line in lines:
        known = of_base.get(line["text"]) if line["variant"] != base else None
        same = matching_runs(known, line["S"], line["k"]).index if known is not None else ()
        effects.append(_effect(line, lines[same[0]]) if len(same) else None)
    return effects


def _effect(line: dict, base: dict) -> Effect | None:
    """Compute the effect of a line beside another; None where the two have no pair, or are the same
    runs.
    """
    if line["digests"] <= base["digests"]:
        return None
    return effect_of((line["scores"] - base["scores"].reindex(line["scores"].index)).dropna())


def _written(lines: list[dict], effects: list[Effect | None]) -> list[dict | None]:
    """Write the effects of all rows to one baseline, Holm-corrected for their number."""
    half = median_half([effect.half for effect in effects if effect])
    corrected = iter(holm([effect.p for effect in effects if effect and effect.p is not None]))
    written = []
    for effect, line in zip(effects, lines, strict=True):
        p = next(corrected) if effect and effect.p is not None else None
        written.append(effect and _write(effect, p, half, len(line["points"])))
    return written


def _write(effect: Effect, corrected: float | None, half: float | None, runs: int) -> dict:
    """Write an effect as the cells of its row have it. sorts: what they sort by. runs: some may
    have no pair.
    """
    if effect.low == effect.high == 0:
        return NEVER_DIFFERS
    between = (
        ""
        if effect.low is None
        else f"{to_digits(effect.low, half)} to {to_digits(effect.high, half)}"
    )
    between += f" ({effect.n} pair{'s' * (effect.n > 1)})" if effect.n != runs else ""
    p = "" if corrected is None else "< 0.001" if corrected < 0.001 else f"{corrected:.2g}"
    sorts = [effect.mean, effect.low, corrected]
    told = corrected is not None and corrected <= LEVEL
    return {"texts": [to_digits(effect.mean, half), between, p], "sorts": sorts, "told": told}


def _line(text: str, variant: str, S, k, group: pd.DataFrame, quantity: str) -> dict:
    finished = group[(group["status"] == "ok") & group[quantity].notna()]
    values = finished[quantity].astype(float).tolist()
    mean, low, high = (
        mean_interval(values, bounds=bounds_of(quantity)) if values else (None, None, None)
    )
    shown = len(values) >= FEWEST and low < high
    unmoved = hardly_moved(group)  # all of them or none: these are the seeds of one configuration
    return {
        "text": text,
        "variant": variant,
        "S": S,
        "k": k,
        "mean": mean,
        "half": half_width(low, high) if shown else None,
        "reach": (low, high) if shown else None,
        "points": [
            (run.seed, getattr(run, quantity), run.digest, run.status)
            for run in group[["seed", quantity, "digest", "status"]].itertuples()
        ],
        "runs": finished,
        "digests": set(group["digest"]),
        "unmoved": bool(unmoved.any()),
        "scores": by_text_and_seed(group[~unmoved], quantity),
    }


def _cost(runs: pd.DataFrame, name: str) -> tuple[float | None, float | None, float | None]:
    """Average a cost and give its interval, for a span over seeds, for a speed over turns."""
    if name in SPEEDS or name == "mean_span":
        spans = runs[name].dropna().astype(float).tolist()
        shown = (
            over_turns(runs, name) if name in SPEEDS else over_seeds(spans, bounds=bounds_of(name))
        )
        return shown["value"], shown["low"], shown["high"]
    mean = pd.to_numeric(runs[name]).mean()
    return (None if pd.isna(mean) else float(mean)), None, None


def median_half(halves: Iterable[float | None]) -> float | None:
    """Take the median of half intervals, which sets the digits of a column; None without any."""
    known = [half for half in halves if half and not missing(half)]
    return median(known) if known else None
