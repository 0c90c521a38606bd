"""Back-test the battery: do its results predict those of the same variants at a larger scale?

A variant counts where the sign at the larger scale is known: its 95 % interval there excludes 0.
docs/decisions/0037-cards.md has the results.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from workflow.cards.effects import Effect, Effects, effects_at
from workflow.results.store import Store
from workflow.settings.battery import Battery
from workflow.settings.scales import known_scales, strength

FEWEST_VARIANTS = 15  # variants from which p is computed
DRAWS = 9_999  # permutations
ROUNDING = 1e-9
SYMBOLS = "symbols"  # the task that is counted apart
Values = Sequence[float]


@dataclass(frozen=True)
class Case:
    """A variant whose effect at the larger scale is known, and what the battery measured of it.

    part: on which. larger: its effect there. own: what the battery measured in its place. battery:
    its effects on the battery, by part.
    """

    variant: str
    part: str
    larger: Effect
    own: Effect
    battery: Mapping[str, Effect]


@dataclass(frozen=True)
class Score:
    """How many signs of the larger scale each predictor got right.

    cases: how many there are. battery: its sign. always_worse: every variant is worse. dearer: a
    variant is better if it needs more MACs than the baseline, else worse. rank: Spearman's
    correlation of the effects, None of fewer than three. p, p_rank: of as many right signs, or as
    high a correlation, where the battery's results are permuted over the variants; None of fewer
    than `FEWEST_VARIANTS`.
    """

    cases: int
    battery: int
    always_worse: int
    dearer: int
    rank: float | None
    p: float | None
    p_rank: float | None


@dataclass(frozen=True)
class Pairing:
    """How the battery's results on one part predict a larger scale on the same part or another."""

    part: str
    larger_part: str
    score: Score


@dataclass(frozen=True)
class PartScore:
    """How well one part predicts the variants of a larger scale, whatever part these are of.

    title: of the part. cases: variants with a result on this part. right: signs that it got right.
    always_worse: those that are worse. informs: it got more right than are worse, whichever variant
    is left out.
    """

    part: str
    title: str
    cases: int
    right: int
    always_worse: int
    informs: bool


@dataclass(frozen=True)
class AtScale:
    """The back-test at one larger scale.

    cases: each variant once, on the part where the larger scale is most certain. score: of these.
    significant: the same of those whose interval excludes 0 on the battery too. symbols: the same
    as score for tasks of symbols, which are not in the others. left_out: how many signs were right
    if each variant is predicted by the part that informs most about all others. parts, pairings:
    part by part.
    """

    scale: str
    cases: tuple[Case, ...]
    score: Score
    significant: Score
    symbols: Score
    left_out: int
    parts: tuple[PartScore, ...]
    pairings: tuple[Pairing, ...]


@dataclass(frozen=True)
class BackTest:
    """What the battery's results at its own scale say of larger scales.

    untested: titles of the parts where no variant ships at the battery's scale.
    """

    scale: str
    larger: tuple[AtScale, ...]
    untested: tuple[str, ...]


def back_test(battery: Battery, scale: str, store: Store) -> BackTest:
    """Back-test a battery at a scale on the records that ship, at every larger scale.

    A larger scale where no variant is known is left out.
    """
    smaller = effects_at(scale, battery, store)
    shipped = {line.file.parent.name for line in store.shipped.values()}
    above = [each for each in known_scales() if strength(each) > strength(scale)]
    larger = []
    for each in sorted(shipped.intersection(above), key=strength):
        found = compare_scales(each, battery, smaller, effects_at(each, battery, store))
        if found.score.cases or found.symbols.cases:
            larger.append(found)
    untested = [part.title for name, part in battery.parts.items() if not smaller[name]]
    return BackTest(scale, tuple(larger), tuple(untested))


def compare_scales(scale: str, battery: Battery, smaller: Effects, larger: Effects) -> AtScale:
    """Score the battery's effects at the larger scale."""
    of_symbols = {name for name, part in battery.parts.items() if part.task == SYMBOLS}
    others = {name: effects for name, effects in larger.items() if name not in of_symbols}
    symbols = {name: effects for name, effects in larger.items() if name in of_symbols}
    cases = find_cases(smaller, others)
    scored = [score_part(name, part.title, cases) for name, part in battery.parts.items()]
    return AtScale(
        scale=scale,
        cases=tuple(cases),
        score=score_cases(cases),
        significant=score_cases([each for each in cases if each.own.is_known]),
        symbols=score_cases(find_cases(smaller, symbols)),
        left_out=count_left_out(cases),
        parts=tuple(each for each in scored if each.cases),
        pairings=tuple(pair_parts(smaller, larger)),
    )


