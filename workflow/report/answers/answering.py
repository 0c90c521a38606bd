"""Answer a question by rule: find the difference that answers it, judge it, and write it in words.

The first variant after the baseline is the main contrast, chosen when the question was written.
With many variants the answer counts how many differ, because the best of many is better by
selection alone. Runs whose learned spans have hardly moved support no conclusion, and are compared
with none.

The steps: `read_basis` splits the runs into those of the recipe and those that follow trials;
`answers_by_baseline` answers with each baseline; `_answer_of` chooses one of four templates. An
interval is that of its pairs: `workflow.results.statistics.mean_interval`, called in `effects`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import pandas as pd

from workflow.report.answers import caveats
from workflow.report.answers.answer import (
    BETTER,
    COST_TITLES,
    INCONCLUSIVE,
    STATES,
    WORSE,
    Answer,
    Difference,
    Kind,
    Ratio,
    Settings,
    Status,
    by_corpus,
    last_of_variants,
)
from workflow.report.answers.effects import OWN, baselines, place_on, varying_axes
from workflow.report.answers.evidence import Evidence, Trend, trends, weigh
from workflow.report.answers.ratios import growth, largest, why_no_ratio
from workflow.report.answers.tuning import follows_recipe, follows_trials
from workflow.report.figures.colours import as_named
from workflow.results.numbers import capital, count, join, number, quoted, to_digits
from workflow.results.registry import bounds_of
from workflow.results.statistics import FEWEST, mean_interval
from workflow.results.trained_enough import hardly_moved, learned_spans, unsolved
from workflow.tasks.spec import TaskSpec

NAMED = 3  # so many variants are compared one by one; of more it is counted how many differ
MOST_WORDS = 20  # of a sentence
OF_ONE = {
    BETTER: "scores better than",
    WORSE: "scores worse than",
    INCONCLUSIVE: "does not differ significantly from",
}
OF_SEVERAL = {
    BETTER: "score better than",
    WORSE: "score worse than",
    INCONCLUSIVE: "do not differ significantly from",
}

# (variant, baseline) -> the largest difference that a claim calls equal
Tolerances = Mapping[tuple[str, str], float]


# --- what a question can be answered from ----------------------------------------------------


@dataclass(frozen=True)
class Basis:
    """What a question can be answered from.

    recipe: the runs with the recipe's settings, or with those that were chosen on each corpus.
    tuned: those that follow trials besides; None where there are none. settings: of `recipe`.
    of: variant -> baseline, as the question names them.
    """

    recipe: Evidence
    tuned: Evidence | None
    settings: Settings
    of: dict[str, str]

    @property
    def variants(self) -> list[str]:
        """Name the variants, in the question's order."""
        return [*self.recipe.own["variant"].unique()]

    @property
    def baseline(self) -> str:
        """Name the question's baseline, or say that variants have several."""
        named = {*self.of.values()}
        return named.pop() if len(named) == 1 else OWN


def read_basis(runs: pd.DataFrame, task: TaskSpec, *, has_trials: bool) -> Basis:
    """Split the runs of a question into those of the recipe and those that follow trials.

    runs: of every size, with trials. has_trials: whether the question tunes its variants.
    """
    of_recipe = runs[runs["tuning"].isna()]
    of = baselines(as_named(of_recipe))
    recipe = weigh(of_recipe, task, of)
    if follows_trials(runs):
        return Basis(recipe, None, "tuned", of)
    if follows_recipe(runs):
        return Basis(recipe, None, "recipe tuned", of)
    settings = "untuned" if has_trials else "recipe"
    of_trials = runs[runs["tuning"] == "tuned"]
    if of_trials.empty:
        return Basis(recipe, None, settings, of)
    return Basis(recipe, weigh(of_trials, task, of), settings, of)


def answers_by_baseline(basis: Basis, equal_within: Tolerances | None = None) -> dict[str, Answer]:
    """Answer with the question's baselines first, then with every variant as that of all others.

    The key is the name of the baseline, `OWN` where the question names several.
    """
    answers = {basis.baseline: answer_question(basis, equal_within)}
    if len(basis.variants) == 1:
        return answers
    for variant in basis.variants:
        if variant not in answers:
            answers[variant] = answer_question(basis, equal_within, variant)
    return answers


