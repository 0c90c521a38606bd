"""Comparisons of variants with their baselines in words: one finding a sentence, with the one number that carries it.

Intervals stand in the table and the figure beside it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from workflow.report.answers.effects import GRID, Comparison, Effect, axes_of, place_on
from workflow.report.numbers import join, to_digits
from workflow.results.registry import REGISTRY

NAMED = 3  # so many variants are compared one by one; of more, it is counted how many are better or worse
ALIKE = "not told apart"
VERB = "\0"  # stands for `is` or `are` where a name cannot hold it
STATES = ("better", "worse", ALIKE)


@dataclass(frozen=True)
class Score:
    """The quantity that the variants are compared by. runs: with their text."""

    quantity: str
    unit: str
    runs: pd.DataFrame

    def direction(self, effect: Effect) -> str:
        return "better" if (effect.mean < 0) == (REGISTRY[self.quantity].better == "lower") else "worse"

    def state(self, effect: Effect) -> str:
        return self.direction(effect) if effect.told else ALIKE

    def size(self, effect: Effect) -> str:
        return f"{to_digits(abs(effect.mean), effect.half)} {self.unit}"

    def where(self, effect: Effect) -> str:
        """` on X alone` of an effect that was seen on some of the texts; of one that turns on a text, that it does."""
        texts = [*self.runs["title"].unique()]
        if len(on := [text for text in texts if text in effect.by_text]) < len(texts):
            return f" on {join(on)} alone"
        return " (the texts disagree)" if effect.told and effect.turns else ""


def describe_comparisons(score: Score, paired: list[Comparison]) -> list[str]:
    """Write sentences on all comparisons that have pairs, baseline by baseline, in the order of the variants."""
    return [sentence for by_variant in _by_baseline(paired) for sentence in _beside_one(score, by_variant)]


def _by_baseline(paired: list[Comparison]) -> list[dict[str, list[Comparison]]]:
    """Group comparisons by variant, for each baseline."""
    groups: dict[str, dict[str, list[Comparison]]] = {}
    for each in paired:
        groups.setdefault(each.baseline, {}).setdefault(each.variant, []).append(each)
    return [*groups.values()]


def _beside_one(score: Score, by_variant: dict[str, list[Comparison]]) -> list[str]:
    if len(by_variant) > NAMED:
        return _count(score, [group[-1] for group in by_variant.values()], _each_at_its_largest(by_variant.values()))
    said: dict[str, list[str]] = {}  # what is said -> of whom
    for variant, group in by_variant.items():
        said.setdefault(_one(score, group[0]) if len(group) == 1 else _along(score, group), []).append(variant)
    return [f"{join(names)} {words.replace(VERB, verb(len(names)))}" for words, names in said.items()]


def worded(paired: list[Comparison]) -> list[Comparison]:
    """Select the comparisons that sentences speak of: of many variants beside one each at the last place alone."""
    return [
        each
        for by_variant in _by_baseline(paired)
        for group in by_variant.values()
        for each in (group[-1:] if len(by_variant) > NAMED else group)
    ]


def _each_at_its_largest(groups: Iterable[list[Comparison]]) -> str:
    axes = [axis for axis in GRID if any(len({getattr(each, axis) for each in group}) > 1 for group in groups)]
    return f", each at its largest {join(axes)}," if axes else ""


def _one(score: Score, comparison: Comparison) -> str:
    """Say how a variant without a grid compares, where others have one at which place of it; `VERB` for the verb."""
    effect, place = comparison.effect, place_on(axes_of(score.runs), comparison.S, comparison.k)
    if not effect.told:
        return f"cannot be told apart from {comparison.baseline}{place}"
    than = f"{score.size(effect)} {score.direction(effect)} than {comparison.baseline}"
    return f"{VERB} {than}{place}{score.where(effect)}"


def _along(score: Score, group: list[Comparison]) -> str:
    """Say where on its grid a variant is better, worse, or not told apart, and by how much at the last place."""
    axes = [axis for axis in "Sk" if len({getattr(each, axis) for each in group}) > 1]
    states: dict[str, list[Comparison]] = {}
    for each in group:
        states.setdefault(score.state(each.effect), []).append(each)
    parts = []
    for state, members in states.items():
        than = "it" if parts else members[0].baseline
        words = f"cannot be told apart from {than}" if state == ALIKE else f"{VERB} {state} than {than}"
        last = members[-1]
        size = f", by {score.size(last.effect)}{last.place}" if state != ALIKE and last is group[-1] else ""
        parts.append(f"{words} {_places(axes, members, group)}{size}")
    return " and ".join(parts)


def _places(axes: list[str], members: list[Comparison], group: list[Comparison]) -> str:
    if len(axes) > 1:
        whole = len(members) == len(group)
        return f"at {'each' if whole else len(members)} of {len(group)} places of the grid"
    values = [f"{getattr(each, axes[0]):g}" for each in members]
    if len(members) == len(group) > 2:
        return f"at every {axes[0]} from {values[0]} to {values[-1]}"
    return f"at {axes[0]} = {join(values)}"


def _count(score: Score, last: list[Comparison], where: str) -> list[str]:
    """Count the variants that are better, worse and neither, and name those farthest from their baseline."""
    states, base = [score.state(each.effect) for each in last], last[0].baseline
    if set(states) == {ALIKE}:
        return [f"none of {len(last)} variants{where} can be told apart from {base}"]
    counts = [(state, states.count(state)) for state in STATES if state in states]
    parts = [_part(state, number, "it" if place else base) for place, (state, number) in enumerate(counts)]
    whole = f"all {len(last)} variants{where} {parts[0].partition(' ')[2]}"
    told = sorted((each for each in last if each.effect.told), key=lambda each: abs(each.effect.mean))
    return [whole if len(counts) == 1 else f"of {len(last)} variants{where} {join(parts)}", *_ends(score, told)]


def _part(state: str, number: int, base: str) -> str:
    words = "cannot be told apart from" if state == ALIKE else f"{verb(number)} {state} than"
    return f"{number} {words} {base}"


def _ends(score: Score, told: list[Comparison]) -> list[str]:
    """Name in each direction the variant that is farthest from their baseline. told: the nearest first."""
    farthest = {score.direction(each.effect): each for each in told}
    ends = {"better": "best", "worse": "worst"}
    return [
        f"{ends[way]} is {each.variant}, {score.size(each.effect)} {way}{score.where(each.effect)}"
        for way, each in farthest.items()
    ]


def verb(number: int) -> str:
    return "is" if number == 1 else "are"


def quoted(variant: str) -> str:
    """Put the name of a variant that has a comma in quotation marks, so that a sentence shows where it ends."""
    return f"\N{LEFT DOUBLE QUOTATION MARK}{variant}\N{RIGHT DOUBLE QUOTATION MARK}" if "," in variant else variant
