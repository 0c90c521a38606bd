"""Variants compared in pairs, each run with the run of the same corpus and seed.

An interval is made here: `effect_of_pairs` takes the differences of pairs and gives the mean, each
corpus counting alike, with the 95 % interval and p of `workflow.results.statistics`. Of a task
whose seeds are not paired, `pooled_effect` pools the standard deviation over all variants.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import pandas as pd

from workflow.results.censored import bound_of, bound_of_difference, merge_bounds
from workflow.results.numbers import name_places
from workflow.results.runs_table import GRID, finished
from workflow.results.statistics import (
    FEWEST,
    LEVEL,
    Unpaired,
    average_unpaired,
    half_width,
    mean_interval,
    mean_of,
    p_of,
    pooled_difference,
    scatter,
)

OWN = "its own baseline"  # in place of a variant's name, where variants are compared with several


@dataclass(frozen=True)
class Effect:
    """A mean of paired differences with its 95 % interval and p.

    n: pairs. fewest: of the corpus with the fewest; with too few there is no interval and no p.
    by_corpus: the mean on each corpus, by title. pairs: their number on each corpus.
    bound: ≥ or ≤ where censored scores make the mean a bound, ≈ where it is not even one.
    """

    mean: float
    low: float | None
    high: float | None
    p: float | None
    n: int
    fewest: int
    by_corpus: dict[str, float]
    pairs: dict[str, int]
    bound: str = ""

    @property
    def significant(self) -> bool:
        """Whether the effect is significant alone: its interval does not hold zero."""
        return self.p is not None and self.p <= LEVEL

    @property
    def half(self) -> float | None:
        """Half the width of the interval, which sets the digits of the effect."""
        return half_width(self.low, self.high)


@dataclass(frozen=True)
class Comparison:
    """A variant at one S and k compared with its baseline.

    effect: None where the two have no pair. is_same: they are the same runs at this scale.
    """

    variant: str
    baseline: str
    S: float | None
    k: float | None
    effect: Effect | None
    is_same: bool = False

    @property
    def place(self) -> str:
        return place_on(GRID, self.S, self.k)

    @property
    def keeps_all(self) -> bool:
        """Whether k is all that the span holds."""
        if self.S is None or self.k is None:
            return False
        return self.k >= self.S

    @property
    def is_unmatched(self) -> bool:
        """Whether the baseline lacks a run to compare with."""
        if self.is_same or self.keeps_all:
            return False
        return self.effect is None

    @property
    def is_one(self) -> bool:
        """Whether the variant is its baseline by another name.

        That is: k is all that the span holds, and no pair differs.
        """
        if not self.keeps_all or self.effect is None:
            return False
        return not any(self.effect.by_corpus.values())


@dataclass(frozen=True)
class Place:
    """A variant at one S and k.

    scores: of its finished runs, by (title of the corpus, seed). digests: of all its runs.
    bounds: by title of the corpus, ≥ or ≤ where some score there is censored (`bound_of`).
    """

    variant: str
    S: float | None
    k: float | None
    scores: dict[tuple[str, int], float]
    digests: frozenset[str]
    bounds: Mapping[str, str]

    @property
    def bound(self) -> str:
        """Join the signs of all corpora."""
        return merge_bounds(self.bounds.values())


def effect_of(differences: pd.Series) -> Effect | None:
    """Average paired differences, indexed by (title, seed); None where there are none."""
    return effect_of_pairs(dict(zip(differences.index, differences.tolist(), strict=True)))


def effect_of_pairs(differences: Mapping[tuple[str, int], float]) -> Effect | None:
    """Average paired differences by (title of the corpus, seed); None where there are none."""
    if not differences:
        return None
    values = [*differences.values()]
    corpora = [corpus for corpus, _ in differences]
    pairs = Counter(corpora)
    fewest = min(pairs.values())
    if fewest < FEWEST:
        mean = mean_of(values, corpora)
        low = high = p = None
    else:
        mean, low, high = mean_interval(values, corpora)
        # without scatter there is no t: all pairs agree exactly
        has_scatter = scatter(values, corpora) > 0
        p = p_of(values, blocks=corpora) if has_scatter else float(mean == 0)
    return Effect(
        mean=mean,
        low=low,
        high=high,
        p=p,
        n=len(values),
        fewest=fewest,
        by_corpus=_means_by_corpus(differences),
        pairs=dict(pairs),
    )


Scores = Mapping[tuple[str, int], float]  # by (title of the corpus, seed)


def pooled_effect(ours: Scores, theirs: Scores, everyone: Iterable[Scores]) -> Effect | None:
    """Subtract the mean over seeds, corpus by corpus; None where they share no corpus.

    everyone: the scores of all variants, over which the standard deviation of seeds is pooled.
    """
    everyone = list(everyone)
    mine = _by_corpus(ours)
    base = _by_corpus(theirs)
    shared = [corpus for corpus in mine if corpus in base]
    if not shared:
        return None
    differences = {}
    for corpus in shared:
        groups = [_by_corpus(each).get(corpus, []) for each in everyone]
        groups = [group for group in groups if group]
        differences[corpus] = pooled_difference(mine[corpus], base[corpus], groups)
    pairs = {corpus: min(len(mine[corpus]), len(base[corpus])) for corpus in shared}
    fewest = min(pairs.values())
    found = average_unpaired([*differences.values()])
    if fewest < FEWEST:
        found = Unpaired(found.mean)
    return Effect(
        mean=found.mean,
        low=found.low,
        high=found.high,
        p=found.p,
        n=sum(pairs.values()),
        fewest=fewest,
        by_corpus={corpus: each.mean for corpus, each in differences.items()},
        pairs=pairs,
    )


def _by_corpus(scores: Scores) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for (corpus, _), value in scores.items():
        found.setdefault(corpus, []).append(value)
    return found


def _means_by_corpus(differences: Mapping[tuple[str, int], float]) -> dict[str, float]:
    return {corpus: fmean(values) for corpus, values in _by_corpus(differences).items()}


def pair(runs: pd.DataFrame, base: pd.DataFrame, quantity: str) -> pd.Series:
    """Subtract the base's quantity from that of each run, by (title, seed), in the runs' order.

    Pairs with a failed run are left out.
    """
    differences = paired(by_text_and_seed(runs, quantity), by_text_and_seed(base, quantity))
    places = pd.MultiIndex.from_tuples(list(differences), names=["title", "seed"])
    return pd.Series(list(differences.values()), places, dtype=float)


def by_text_and_seed(runs: pd.DataFrame, quantity: str) -> dict[tuple[str, int], float]:
    """Map (title of the corpus, seed) to the quantity of the finished runs that have it."""
    # a table of runs has hundreds of columns, which need not be copied
    read = runs[["digest", "title", "seed", "status", quantity]]
    # one corpus may stand in for two of the paper's
    once = finished(read, quantity).drop_duplicates("digest")
    values: dict[tuple[str, int], list[float]] = {}
    for title, seed, value in zip(once["title"], once["seed"], once[quantity], strict=True):
        values.setdefault((title, seed), []).append(float(value))
    return {place: fmean(found) for place, found in values.items()}


def places(runs: pd.DataFrame) -> Iterator[tuple[str, float | None, float | None, pd.DataFrame]]:
    """Yield each variant, S and k with its runs.

    Variants are in the order of the question, S and k rising.
    """
    by_variant = runs.groupby("variant", sort=False)
    for variant, rows in by_variant:
        by_place = rows.groupby([*GRID], dropna=False, sort=True)
        for place, group in by_place:
            S, k = map(_known, place)
            yield variant, S, k, group


def _known(value: float) -> float | None:
    if pd.isna(value):
        return None
    return value


def baselines(runs: pd.DataFrame) -> dict[str, str]:
    """Map each variant to the one that its question compares it with, else the first variant.

    The first itself is left out where it is compared with none.
    """
    named = dict(zip(runs["variant"], runs["baseline"], strict=True))
    first = runs["variant"].iloc[0]
    of = {}
    for variant, asked in named.items():
        base = asked if asked in named else first
        if base != variant:
            of[variant] = base
    return of


def matching_runs(base: pd.DataFrame, S: float | None, k: float | None) -> pd.DataFrame:
    """Select the runs of a variant at this S and k, or at the only ones that it has."""
    wanted = dict(zip(GRID, (S, k), strict=True))
    for axis, value in wanted.items():
        has = base[axis]
        if has.nunique(dropna=False) < 2:
            continue
        is_same = has.isna() if value is None else has == value
        base = base[is_same]
    return base


def list_places(runs: pd.DataFrame, quantity: str) -> list[Place]:
    """List each variant at each S and k with its scores, in the order of `places`."""
    found = []
    for variant, S, k, group in places(runs):
        scores = by_text_and_seed(group, quantity)
        digests = frozenset(group["digest"])
        by_title = group.groupby("title", sort=False)
        bounds = {title: bound_of(rows, quantity) for title, rows in by_title}
        found.append(Place(variant, S, k, scores, digests, bounds))
    return found


def compare_places(
    places: Sequence[Place], of: Mapping[str, str], pooled: bool = False
) -> list[Comparison]:
    """Compare places with those of their baselines, but where the two are one.

    of: variant -> baseline. pooled: whether seeds are not paired (`pooled_effect`); each corpus is
    then a task of its own, and compared alone.
    """
    if not pooled:
        return _compare_all(places, of, None)
    corpora: dict[str, None] = {}
    for place in places:
        corpora |= dict.fromkeys(corpus for corpus, _ in place.scores)
    found = []
    for corpus in corpora:
        on_corpus = [_on(place, corpus) for place in places]
        on_corpus = [place for place in on_corpus if place.scores]
        found += _compare_all(on_corpus, of, [place.scores for place in on_corpus])
    return found


def _on(place: Place, corpus: str) -> Place:
    """Keep the scores of one corpus."""
    scores = {key: score for key, score in place.scores.items() if key[0] == corpus}
    return replace(place, scores=scores, bounds={corpus: place.bounds.get(corpus, "")})


def _compare_all(
    places: Sequence[Place], of: Mapping[str, str], everyone: list[Scores] | None
) -> list[Comparison]:
    """Compare places with those of their baselines. everyone: as of `pooled_effect`."""
    by_variant: dict[str, list[Place]] = {}
    for place in places:
        mine = by_variant.setdefault(place.variant, [])
        mine.append(place)
    found = []
    for place in places:
        base = of.get(place.variant)
        if base:
            of_base = by_variant.get(base, [])
            found.append(_compare(place, base, of_base, everyone))
    return found


def _compare(
    place: Place, base: str, of_base: list[Place], everyone: list[Scores] | None
) -> Comparison:
    than = _same_place(of_base, place)
    is_same = than is not None and place.digests <= than.digests
    effect = None
    if than is not None and not is_same:
        if everyone is None:
            effect = effect_of_pairs(paired(place.scores, than.scores))
        else:
            effect = pooled_effect(place.scores, than.scores, everyone)
        if effect:
            effect = replace(effect, bound=bound_of_difference(place.bound, than.bound))
    comparison = Comparison(
        variant=place.variant,
        baseline=base,
        S=place.S,
        k=place.k,
        effect=effect,
        is_same=is_same,
    )
    if comparison.is_one:
        return replace(comparison, effect=None)
    return comparison


def _same_place(of_base: list[Place], place: Place) -> Place | None:
    """Find the baseline's place at the same S and k, or the only one that it has on an axis."""
    for axis in GRID:
        # anew for each axis: one place at this S is taken whatever its k
        if axis not in varying_axes(of_base):
            continue
        here = getattr(place, axis)
        of_base = [each for each in of_base if getattr(each, axis) == here]
    if not of_base:
        return None
    return of_base[0]