def answer_question(
    basis: Basis, equal_within: Tolerances | None = None, baseline: str | None = None
) -> Answer:
    """Answer with each variant tuned where it was, else with the recipe's settings.

    baseline: the variant that all others are compared with, instead of the question's baselines.
    """
    of = basis.of
    if baseline is not None:
        of = {variant: baseline for variant in basis.variants if variant != baseline}
    tolerances = equal_within or {}
    recipe = _answer_of(basis.recipe.compared_with(of), basis.settings, tolerances)
    if basis.tuned is None:
        return recipe
    tuned = basis.tuned.compared_with(of)
    if not tuned.differences:
        return recipe
    answer = _answer_of(tuned, "tuned", tolerances)
    return _with_recipe(answer, recipe)


def _with_recipe(tuned: Answer, recipe: Answer) -> Answer:
    """Say in a tuned answer what the recipe gave: a caveat where it says something else.

    Costs are those of the recipe's runs: they do not depend on the learning rate.
    """
    state = _state_of(recipe)
    untuned = f"With the recipe's settings, without tuning: {recipe.headline}, {state}."
    warnings = list(tuned.caveats)
    notes = list(tuned.notes)
    if state != _state_of(tuned):
        warnings.append(untuned)
    else:
        notes.insert(0, untuned)
    answer = caveats.place(tuned, warnings, notes)
    return replace(answer, costs=recipe.costs, cost=recipe.cost)


def _state_of(answer: Answer) -> str:
    return answer.difference.state if answer.difference else answer.status


# --- one answer ------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Finding:
    """What a template found; `_finish` adds what all answers have.

    still_learning: that runs behind it still learned, which demotes it. warnings: sentences that
    may change the conclusion. notes: all others. The other fields are as in `Answer`.
    """

    status: Status
    kind: Kind
    headline: str
    sentence: str
    still_learning: list[str]
    warnings: list[str]
    notes: list[str]
    difference: Difference | None = None
    others: tuple[Difference, ...] = ()
    costs: tuple[Ratio, ...] = ()
    cost: str = ""
    corpora: tuple[str, ...] | None = None


def _answer_of(seen: Evidence, settings: Settings, tolerances: Tolerances) -> Answer:
    """Answer by runs that are all tuned, or all of the recipe, with the template of their kind."""
    finding = _find(seen, tolerances)
    return _finish(finding, seen, settings)


def _find(seen: Evidence, tolerances: Tolerances) -> _Finding:
    """Choose the template that fits the evidence, and fill it."""
    over_sizes = trends(seen.scored, seen.of, seen.quantity, seen.unit)
    if over_sizes:
        return _over_sizes(seen, over_sizes)
    if not seen.differences:
        is_alone = seen.own["variant"].nunique() == 1
        if is_alone and len(seen.finished):
            return _level(seen)
        return _not_tested(seen)
    compared = {each.variant for each in seen.differences}
    if len(compared) > NAMED or by_corpus(seen.differences):
        return _of_many(seen)
    return _of_few(seen, tolerances)


def _finish(finding: _Finding, seen: Evidence, settings: Settings) -> Answer:
    """Put an answer together."""
    status = finding.status
    if finding.still_learning and status in ("answered", "equivalent"):
        status = "not converged"
    named = {each.baseline for each in seen.differences}
    corpora = finding.corpora
    if corpora is None:
        corpora = tuple(seen.corpora)
    answer = Answer(
        status=status,
        kind=finding.kind,
        headline=finding.headline,
        sentence=finding.sentence,
        scale=join([*seen.runs["scale"].unique()]),
        corpora=corpora,
        settings=settings,
        converged=not finding.still_learning,
        difference=finding.difference,
        others=finding.others,
        costs=finding.costs,
        cost=finding.cost,
        baseline=named.pop() if len(named) == 1 else None,
    )
    warnings = [*finding.still_learning, *finding.warnings]
    of_runs = caveats.of_runs(seen.own, seen.quantity)
    notes = [*finding.notes, *of_runs]
    return caveats.place(answer, warnings, notes)


