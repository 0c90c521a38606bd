"""What the variants of a question cost beside their baselines, and how far their heads look, in sentences."""

import math

import pandas as pd

from workflow.report.answers.effects import GRID, axes_of, baselines, beside, place_on
from workflow.report.claims.measures import COUNTED
from workflow.report.numbers import capital, is_number, join, number
from workflow.results.makers import why_apart
from workflow.results.timings import SPEEDS, ratio_over_turns, told_apart
from workflow.results.trained_enough import hardly_moved, learned_spans

RATIOS = {"macs_executed": "the multiply-adds", "memory_train_bytes": "the memory of a training step"}
RATIOS |= {"train_tokens_per_s": "the speed in training", "predict_tokens_per_s": "the speed in prediction"}
BY_CODE = {"memory_train_bytes": "memory"}  # costs that the code decides which computes them
BY_CODE |= {"train_tokens_per_s": "training speed", "predict_tokens_per_s": "prediction speed"}
WORTH = 0.02  # a cost that differs by less is not worth a word
NAMED = 3  # of so many variants at most each has a sentence


def of_variants(runs: pd.DataFrame, finished: pd.DataFrame, tokens: str) -> list[str]:
    """Say what the variants cost beside their baselines, at the largest S and k of each; of one alone what it costs.

    finished: those of the runs that ended well.
    A few have a sentence each; of many the least and the most is said. Of speeds those count whose interval over turns
    does not hold 1.
    """
    sides = {variant: largest(rows) for variant, rows in finished.groupby("variant", sort=False)}
    if len(sides) == 1:
        return [line for variant, rows in sides.items() for line in _alone(variant, rows, tokens)]
    # a span that has hardly moved costs what it cost at its start
    moved = finished[~hardly_moved(finished)]
    by_base: dict[str, dict[str, dict[str, float]]] = {}
    apart: dict[tuple[str, str], set[str]] = {}  # variant and why it has no ratio -> of what
    axes, every = axes_of(finished), dict(iter(runs.groupby("variant", sort=False)))
    for variant, base in baselines(finished).items():
        S, k = (None if pd.isna(value := sides[variant].iloc[0][axis]) else value for axis in GRID)
        than = beside(every[base], S, k)  # none where the runs of that place failed
        ours, theirs = (side[side.index.isin(moved.index)] for side in (sides[variant], than))
        by_base.setdefault(base, {})[variant] = _ratios(ours, theirs)
        for name in (name for name in BY_CODE if name in ours):
            if why := why_apart(ours, theirs, name, base):
                apart.setdefault((variant, why), set()).add(BY_CODE[name])
    places = {variant: place_on(axes, rows["S"].iloc[0], rows["k"].iloc[0]) for variant, rows in sides.items()}
    lines = []
    for base, ratios in by_base.items():
        lines += _range(base, ratios) if len(ratios) > NAMED else _each(base, ratios, places)
    return [*lines, *_without_ratio(apart)]


def _without_ratio(apart: dict[tuple[str, str], set[str]]) -> list[str]:
    """Say which variants have no ratio of which costs, and why: a sentence for each reason."""
    alike: dict[tuple[str, str], list[str]] = {}
    for (variant, why), names in apart.items():
        alike.setdefault((join(sorted(names)), why), []).append(variant)
    return [f"No ratio of {of} for {join(variants)}: {why}." for (of, why), variants in alike.items()]


def _alone(variant: str, rows: pd.DataFrame, tokens: str) -> list[str]:
    means = {name: rows.groupby("configuration")[name].mean().mean() for name in RATIOS if name in rows}
    said = {
        "macs_executed": lambda macs: f"{number(macs)} multiply-adds for each of its {tokens}",
        "memory_train_bytes": lambda size: f"{number(size, 'bytes')} for a training step",
        "train_tokens_per_s": lambda speed: f"a second for {number(speed)} {tokens} in training",
    }
    parts = [say(means[name]) for name, say in said.items() if is_number(means.get(name))]
    return [f"{capital(variant)} takes {join(parts)}."] if parts else []


def _each(base: str, ratios: dict[str, dict[str, float]], places: dict[str, str]) -> list[str]:
    return [
        f"Beside {base}, {variant}{places[variant]} has "
        f"{join([f'{ratio:.2f} times {RATIOS[name]}' for name, ratio in known.items()])}."
        for variant, known in ratios.items()
        if known
    ]


def _range(base: str, ratios: dict[str, dict[str, float]]) -> list[str]:
    parts = []
    for name, words in RATIOS.items():
        known = {variant: each[name] for variant, each in ratios.items() if name in each}
        if known:
            ends = dict.fromkeys([min(known, key=known.get), max(known, key=known.get)])
            parts.append(f"{' to '.join(f'{known[end]:.2f} ({end})' for end in ends)} times {words}")
    return [f"Beside {base}, those that differ from it have {join(parts)}."] if parts else []


