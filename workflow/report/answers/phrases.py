"""Comparisons with the first variant in words, each with its number, unit and interval."""

from dataclasses import dataclass

import pandas as pd

from workflow.report.answers.effects import Comparison, Effect, beside
from workflow.report.numbers import intervals, join, to_digits
from workflow.results.registry import REGISTRY

NAMED = 3  # so many variants are compared one by one; of more, it is counted how many are better or worse
ALIKE = "not told apart"
STATES = ("better", "worse", ALIKE)


@dataclass(frozen=True)
class Score:
    """The quantity that the variants are compared by. runs: with their text, the first variant's first."""

    quantity: str
    unit: str
    runs: pd.DataFrame

    @property
    def first(self) -> str:
        return self.runs["variant"].iloc[0]

    def direction(self, effect: Effect) -> str:
        return "better" if (effect.mean < 0) == (REGISTRY[self.quantity].better == "lower") else "worse"

    def state(self, effect: Effect) -> str:
        return self.direction(effect) if effect.told else ALIKE

    def size(self, effect: Effect) -> str:
        return f"{to_digits(abs(effect.mean), effect.half)} {self.unit}"

    def bounds(self, effect: Effect) -> tuple[float | None, float | None]:
        """Return the interval of the size of an effect, in its own direction."""
        turned = effect.low is not None and effect.mean < 0
        return (-effect.high, -effect.low) if turned else (effect.low, effect.high)

    def differences(self, effects: list[Effect]) -> str:
        """Write effects with their signs: `−0.1 and 0.2 bpc, 95 % intervals ...`."""
        numbers = join([to_digits(effect.mean, effect.half) for effect in effects])
        return f"{numbers} {self.unit}, {intervals([(effect.low, effect.high) for effect in effects])}"


def describe_comparisons(score: Score, paired: list[Comparison]) -> str:
    """Describe all comparisons that have pairs, in the order of the variants."""
    by_variant: dict[str, list[Comparison]] = {}
    for each in paired:
        by_variant.setdefault(each.variant, []).append(each)
    if len(by_variant) > NAMED:
        return _count(score, [group[-1] for group in by_variant.values()])
    said: dict[str, list[tuple[str, str | None, Effect]]] = {}  # what is said -> of whom, where, the effect there
    for variant, group in by_variant.items():
        words, where = _one(score, group[0]) if len(group) == 1 else _along(score, group)
        said.setdefault(words, []).append((variant, where, group[-1].effect))
    return "; ".join(_of_whom(score, words, whom) for words, whom in said.items())


def _of_whom(score: Score, words: str, whom: list[tuple[str, str | None, Effect]]) -> str:
    """Say `a is better` or `a and b are better`, with the differences in brackets where the words have none."""
    names, (where, *_), effects = zip(*whom, strict=True)
    said = f"{join([*names])} {words.format(_verb(len(names)))}"
    if where is None:
        return said
    are = "differences are" if len(effects) > 1 else "difference is"
    return f"{said} ({f'{where} the {are}'.strip()} {score.differences([*effects])})"


def _one(score: Score, comparison: Comparison) -> tuple[str, str | None]:
    """Say how a variant without a grid compares, `{}` for the verb; and where the differences in brackets are from."""
    effect, first = comparison.effect, score.first
    if not effect.told:
        return f"cannot be told apart from {first}", ""
    evidence = f"{_means(score, comparison)}{intervals([score.bounds(effect)])}"
    return f"{{}} {score.size(effect)} {score.direction(effect)} than {first} ({evidence})", None


def _means(score: Score, comparison: Comparison) -> str:
    """Write the means of both sides where one text was read; a mean over several texts says nothing."""
    runs = score.runs[score.runs["status"] == "ok"]
    if runs["title"].nunique() > 1:
        return ""
    sides = (runs[runs["variant"] == comparison.variant], beside(runs, comparison.S, comparison.k))
    shared = set(sides[0]["seed"]) & set(sides[1]["seed"])  # those of the pairs that the effect is a mean over
    means = [side.loc[side["seed"].isin(shared), score.quantity].mean() for side in sides]
    ours, than = (to_digits(mean, comparison.effect.half) for mean in means)
    return f"{ours} against {than}, "


def _along(score: Score, group: list[Comparison]) -> tuple[str, str]:
    """Say where on its grid a variant is better, worse, or not told apart; the last place is named."""
    axes = [axis for axis in "Sk" if len({getattr(each, axis) for each in group}) > 1]
    states: dict[str, list[Comparison]] = {}
    for each in group:
        states.setdefault(score.state(each.effect), []).append(each)
    parts = []
    for state, members in states.items():
        than = "it" if parts else score.first
        words = f"cannot be told apart from {than}" if state == ALIKE else f"{{}} {state} than {than}"
        parts.append(f"{words} {_places(axes, members, group)}")
    named = members == [group[-1]]  # the last place was named just before
    return join(parts), "there" if named else group[-1].place.strip()


def _places(axes: list[str], members: list[Comparison], group: list[Comparison]) -> str:
    if len(axes) > 1:
        return f"at {len(members)} of {len(group)} places of the grid"
    values = [f"{getattr(each, axes[0]):g}" for each in members]
    if len(members) == len(group) > 2:
        return f"at every {axes[0]} from {values[0]} to {values[-1]}"
    return f"at {axes[0]} = {join(values)}"


def _count(score: Score, last: list[Comparison]) -> str:
    """Count the variants that are better, worse and neither, and name those farthest from the first."""
    states, first = [score.state(each.effect) for each in last], score.first
    if set(states) == {ALIKE}:
        widest = max(last, key=lambda each: abs(each.effect.mean))
        apart = f"the farthest from it is {widest.variant} ({score.differences([widest.effect])})"
        return f"none of {len(last)} variants can be told apart from {first}; {apart}"
    words = ", ".join(_part(states.count(state), state, first) for state in STATES if state in states)
    if len(set(states)) == 1:
        words = words.replace(str(len(last)), f"all {len(last)} variants", 1)
    else:
        words = f"of {len(last)} variants {words}"
    told = sorted((each for each in last if each.effect.told), key=lambda each: each.effect.mean)
    ends = told if len(told) < 3 else [told[0], told[-1]]
    return f"{words}; {join([_extreme(score, each) for each in ends])}"


def _part(number: int, state: str, first: str) -> str:
    words = "cannot be told apart from" if state == ALIKE else f"{_verb(number)} {state} than"
    return f"{number} {words} {first}"


def _verb(number: int) -> str:
    return "is" if number == 1 else "are"


def _extreme(score: Score, comparison: Comparison) -> str:
    effect, bounds = comparison.effect, intervals([score.bounds(comparison.effect)])
    return f"{comparison.variant} is {score.size(effect)} {score.direction(effect)} ({bounds})"