# --- a few variants, at one place or along a grid --------------------------------------------


def _of_few(seen: Evidence, tolerances: Tolerances) -> _Finding:
    """Give the difference of the first variant, at its largest S and k; notes give the others."""
    first = seen.differences[0].variant
    main = [each for each in seen.differences if each.variant == first]
    head = main[-1]
    is_curve = len(main) > 1
    tolerance = tolerances.get((head.variant, head.baseline))
    status = _judge(head, main, tolerance)
    if status == "equivalent":
        names = f"{quoted(head.variant)} scores as well as {quoted(head.baseline)}"
        sentence = f"{names}, to within {tolerance:g} {seen.unit}"
    elif is_curve:
        sentence = _along(main)
    else:
        sentence = _one_by_one(seen.differences, seen.axes)
    costs = seen.costs.ratios(seen.of)
    mine = costs.of_variant(head.variant)
    notes = [
        *_of_others(seen, first),
        *caveats.unsolved_tasks(seen.own),
        *caveats.along_grid(seen),
        *caveats.of_comparisons(seen),
        *why_no_ratio(costs.apart),
        *caveats.spans(seen.finished, seen.tokens),
    ]
    axes = _grid_of(head.variant, seen)
    place = place_on(axes, head.S, head.k)
    return _Finding(
        status=status,
        kind="curve" if is_curve else "variants",
        headline=head.text_at(place),
        sentence=_shortest(sentence),
        still_learning=caveats.still_learning(seen.behind),
        warnings=caveats.of_difference(head, seen),
        notes=notes,
        difference=head,
        others=tuple(each for each in seen.differences if each is not head),
        costs=mine,
        cost=_write_costs(mine, seen),
    )


def _judge(head: Difference, main: list[Difference], tolerance: float | None) -> Status:
    """Judge a difference; along a grid, whether it is significant anywhere on it."""
    if _is_within(head, tolerance):
        return "equivalent"
    if any(each.significant for each in main):
        return "answered"
    return "inconclusive"


def _is_within(difference: Difference, tolerance: float | None) -> bool:
    """Say whether the interval is within what a claim calls equal."""
    if tolerance is None or difference.low is None:
        return False
    return -tolerance <= difference.low and difference.high <= tolerance


def _one_by_one(differences: list[Difference], axes: list[str]) -> str:
    """Say in one sentence which variants score better or worse, the main contrast first."""
    groups: dict[tuple[str, str], list[Difference]] = {}
    for each in differences:
        alike = groups.setdefault((each.state, each.baseline), [])
        alike.append(each)
    first, *rest = groups.values()
    first_base = first[0].baseline
    parts = [_clause(first, axes)]
    for group in rest:
        if group[0].baseline == first_base:
            parts.append(_short_clause(group))
        else:
            parts.append(_clause(group, axes))
    in_full = "; ".join(parts)
    main = _clause(differences[:1], axes)
    tally = _tally(differences[1:])
    return _shortest(in_full, f"{main}; other comparisons: {tally}")


def _clause(group: list[Difference], axes: list[str]) -> str:
    """Say how variants compare with one baseline, all alike: `a and b score worse than c`."""
    first = group[0]
    names = _names(group)
    verbs = OF_ONE if len(names) == 1 else OF_SEVERAL
    verb = verbs[first.state]
    base = quoted(first.baseline)
    compared = f"{join(names)} {verb} {base}"
    if len(group) > 1:
        return compared
    place = place_on(axes, first.S, first.k)
    return f"{compared}{place}"


def _short_clause(group: list[Difference]) -> str:
    """Say the same where the baseline was named before: `a and b score worse`."""
    names = _names(group)
    is_plural = len(names) > 1
    state = group[0].state
    if state == INCONCLUSIVE:
        verb = "are" if is_plural else "is"
    else:
        verb = "score" if is_plural else "scores"
    return f"{join(names)} {verb} {state}"