def _ratios(rows: pd.DataFrame, base: pd.DataFrame) -> dict[str, float]:
    """Divide each cost by that of the base, where both were measured alike and differ by as much as is worth a word."""
    found = {}
    for name in (name for name in RATIOS if name in rows):
        if why_apart(rows, base, name, "its base"):
            continue
        if name in SPEEDS:
            shown = ratio_over_turns(rows, base, name)
            ratio = shown["value"] if shown["value"] and told_apart(shown) else math.nan
        else:
            ratio = _ratio(rows, base, name)
        if is_number(ratio) and abs(ratio - 1) >= max(WORTH, COUNTED.get(name, 0)):
            found[name] = ratio
    return found


def growth(finished: pd.DataFrame) -> list[str]:
    """Say how the executed multiply-adds grow from the smallest S, or k, to the largest, for a few variants.

    On the texts on which all of these have both ends, for spans may have hardly moved on others.
    """
    lines = []
    every = finished["corpus"].nunique()
    finished = finished[~hardly_moved(finished)]
    for axis in axes_of(finished) if len(finished) else ():
        ends, sides = [finished[axis].min(), finished[axis].max()], {}
        for variant, rows in list(finished.groupby("variant", sort=False))[:NAMED]:
            if {*ends} <= {*rows[axis]}:
                sides[variant] = _on_both([rows[rows[axis] == end] for end in ends], axis)
        texts = set.intersection(*({*low["corpus"]} for low, _ in sides.values())) if sides else set()
        shared = finished[finished["corpus"].isin(texts)]
        on = f"on {join([*shared['title'].unique()])} " if len(texts) < every and "title" in shared else ""
        ratios = {}
        for variant, (low, high) in sides.items():
            ratio = _ratio(high[high["corpus"].isin(texts)], low[low["corpus"].isin(texts)], "macs_executed")
            if is_number(ratio):
                ratios[variant] = ratio
        if any(abs(ratio - 1) >= WORTH for ratio in ratios.values()):
            times = join([f"{ratio:.2f} times with {variant}" for variant, ratio in ratios.items()])
            lines.append(f"From {axis} = {ends[0]:g} to {ends[1]:g} the multiply-adds grow {on}{times}.")
    return lines


def _on_both(sides: list[pd.DataFrame], axis: str) -> list[pd.DataFrame]:
    """Select, at both ends of an axis, the texts and places of the other axis that both have."""
    others = [name for name in ("corpus", *GRID) if name != axis]
    low, high = sides
    shared = low[others].drop_duplicates().merge(high[others].drop_duplicates())
    return [low.merge(shared), high.merge(shared)]


def largest(rows: pd.DataFrame) -> pd.DataFrame:
    """Select the runs at the largest S and k that a variant has."""
    for axis in ("S", "k"):
        if rows[axis].notna().any():
            rows = rows[rows[axis] == rows[axis].max()]
    return rows


def _ratio(rows: pd.DataFrame, base: pd.DataFrame, quantity: str) -> float:
    """Divide means over configurations, on whose every seed a cost stands, on the texts that both have.

    NaN where one is missing or the other 0.
    """
    shared = {*rows["corpus"]} & {*base["corpus"]}
    sides = (side[side["corpus"].isin(shared)] for side in (rows, base))
    part, whole = (side.groupby("configuration")[quantity].mean().mean() for side in sides)
    return part / whole if whole else math.nan


def spans(finished: pd.DataFrame, tokens: str) -> list[str]:
    """Say how far the nets with learned spans look, at the largest S, and on which texts that is as at the start."""
    learned = learned_spans(finished[finished["mean_span"].notna()])
    lines = []
    for variant, rows in list(learned.groupby("variant", sort=False))[:NAMED]:
        rows = largest(rows)
        still = hardly_moved(rows).groupby(rows["title"], sort=False).all()
        same = {text: " as at the start" if still[text] and not still.all() else "" for text in still.index}
        means = rows.groupby("title", sort=False)["mean_span"].mean()
        (text, mean), *others = means.items()
        on = f" on {text}{same[text]}" if others else ""
        rest = [f"{mean:.0f} on {text}{same[text]}" for text, mean in others]
        shown = join([f"{mean:.0f} {tokens} far{on}", *rest])
        everywhere = ", as at the start" if still.all() else ""
        lines.append(f"{capital(variant)} looks {shown}, of at most {rows['S'].max():.0f}{everywhere}.")
    return lines