def varying_axes(places: Iterable) -> list[str]:
    """List the axes of the grid on which these places, or differences, have several values."""
    places = list(places)
    axes = []
    for axis in GRID:
        values = {getattr(each, axis) for each in places}
        if len(values) > 1:
            axes.append(axis)
    return axes


def paired(ours: Scores, theirs: Scores) -> dict[tuple[str, int], float]:
    """Subtract the scores of the base, for the seeds that both have."""
    differences = {}
    for key, value in ours.items():
        if key in theirs:
            differences[key] = value - theirs[key]
    return differences


def effect_between(
    runs: pd.DataFrame,
    base: pd.DataFrame,
    quantity: str,
    everyone: Iterable[Scores] | None = None,
) -> Effect | None:
    """Subtract a base from runs; None where they have no pair, or are the same runs here.

    everyone: the scores of each variant, where seeds are not paired (`pooled_effect`).
    """
    digests = set(runs["digest"])
    if digests <= set(base["digest"]):
        return None
    ours = by_text_and_seed(runs, quantity)
    theirs = by_text_and_seed(base, quantity)
    if everyone is None:
        effect = effect_of_pairs(paired(ours, theirs))
    else:
        effect = pooled_effect(ours, theirs, everyone)
    if effect is None:
        return None
    bound = bound_of_difference(bound_of(runs, quantity), bound_of(base, quantity))
    return replace(effect, bound=bound)