def _names(group: list[Difference]) -> list[str]:
    names: dict[str, None] = {}
    for each in group:
        names[quoted(each.variant)] = None
    return list(names)


def _tally(differences: Iterable[Difference]) -> str:
    """Count states: `1 better, 2 worse`."""
    counts = Counter(each.state for each in differences)
    parts = []
    for state in STATES:
        if counts[state]:
            parts.append(f"{counts[state]} {state}")
    return ", ".join(parts)


def _grid_of(variant: str, seen: Evidence) -> list[str]:
    """List the axes on which a variant has several places, compared or not."""
    mine = seen.own[seen.own["variant"] == variant]
    return [axis for axis in seen.axes if mine[axis].nunique() > 1]


def _along(main: list[Difference]) -> str:
    """Say where on its grid a variant is better, worse or inconclusive.

    The state of the headline comes first.
    """
    head = main[-1]
    groups: dict[str, list[Difference]] = {head.state: []}
    for each in main:
        alike = groups.setdefault(each.state, [])
        alike.append(each)
    parts = []
    for state, members in groups.items():
        compared = state
        if not parts:
            # only the first part names the baseline
            base = quoted(head.baseline)
            compared = f"{OF_ONE[state]} {base}"
        places = _places(members, main)
        parts.append(f"{compared} {places}")
    said = "; ".join(parts)
    return f"{quoted(head.variant)} {said}"


def _places(members: list[Difference], main: list[Difference]) -> str:
    """Say where on the grid some differences are. main: all of the variant."""
    axes = varying_axes(main)
    is_everywhere = len(members) == len(main)
    each_place = "any" if members[0].state == INCONCLUSIVE else "each"
    if len(axes) > 1:
        how_many = each_place if is_everywhere else len(members)
        return f"at {how_many} of {len(main)} grid points"
    (axis,) = axes
    values = []
    for each in members:
        value = getattr(each, axis)
        values.append(f"{value:g}")
    if is_everywhere and len(main) > 2:
        least = values[0]
        most = values[-1]
        return f"at {each_place} {axis} from {least} to {most}"
    return f"at {axis} = {join(values)}"


def _of_others(seen: Evidence, main: str) -> list[str]:
    """Give the number of each other variant, at its largest place."""
    lines = []
    for each in last_of_variants(seen.differences):
        if each.variant == main:
            continue
        place = place_on(seen.axes, each.S, each.k)
        difference = each.text_at(place)
        lines.append(f"{_compared(each)}: {difference}, {each.state}.")
    return lines


def _compared(each: Difference) -> str:
    """Name a variant and its baseline at the start of a sentence."""
    variant = capital(quoted(each.variant))
    return f"{variant} compared with {quoted(each.baseline)}"


# --- many variants ---------------------------------------------------------------------------


def _of_many(seen: Evidence) -> _Finding:
    """Count the variants that differ from their baselines, each at its largest S and k."""
    last = last_of_variants(seen.differences)
    tested = [each for each in last if each.holm is not None]
    better = sum(each.state == BETTER for each in tested)
    worse = sum(each.state == WORSE for each in tested)
    costs = seen.costs.ratios(seen.of)
    return _Finding(
        status="answered" if better or worse else "inconclusive",
        kind="many",
        headline=_count(tested or last),
        sentence=_ends(tested or last),
        still_learning=caveats.still_learning(seen.behind),
        warnings=[
            *caveats.unsolved_tasks(seen.own),
            *caveats.unmoved(seen.runs),
            *caveats.of_count(tested, seen),
        ],
        notes=[
            *caveats.along_grid(seen),
            *caveats.of_comparisons(seen),
            *why_no_ratio(costs.apart),
        ],
        others=tuple(seen.differences),
        costs=costs.ratios,
        cost=_write_range(costs.ratios),
    )


