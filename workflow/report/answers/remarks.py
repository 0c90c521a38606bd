"""What one should know beside the sentence: each text, chance, costs, spans, whether runs still learned, failures."""

import math
from dataclasses import replace

import pandas as pd

from workflow.report.answers.effects import GRID, Change, Comparison, Effect, axes_of
from workflow.report.answers.phrases import Score, verb
from workflow.report.numbers import capital, count, is_number, join, name_places
from workflow.results.statistics import FEWEST, LEVEL, holm
from workflow.results.timings import SPEEDS, ratio_over_turns, told_apart
from workflow.results.trained_enough import FLAT, learned_spans, stayed

RATIOS = {"macs_executed": "the multiply-adds", "memory_train_bytes": "the memory of a training step"}
RATIOS |= {"train_tokens_per_s": "the speed in training", "predict_tokens_per_s": "the speed in prediction"}
WORTH = 0.02  # a cost that differs by less is not worth a word
WORTH_OF = {"memory_train_bytes": 0.2}  # measured once: processes with nets of one size differ by up to a fifth
NAMED = 3


def by_text(comparisons: list[Comparison], changes: list[Change], score: Score) -> list[str]:
    """Name what has another sign on another text, with its size on each: differences, and changes that are told."""
    last = {each.variant: each.effect for each in comparisons if each.effect}
    lines = [
        f"The texts disagree: {name} is {_on_each_text(effect, score)}, beside {score.first}."
        for name, effect in last.items()
        if effect.turns
    ]
    lines += [
        f"The texts disagree: {ends} {name} gets {_on_each_text(effect, score)}."
        for ends, name, effect in changes
        if effect.told and effect.turns
    ]
    return lines if len(lines) <= NAMED else []


def on_fewer_texts(comparisons: list[Comparison], texts: list[str]) -> list[str]:
    """Name the variants that were compared on some of the texts alone: means over all are not theirs."""
    named: dict[str, dict[str, None]] = {}
    for each in (each for each in comparisons if each.effect):
        if len(on := [text for text in texts if text in each.effect.by_text]) < len(texts):
            named.setdefault(join(on), {})[each.variant] = None
    return [f"Compared on {on} alone: {join([*names])}." for on, names in named.items()]


def _on_each_text(effect: Effect, score: Score) -> str:
    each = [(text, replace(effect, mean=mean)) for text, mean in effect.by_text.items()]
    return join([f"{score.size(part)} {score.direction(part)} on {text}" for text, part in each])


def chance(comparisons: list[Comparison]) -> str:
    """Say how many comparisons remain once p is corrected for their number, where that alters the count."""
    ps = [each.effect.p for each in comparisons if each.effect and each.effect.p is not None]
    told, left = (sum(p <= LEVEL for p in each) for each in (ps, holm(ps)))
    if told == left:
        return ""
    return f"; {told} of {count(len(ps), 'difference')} {verb(told)} more than chance one by one, " + (
        f"{left or 'none'} after correction"
    )


def few(comparisons: list[Comparison]) -> list[str]:
    """Name the comparisons with too few seeds on a text, where others have enough."""
    effects = {f"{each.variant}{each.place}": each.effect for each in comparisons if each.effect}
    short = [name for name, effect in effects.items() if effect.p is None]
    if not 0 < len(short) < len(effects):
        return []
    return [f"Fewer than {FEWEST} seeds on a text, too few to tell: {join(short)}."]


def same_runs(runs: pd.DataFrame) -> list[str]:
    """Name the variants that are the same as the first at this scale: they ask for the same jobs."""
    first = runs["variant"].iloc[0]
    known = set(runs.loc[runs["variant"] == first, "digest"])
    same = [variant for variant, rows in runs.groupby("variant", sort=False) if set(rows["digest"]) <= known][1:]
    if not same:
        return []
    return [f"{capital(join(same))} {'is' if len(same) == 1 else 'are'} the same as {first} at this scale."]


def all_kept(comparisons: list[Comparison]) -> list[str]:
    """Name the places where k keeps every key, so that two variants are one."""
    places = dict.fromkeys(each.place for each in comparisons if each.keeps_all and each.effect is None)
    said = "; ".join(place.removeprefix(" at ") for place in places)
    return [f"Not compared where k keeps every key that the span holds: {said}."] if said else []