def find_cases(smaller: Effects, larger: Effects) -> list[Case]:
    """Pick one case for each variant: the part where the larger scale is most certain.

    Parts that the battery did not measure of a variant are left out.
    """
    by_variant: dict[str, dict[str, Effect]] = defaultdict(dict)
    for part, effects in larger.items():
        for variant, effect in effects.items():
            if effect.is_known and variant in smaller[part]:
                by_variant[variant][part] = effect
    cases = []
    for variant, known in sorted(by_variant.items()):
        part = min(known, key=lambda each: known[each].p)
        battery = {
            name: effects[variant] for name, effects in smaller.items() if variant in effects
        }
        cases.append(Case(variant, part, known[part], battery[part], battery))
    return cases


def pair_parts(smaller: Effects, larger: Effects) -> Iterable[Pairing]:
    """Score every part of the battery on every part of the larger scale, where there are cases."""
    for part, ours in smaller.items():
        for other, theirs in larger.items():
            cases = []
            for variant in sorted(ours.keys() & theirs.keys()):
                if theirs[variant].is_known:
                    effects = {part: ours[variant]}
                    cases.append(Case(variant, other, theirs[variant], ours[variant], effects))
            if cases:
                yield Pairing(part, other, score_cases(cases))


def score_part(part: str, title: str, cases: Sequence[Case]) -> PartScore:
    """Score one part; whether it informs is judged with each variant left out in turn."""
    scored = [each for each in cases if part in each.battery]
    excesses = []
    for case in scored:
        excesses.append(_excess(part, [each for each in scored if each is not case]))
    return PartScore(
        part=part,
        title=title,
        cases=len(scored),
        right=sum(_is_right(part, each) for each in scored),
        always_worse=sum(each.larger.difference <= 0 for each in scored),
        informs=bool(excesses) and min(excesses) > 0,
    )


def count_left_out(cases: Sequence[Case]) -> int:
    """Count the signs that are right if each variant is predicted without itself.

    The part that predicts it is the one that informs most about the others; of equal ones the first
    of the battery.
    """
    right = 0
    for case in cases:
        others = [each for each in cases if each is not case]
        best = max(case.battery, key=lambda part: _excess(part, others))
        right += _is_right(best, case)
    return right


def _excess(part: str, cases: Iterable[Case]) -> int:
    """Count the signs that a part got right, less those that are right if all are worse."""
    excess = 0
    for case in cases:
        if part in case.battery:
            excess += _is_right(part, case) - (case.larger.difference <= 0)
    return excess


def _is_right(part: str, case: Case) -> bool:
    return (case.battery[part].difference > 0) == (case.larger.difference > 0)


def score_cases(cases: Sequence[Case]) -> Score:
    """Score the battery and two predictors that know nothing of it."""
    battery = [each.own.difference for each in cases]
    larger = [each.larger.difference for each in cases]
    dearer = [(each.own.macs or 1) - 1 for each in cases]
    rank = _correlate(_ranks(battery), _ranks(larger)) if len(cases) > 2 else None
    p, p_rank = permutation_p(battery, larger) if len(cases) >= FEWEST_VARIANTS else (None, None)
    return Score(
        cases=len(cases),
        battery=_agreements(battery, larger),
        always_worse=_agreements([-1] * len(cases), larger),
        dearer=_agreements(dearer, larger),
        rank=rank,
        p=p,
        p_rank=p_rank,
    )


def _agreements(predicted: Values, larger: Values) -> int:
    """Count the signs that were right; 0 predicts no improvement."""
    return sum((one > 0) == (other > 0) for one, other in zip(predicted, larger, strict=True))


def _ranks(values: Values) -> np.ndarray:
    """Rank values from 1; equal ones share their mean rank."""
    compared = np.asarray(values)
    smaller = (compared < compared[:, None]).sum(1)
    equal = (compared == compared[:, None]).sum(1)
    return smaller + (equal + 1) / 2


def _correlate(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Compute Pearson's correlation; 0 where one side is constant."""
    ours = ours - ours.mean()
    theirs = theirs - theirs.mean()
    size = np.sqrt((ours**2).sum() * (theirs**2).sum())
    return float((ours * theirs).sum() / size) if size else 0.0


def permutation_p(battery: Values, larger: Values) -> tuple[float, float]:
    """Compute p, one-sided, of the number of right signs and of the correlation of ranks.

    The battery's results are assigned to the variants at random, `DRAWS` times. The share of
    variants that are worse stays as it is, so predicting it right does not count as skill.
    """
    generator = np.random.default_rng(0)
    ranks = _ranks(battery)
    theirs = _ranks(larger)
    signs = _agreements(battery, larger)
    rank = _correlate(ranks, theirs)
    as_many = 1  # the assignment that was measured is one of them
    as_high = 1
    for _ in range(DRAWS):
        order = generator.permutation(len(battery))
        drawn = [battery[place] for place in order]
        as_many += _agreements(drawn, larger) >= signs
        # sums in another order differ by rounding
        as_high += _correlate(ranks[order], theirs) >= rank - ROUNDING
    return as_many / (DRAWS + 1), as_high / (DRAWS + 1)