def place_on(axes: Sequence[str], S: float | None, k: float | None) -> str:
    """Name a place on these axes, ` at S = 64, k = 8`, as far as it has them."""
    shown_S = S if "S" in axes else None
    shown_k = k if "k" in axes else None
    values = name_places(shown_S, shown_k)
    if not values:
        return ""
    return f" at {', '.join(values)}"


def axes_of(runs: pd.DataFrame) -> list[str]:
    """List S and k if some variant has several of them; the one with more values first."""
    by_variant = runs.groupby("variant")
    counts = {}
    for axis in GRID:
        most = by_variant[axis].nunique().max()
        if most > 1:
            counts[axis] = most
    return sorted(counts, key=counts.__getitem__, reverse=True)


def change_along(runs: pd.DataFrame, axis: str, quantity: str) -> Effect | None:
    """Compare the largest S, or k, of one variant with the smallest, averaged over the other axis.

    Each place of the other axis is compared with itself, so that one without a score at an end is
    in neither mean.
    """
    least = runs[axis].min()
    most = runs[axis].max()
    if not least < most:
        return None
    S, k = GRID
    other = k if axis == S else S
    differences = []
    for _, rows in runs.groupby(other, dropna=False):
        values = rows[axis]
        low = rows[values == least]
        high = rows[values == most]
        differences.append(pair(high, low, quantity))
    together = pd.concat(differences)
    by_pair = together.groupby(level=["title", "seed"], sort=False)
    return effect_of(by_pair.mean())