def costs(finished: pd.DataFrame) -> list[str]:
    """Say of a few variants what they cost beside the first, at the largest S and k of each, in a sentence each.

    Of speeds those whose interval over turns does not hold 1. Of many variants the table has the costs.
    """
    sides = {variant: _largest(rows) for variant, rows in finished.groupby("variant", sort=False)}
    first, *others = sides
    if len(others) > NAMED:
        return []
    said = {variant: _costs_of(sides[variant], sides[first]) for variant in others}
    return [
        f"Beside {first}, {variant}{_place(sides[variant].iloc[0], axes_of(finished))} has {join(parts)}."
        for variant, parts in said.items()
        if parts
    ]


def _place(run: pd.Series, axes: list[str]) -> str:
    """Name the place of a run on these axes, ` at S = 64, k = 8`, as far as it has them."""
    values = name_places(*(run[axis] if axis in axes else None for axis in GRID))
    return f" at {', '.join(values)}" if values else ""


def _costs_of(rows: pd.DataFrame, base: pd.DataFrame) -> list[str]:
    parts = []
    for quantity, words in RATIOS.items():
        if quantity not in rows:
            continue
        if quantity in SPEEDS:
            shown = ratio_over_turns(rows, base, quantity)
            ratio = shown["value"] if shown["value"] and told_apart(shown) else math.nan
        else:
            ratio = _ratio(rows, base, quantity)
        if is_number(ratio) and abs(ratio - 1) >= WORTH_OF.get(quantity, WORTH):
            parts.append(f"{ratio:.2f} times {words}")
    return parts


def growth(finished: pd.DataFrame) -> list[str]:
    """Say how the executed multiply-adds grow from the smallest S, or k, to the largest, for a few variants."""
    lines = []
    for axis in axes_of(finished):
        ends, ratios = [finished[axis].min(), finished[axis].max()], {}
        for variant, rows in list(finished.groupby("variant", sort=False))[:NAMED]:
            if {*ends} <= {*rows[axis]}:
                low, high = (rows[rows[axis] == end] for end in ends)
                ratios[variant] = _ratio(high, low, "macs_executed")
        ratios = {variant: ratio for variant, ratio in ratios.items() if is_number(ratio)}
        if any(abs(ratio - 1) >= WORTH for ratio in ratios.values()):
            times = join([f"{ratio:.2f} times with {variant}" for variant, ratio in ratios.items()])
            lines.append(f"From {axis} = {ends[0]:g} to {ends[1]:g} the multiply-adds grow {times}.")
    return lines


def _largest(rows: pd.DataFrame) -> pd.DataFrame:
    for axis in ("S", "k"):
        if rows[axis].notna().any():
            rows = rows[rows[axis] == rows[axis].max()]
    return rows


def _ratio(rows: pd.DataFrame, base: pd.DataFrame, quantity: str) -> float:
    """Divide means over configurations, on whose every seed a cost stands; NaN where one is missing or the other 0."""
    part, whole = (side.groupby("configuration")[quantity].mean().mean() for side in (rows, base))
    return part / whole if whole else math.nan


def spans(finished: pd.DataFrame, tokens: str) -> list[str]:
    """Say how far the nets with learned spans look, at the largest S."""
    learned = learned_spans(finished[finished["mean_span"].notna()])
    lines = []
    for variant, rows in list(learned.groupby("variant", sort=False))[:NAMED]:
        rows = _largest(rows)
        where = ", as at the start" if stayed(rows) else ""
        means = rows.groupby("title", sort=False)["mean_span"].mean()
        (text, mean), *others = means.items()
        on = f" on {text}" if others else ""
        shown = join([f"{mean:.0f} {tokens} far{on}", *(f"{mean:.0f} on {text}" for text, mean in others)])
        lines.append(f"{capital(variant)} looks {shown}, of at most {rows['S'].max():.0f}{where}.")
    return lines


def learning(finished: pd.DataFrame) -> list[str]:
    """Say whether runs still learned when their training ended, which may turn an answer round."""
    gains = finished.drop_duplicates("digest")["late_gain"]
    late = gains[gains > FLAT]
    if not len(late):
        return []
    return [
        f"{len(late)} of {count(len(gains), 'run')} were still learning, by up to {late.max():.2f} bits in the last "
        "quarter of the updates: more training may change the answer."
    ]


def failures(runs: pd.DataFrame, quantity: str) -> list[str]:
    """Count the runs that failed, by status, and those that were trained and have no such score."""
    runs = runs.assign(status=runs["status"].mask((runs["status"] == "ok") & runs[quantity].isna(), "not scored"))
    broken = runs[runs["status"] != "ok"].drop_duplicates("digest")
    if not len(broken):
        return []
    kinds = join([f"{number} {status}" for status, number in broken["status"].value_counts().items()])
    return [f"{len(broken)} of {count(runs['digest'].nunique(), 'run')} failed ({kinds})."]