def _count(tested: list[Difference]) -> str:
    """Count significant differences.

    `1 of 18 variants significantly better, 6 worse (compared with base after Holm correction,
    n = 6 each)`. Corpora that are compared alone are counted alone: `Significantly better than
    base: 6 of 8 variants on sort and 0 of 9 on reverse; worse: 1 on reverse (…)`.
    """
    bases = {quoted(each.baseline) for each in tested}
    base = "their baselines"
    if len(bases) == 1:
        (base,) = bases
    n = _range([each.n for each in tested])
    alone = by_corpus(tested)
    if alone:
        counted = _count_on_each(alone)
        return f"Significantly better than {base}: {counted} (after Holm correction, n = {n} each)"
    counted = capital(_count_of(tested))
    return f"{counted} (compared with {base} after Holm correction, n = {n} each)"


def _count_on_each(groups: Mapping[str, list[Difference]]) -> str:
    """Count the better and the worse on each corpus."""
    better = []
    worse = []
    for corpus, group in groups.items():
        states = Counter(each.state for each in group)
        of = len(group) if better else count(len(group), "variant")
        better.append(f"{states[BETTER]} of {of} on {corpus}")
        if states[WORSE]:
            worse.append(f"{states[WORSE]} on {corpus}")
    counted = join(better)
    return f"{counted}; worse: {join(worse)}" if worse else counted


def _count_of(tested: list[Difference]) -> str:
    better = sum(each.state == BETTER for each in tested)
    worse = sum(each.state == WORSE for each in tested)
    of = f"of {count(len(tested), 'variant')} significantly"
    if better and worse:
        return f"{better} {of} {BETTER}, {worse} {WORSE}"
    if better:
        return f"{better} {of} {BETTER}"
    if worse:
        return f"{worse} {of} {WORSE}"
    return f"0 {of} different"


def _range(numbers: list[int]) -> str:
    least = min(numbers, default=0)
    most = max(numbers, default=0)
    if least == most:
        return f"{most}"
    return f"{least} to {most}"


def _ends(differences: list[Difference]) -> str:
    """Name the worst and the best, between which all others are."""

    def score(each: Difference) -> float:
        size = abs(each.mean)
        return size if each.direction == BETTER else -size

    ordered = sorted(differences, key=score)
    ends = []
    is_on_each = bool(by_corpus(differences))
    for each in (ordered[0], ordered[-1]):
        place = f" on {join([*each.corpora])}" if is_on_each else ""
        ends.append(f"{each.size} ({quoted(each.variant)}{place})")
    worst, best = ends
    return _shortest(f"differences range from {worst} to {best}")


# --- sizes -----------------------------------------------------------------------------------


def _over_sizes(seen: Evidence, found: list[Trend]) -> _Finding:
    """Give the difference of the largest models, and whether it changed from the smallest."""
    first, *others = found
    head = first.large
    costs = seen.costs.ratios(seen.of)
    mine = costs.of_variant(head.variant)
    has_ended = seen.runs["status"] == "ok"
    has_score = seen.runs[seen.quantity].notna()
    scored = seen.runs[has_ended & has_score]
    notes = [
        *(f"{_trend(each)}." for each in others),
        *caveats.failed_at_sizes(seen.runs),
        *caveats.of_comparisons(seen),
        *why_no_ratio(costs.apart),
        *caveats.spans(seen.finished, seen.tokens),
    ]
    return _Finding(
        status="answered" if first.changed or head.significant else "inconclusive",
        kind="sizes",
        headline=head.text_at(f" at {_parameters(first.parameters[1])}"),
        sentence=_shortest(_trend(first), _changed(first)),
        still_learning=caveats.still_learning(scored),
        warnings=caveats.of_sizes(first, seen),
        notes=notes,
        corpora=tuple(head.by_corpus),
        difference=head,
        others=tuple(each.large for each in others),
        costs=mine,
        cost=_write_costs(mine, seen),
    )


def _trend(trend: Trend) -> str:
    """Say how a difference changes from the smallest models to the largest."""
    change = "no significant change"
    if trend.changed:
        change = "a significant change"
    least, _ = trend.parameters
    at = _parameters(least)
    return f"{_compared(trend.large)}: {change} from {trend.small.size} at {at}"


