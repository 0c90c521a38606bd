"""What one should know beside the sentence: each text, chance, costs, spans, whether runs still learned, failures."""

import math

import pandas as pd

from workflow.report.answers.effects import Comparison, Effect, axes_of
from workflow.report.numbers import count, is_number, join, to_digits
from workflow.results.registry import REGISTRY
from workflow.results.statistics import FEWEST, LEVEL, holm
from workflow.results.timings import SPEEDS, ratio_over_turns, told_apart
from workflow.results.trained_enough import FLAT, learned_spans, stayed

RATIOS = ("macs_executed", "memory_train_bytes", "train_tokens_per_s", "predict_tokens_per_s")
WORDS = {"macs_executed": "executed multiply-adds"}  # where the title of the registry needs its table around it
WORTH = 0.02  # a cost that differs by less is not worth a word
NAMED = 3


def by_text(comparisons: list[Comparison], unit: str) -> list[str]:
    """List each variant's mean difference on each text, at its largest S and k, for few variants and several texts."""
    return _on_each_text(f"Difference in {unit}", {each.variant: each.effect for each in comparisons if each.effect})


def changes_by_text(changes: list[tuple[str, str, Effect]], unit: str) -> list[str]:
    """List the changes along a grid on each text: the ends, the variant, and what it changes by."""
    ends = dict.fromkeys(each for each, *_ in changes)
    by_ends = {each: {variant: effect for end, variant, effect in changes if end == each} for each in ends}
    return [line for each, effects in by_ends.items() for line in _on_each_text(f"Change in {unit} {each}", effects)]


def _on_each_text(what: str, effects: dict[str, Effect]) -> list[str]:
    if not 0 < len(effects) <= NAMED or max(len(effect.by_text) for effect in effects.values()) < 2:
        return []
    lines = []
    for variant, effect in effects.items():
        parts = [f"{to_digits(mean, effect.half)} on {text}" for text, mean in effect.by_text.items()]
        lines.append(f"{variant} {join(parts)}")
    return [f"{what} by text: {'; '.join(lines)}."]


def chance(comparisons: list[Comparison]) -> list[str]:
    """Say how many comparisons remain once p is corrected for their number, where that alters the count."""
    ps = [each.effect.p for each in comparisons if each.effect and each.effect.p is not None]
    told, left = (sum(p <= LEVEL for p in each) for each in (ps, holm(ps)))
    if told == left:
        return []
    return [
        f"{count(len(ps), 'comparison')} were made, of which some look like effects by chance: {told} can be told from "
        f"chance one by one, {left} after Holm's correction for their number."
    ]


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
    return [f"{join(same)} {'is' if len(same) == 1 else 'are'} the same as {first} at this scale."] if same else []


def costs(finished: pd.DataFrame) -> list[str]:
    """Write each measured cost as a ratio to that of the first variant, at the largest S and k of each."""
    sides = {variant: _largest(rows) for variant, rows in finished.groupby("variant", sort=False)}
    first, *others = sides
    lines = []
    for quantity in (name for name in RATIOS if name in finished):
        name = WORDS.get(quantity, REGISTRY[quantity].title)
        if quantity in SPEEDS:
            shown = {variant: ratio_over_turns(sides[variant], sides[first], quantity) for variant in others}
            lines += _compare_speeds(name, {variant: ratio for variant, ratio in shown.items() if ratio["value"]})
            continue
        ratios = {variant: _ratio(sides[variant], sides[first], quantity) for variant in others}
        ratios = {variant: ratio for variant, ratio in ratios.items() if is_number(ratio)}
        if any(abs(ratio - 1) >= WORTH for ratio in ratios.values()):
            lines.append(f"{name} {_list_ratios(ratios, {}, alone=len(ratios) == 1)}")
    at = join([f"{axis} = {finished[axis].max():g}" for axis in axes_of(finished)])
    where = f" at {at}" if at else ""
    return [f"Costs{where} as ratios to {first}: {'; '.join(lines)}."] if lines else []


def _compare_speeds(name: str, shown: dict[str, dict]) -> list[str]:
    """Write the ratios of speeds whose interval over turns does not hold 1, and say which cannot be told apart."""
    told = {variant: ratio["value"] for variant, ratio in shown.items() if told_apart(ratio)}
    alike = [variant for variant in shown if variant not in told]
    within = {variant: f" ({shown[variant]['low']:.2f} to {shown[variant]['high']:.2f})" for variant in told}
    parts = [f"{name} {_list_ratios(told, within, alone=len(shown) == 1)}"] if told else []
    if alike:
        who = count(len(alike), "variant") if len(alike) > NAMED else join(alike)
        parts.append(f"{who} cannot be told apart in {name}")
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
            lines.append(f"From {axis} = {ends[0]:g} to {ends[1]:g} the executed multiply-adds become {times}.")
    return lines


def _list_ratios(ratios: dict[str, float], within: dict[str, str], *, alone: bool) -> str:
    """List ratios with name and interval, or of many the least and the most. alone: whether it needs no name."""
    if alone:
        return "".join(f"{ratio:.2f}{within.get(variant, '')}" for variant, ratio in ratios.items())
    if len(ratios) <= NAMED:
        return join([f"{ratio:.2f}{within.get(variant, '')} with {variant}" for variant, ratio in ratios.items()])
    return f"from {min(ratios.values()):.2f} to {max(ratios.values()):.2f}"


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
        where = ", where they began" if stayed(rows) else ""
        means = rows.groupby("title", sort=False)["mean_span"].mean()
        shown = join([f"{mean:.0f}{f' on {text}' if len(means) > 1 else ''}" for text, mean in means.items()])
        lines.append(f"{variant} {shown}, of at most {rows['S'].max():.0f}{where}")
    return [f"Average span reached, in {tokens}: {'; '.join(lines)}."] if lines else []


def learning(finished: pd.DataFrame) -> list[str]:
    """Say whether runs still learned when their training ended, which may turn an answer round."""
    gains = finished.drop_duplicates("digest")["late_gain"]
    late = gains[gains > FLAT]
    if not len(late):
        return []
    return [
        f"{len(late)} of {count(len(gains), 'run')} were still learning: the last quarter of the updates brought up to "
        f"{late.max():.2f} bits, so more training may change the answer."
    ]


def failures(runs: pd.DataFrame, quantity: str) -> list[str]:
    """Count the runs that failed, by status, and those that were trained and have no such score."""
    runs = runs.assign(status=runs["status"].mask((runs["status"] == "ok") & runs[quantity].isna(), "not scored"))
    broken = runs[runs["status"] != "ok"].drop_duplicates("digest")
    if not len(broken):
        return []
    kinds = join([f"{number} {status}" for status, number in broken["status"].value_counts().items()])
    return [f"{len(broken)} of {count(runs['digest'].nunique(), 'run')} failed ({kinds})."]