def _changed(trend: Trend) -> str:
    change = "does not change significantly"
    if trend.changed:
        change = "changes significantly"
    least, most = trend.parameters
    smallest = _parameters(least)
    largest_models = _parameters(most)
    return f"the difference {change} from {smallest} to {largest_models}"


def _parameters(parameters: float) -> str:
    return f"{number(round(parameters))} parameters"


# --- one variant alone -----------------------------------------------------------------------


def _level(seen: Evidence) -> _Finding:
    """Give the mean span of the only variant, or its score where it learns no span."""
    finished = largest(seen.finished)
    learned = learned_spans(finished[finished["mean_span"].notna()])
    learned = learned[~hardly_moved(learned)]
    variant = quoted(finished["variant"].iloc[0])
    quantity = seen.quantity
    unit = seen.unit
    sentence = f"{variant} is the only variant at this scale, so there is no comparison"
    shorter = sentence
    rows = finished
    if len(learned):
        quantity = "mean_span"
        unit = seen.tokens
        shorter = _longest_spans(learned)
        limit = learned["S"].max()
        sentence = f"{shorter}; limit {limit:.0f} {seen.tokens}"
        rows = learned
    levels = {
        title: group[quantity].astype(float).tolist()
        for title, group in rows.groupby("title", sort=False)
    }
    fewest = min(len(values) for values in levels.values())
    return _Finding(
        status="answered" if fewest >= FEWEST else "inconclusive",
        kind="level",
        headline=_write_levels(levels, quantity, unit),
        sentence=_shortest(sentence, shorter),
        still_learning=caveats.still_learning(finished),
        warnings=caveats.unmoved(seen.runs),
        notes=[],
        corpora=tuple(levels),
        cost=caveats.cost_alone(finished, seen.tokens),
    )


def _longest_spans(learned: pd.DataFrame) -> str:
    """Write the longest span on each corpus, a mean over seeds."""
    by_corpus = learned.groupby("title", sort=False)
    longest = by_corpus["max_span"].mean()
    parts = []
    for title, span in longest.items():
        written = f"{span:.0f}"
        if len(longest) > 1:
            written = f"{written} on {title}"
        parts.append(written)
    return f"the longest span is {join(parts)}"


def _write_levels(levels: dict[str, list[float]], quantity: str, unit: str) -> str:
    """Write the mean on each corpus, then the intervals.

    `33.06 BLEU (95 % CI 32.76 to 33.36, n = 6)`. levels: the values of the seeds on each corpus.
    """
    means: list[str] = []
    intervals: list[str] = []
    has_interval = False
    for title, values in levels.items():
        mean, low, high = mean_interval(values, bounds=bounds_of(quantity))
        half = None
        interval = "no interval"
        if len(values) >= FEWEST and low is not None:
            has_interval = True
            half = (high - low) / 2
            least = _write_level(low, half, quantity)
            most = _write_level(high, half, quantity)
            interval = f"{least} to {most}"
        if len(levels) > 1:
            interval = f"{interval} on {title}"
        means.append(_write_level(mean, half, quantity))
        intervals.append(interval)
    basis = ", ".join(intervals)
    if has_interval:
        basis = f"95 % CI {basis}"
    kind = "Mean span " if quantity == "mean_span" else ""
    seeds = [len(values) for values in levels.values()]
    n = f"n = {_range(seeds)}"
    if len(levels) > 1:
        return f"{kind}{join(means)} {unit} ({basis}; {n} each)"
    return f"{kind}{means[0]} {unit} ({basis}, {n})"


def _write_level(value: float, half: float | None, quantity: str) -> str:
    if quantity == "mean_span":
        return f"{value:.0f}"
    return to_digits(value, half)


# --- nothing to compare ----------------------------------------------------------------------


def _not_tested(seen: Evidence) -> _Finding:
    """Say why nothing was compared."""
    headline, sentence = _why_not_tested(seen)
    return _Finding(
        status="not tested",
        kind="variants",
        headline=headline,
        sentence=_shortest(sentence),
        still_learning=caveats.still_learning(seen.finished),
        warnings=[],
        notes=[
            *caveats.unsolved_tasks(seen.own),
            *caveats.unmoved(seen.runs),
            *caveats.of_comparisons(seen),
            *caveats.spans(seen.finished, seen.tokens),
        ],
    )


def _why_not_tested(seen: Evidence) -> tuple[str, str]:
    """Give the reason why nothing was compared, and a sentence on it."""
    if not len(seen.finished):
        every = count(seen.own["digest"].nunique(), "run")
        return "Every run failed", f"all {every} failed"
    is_still = hardly_moved(seen.finished)
    unmoved = seen.finished[is_still]
    if len(unmoved):
        return "No conclusion: learned spans barely moved", _write_unmoved(unmoved)
    not_learned = seen.finished[unsolved(seen.finished)]
    if len(not_learned):
        names = join([quoted(each) for each in not_learned["variant"].unique()])
        return "No conclusion: the task is not learned", f"not by {names}"
    are_same = []
    bases: dict[str, None] = {}
    for each in seen.comparisons:
        are_same.append(each.keeps_all or each.is_same)
        bases[quoted(each.baseline)] = None
    if are_same and all(are_same):
        return "Nothing to compare", "the variants are the same at this scale"
    sentence = f"no finished run of {join([*bases])} matches a run of another variant"
    return "Nothing to compare", sentence


def _write_unmoved(unmoved: pd.DataFrame) -> str:
    """Write the span of the first variant whose learned spans have hardly moved."""
    variant = unmoved["variant"].iloc[0]
    runs = unmoved[unmoved["variant"] == variant]
    means = runs[["mean_span", "S", "start_span"]].astype(float).mean()
    span = means["mean_span"]
    limit = means["S"]
    start = means["start_span"]
    written = f"mean span {span:.1f} (limit {limit:.0f})"
    return f"{written}, barely above its initial value of {start:.1f}"


# --- costs and words -------------------------------------------------------------------------


def _write_costs(ratios: tuple[Ratio, ...], seen: Evidence) -> str:
    """Write the cost ratios of one variant in a line, and how MACs grow along the grid."""
    lines = []
    if ratios:
        first = ratios[0]
        base = quoted(first.baseline)
        place = place_on(seen.axes, first.S, first.k)
        costs = join([each.text for each in ratios])
        lines.append(f"Cost compared with {base}{place}: {costs}.")
    for grown in growth(seen.finished):
        factors = []
        for name, ratio in grown.ratios.items():
            variant = quoted(name)
            factors.append(f"{ratio:.1f}× for {variant}")
        ends = f"From {grown.axis} = {grown.low:g} to {grown.high:g}"
        lines.append(f"{ends} the MACs grow {join(factors)}.")
    return " ".join(lines)


def _write_range(ratios: tuple[Ratio, ...]) -> str:
    """Write the least and the most of each cost over many variants, with their variants."""
    parts = []
    for quantity, title in COST_TITLES.items():
        of_cost = [each for each in ratios if each.quantity == quantity]
        if not of_cost:
            continue
        of_cost.sort(key=lambda each: each.times)
        ends = dict.fromkeys([of_cost[0], of_cost[-1]])
        written = []
        for each in ends:
            variant = quoted(each.variant)
            written.append(f"{each.number} ({variant})")
        range_of_cost = " to ".join(written)
        parts.append(f"{title} {range_of_cost}")
    if not parts:
        return ""
    costs = "; ".join(parts)
    return f"Costs that differ from the baseline's: {costs}."


def _shortest(*sentences: str) -> str:
    """Return the first that has at most `MOST_WORDS` words, else the last, as a sentence."""
    chosen = sentences[-1]
    for each in sentences:
        if len(each.split()) <= MOST_WORDS:
            chosen = each
            break
    without_end = capital(chosen).removesuffix(".")
    return f"{without_end}."
