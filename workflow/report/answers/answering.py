"""Answer a question by rule: find the difference that answers it, judge it, and fill in the
template of its kind.

The first variant after the baseline is the main contrast, chosen when the question was written.
With many variants the answer counts how many differ, because the best of many is better by
selection alone. Runs whose learned spans have hardly moved support no conclusion, and are compared
with none.
"""

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
    Ratio,
    Settings,
    Status,
)
from workflow.report.answers.effects import GRID, OWN, baselines, place_on
from workflow.report.answers.evidence import Evidence, weigh
from workflow.report.answers.model_sizes import Trend, trends
from workflow.report.answers.ratios import growth, largest, why_no_ratio
from workflow.report.answers.tuning import follows_recipe
from workflow.report.figures.colours import as_named
from workflow.results.numbers import capital, count, join, number, quoted, to_digits
from workflow.results.registry import bounds_of
from workflow.results.statistics import FEWEST, mean_interval
from workflow.results.trained_enough import hardly_moved, learned_spans
from workflow.tasks.spec import TaskSpec

NAMED = 3  # so many variants are compared one by one; of more it is counted how many differ
MOST_WORDS = 20  # of a sentence
LIKE, UNLIKE = "does not differ significantly from", "do not differ significantly from"
OF_ONE = {BETTER: "scores better than", WORSE: "scores worse than", INCONCLUSIVE: LIKE}
OF_SEVERAL = {BETTER: "score better than", WORSE: "score worse than", INCONCLUSIVE: UNLIKE}

# (variant, baseline) -> the largest difference that a claim calls equal
Tolerances = Mapping[tuple[str, str], float]


@dataclass(frozen=True)
class Basis:
    """What a question can be answered from.

    recipe: the runs with the recipe's settings. tuned: those that follow trials; None where there
    are none.
    settings: of the recipe's runs. of: variant -> baseline, as the question names them.
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
    """Split the runs of a question into those of the recipe and those that follow trials, and
    compare each set.

    runs: of every size, with trials. has_trials: whether the question tunes its variants.
    """
    recipe, tuned = runs[runs["tuning"].isna()], runs[runs["tuning"] == "tuned"]
    of = baselines(as_named(recipe))
    if follows_recipe(runs):
        return Basis(weigh(recipe, task, of), None, "recipe tuned", of)
    settings = "untuned" if has_trials else "recipe"
    return Basis(
        weigh(recipe, task, of), weigh(tuned, task, of) if len(tuned) else None, settings, of
    )


def answer_question(
    basis: Basis, equal_within: Tolerances | None = None, baseline: str | None = None
) -> Answer:
    """Answer with each variant tuned where it was, else with the recipe's settings.

    baseline: the variant that all others are compared with, in place of the question's own
    baselines.
    """
    of = (
        basis.of
        if baseline is None
        else {each: baseline for each in basis.variants if each != baseline}
    )
    within = equal_within or {}
    recipe = _answer_of(basis.recipe.compared_with(of), basis.settings, within)
    tuned = basis.tuned.compared_with(of) if basis.tuned else None
    if tuned is None or not tuned.differences:
        return recipe
    answer = _answer_of(tuned, "tuned", within)
    state = _state_of(recipe)
    untuned = [f"With the recipe's settings, without tuning: {recipe.headline}, {state}."]
    differs = state != _state_of(answer)
    warnings = [*answer.caveats, *(untuned if differs else [])]
    notes = [*([] if differs else untuned), *answer.notes]
    return replace(answer, **_placed(warnings, notes), costs=recipe.costs, cost=recipe.cost)


def answers_by_baseline(basis: Basis, equal_within: Tolerances | None = None) -> dict[str, Answer]:
    """Answer with the question's baselines first, then with every variant as the baseline of all
    others.

    The key is the name of the baseline, `OWN` where the question names several.
    """
    answers = {basis.baseline: answer_question(basis, equal_within)}
    for variant in basis.variants if len(basis.variants) > 1 else ():
        if variant not in answers:
            answers[variant] = answer_question(basis, equal_within, variant)
    return answers


def _state_of(answer: Answer) -> str:
    return answer.difference.state if answer.difference else answer.status


def _placed(warnings: Iterable[str], notes: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Keep the first caveats; the others become the first notes."""
    warnings = [*warnings]
    return {
        "caveats": tuple(warnings[: caveats.MOST]),
        "notes": (*warnings[caveats.MOST :], *notes),
    }


def _answer_of(seen: Evidence, settings: Settings, equal_within: Tolerances) -> Answer:
    """Answer by runs that are all tuned, or all of the recipe, with the template of their kind."""
    found = trends(seen.scored, seen.of, seen.quantity, seen.unit)
    if found:
        return _over_sizes(seen, settings, found)
    if not seen.differences:
        alone = seen.own["variant"].nunique() == 1 and len(seen.finished)
        return _level(seen, settings) if alone else _not_tested(seen, settings)
    if len({each.variant for each in seen.differences}) > NAMED:
        return _of_many(seen, settings)
    return _of_few(seen, settings, equal_within)


def _finish(
    seen: Evidence,
    settings: Settings,
    status: Status,
    still: list[str],
    warnings: list[str],
    notes: list[str],
    **parts,
) -> Answer:
    """Put an answer together. still: that runs behind it still learned, which demotes it."""
    if still and status in ("answered", "equivalent"):
        status = "not converged"
    named = {each.baseline for each in seen.differences}
    about = {
        "scale": join([*seen.runs["scale"].unique()]),
        "corpora": tuple(seen.corpora),
        "settings": settings,
    }
    about["baseline"] = named.pop() if len(named) == 1 else None
    notes = [*notes, *caveats.of_runs(seen.own, seen.quantity)]
    return Answer(
        status=status, converged=not still, **_placed([*still, *warnings], notes), **(about | parts)
    )


# --- a few variants, at one place or along a grid
# -------------------------------------------------------------------


def _of_few(seen: Evidence, settings: Settings, equal_within: Tolerances) -> Answer:
    """Give the difference of the first variant, at its largest S and k; the others are in the
    notes.
    """
    first = seen.differences[0]
    main = [each for each in seen.differences if each.variant == first.variant]
    head = main[-1]
    tolerance = equal_within.get((head.variant, head.baseline))
    status = _judge(head, main, tolerance)
    if status == "equivalent":
        names = f"{quoted(head.variant)} scores as well as {quoted(head.baseline)}"
        sentence = f"{names}, to within {tolerance:g} {seen.unit}"
    else:
        sentence = _along(main) if len(main) > 1 else _one_by_one(seen.differences, seen.axes)
    costs = seen.costs.ratios(seen.of)
    mine = tuple(ratio for ratio in costs.ratios if ratio.variant == head.variant)
    others = [
        *_of_others(seen, first.variant),
        *caveats.along_grid(seen),
        *caveats.of_comparisons(seen),
    ]
    return _finish(
        seen,
        settings,
        status,
        caveats.still_learning(seen.behind),
        caveats.of_difference(head, seen),
        [*others, *why_no_ratio(costs.apart), *caveats.spans(seen.finished, seen.tokens)],
        kind="curve" if len(main) > 1 else "variants",
        headline=head.text_at(place_on(_grid_of(head.variant, seen), head.S, head.k)),
        sentence=_shortest(sentence),
        difference=head,
        others=tuple(each for each in seen.differences if each is not head),
        costs=mine,
        cost=_write_costs(mine, seen),
    )


def _judge(head: Difference, main: list[Difference], tolerance: float | None) -> Status:
    """Judge a difference; along a grid, whether it is significant anywhere on it."""
    if (
        tolerance is not None
        and head.low is not None
        and -tolerance <= head.low
        and head.high <= tolerance
    ):
        return "equivalent"
    return "answered" if any(each.significant for each in main) else "inconclusive"


def _one_by_one(differences: list[Difference], axes: list[str]) -> str:
    """Say which variants score better or worse than their baselines, the main contrast first, in
    one sentence.
    """
    groups: dict[tuple[str, str], list[Difference]] = {}
    for each in differences:
        groups.setdefault((each.state, each.baseline), []).append(each)
    first, *rest = groups.values()
    parts = [_clause(first, axes)]
    for group in rest:
        same = group[0].baseline == first[0].baseline
        parts.append(_short_clause(group) if same else _clause(group, axes))
    others = f"{_clause(differences[:1], axes)}; other comparisons: {_tally(differences[1:])}"
    return _shortest("; ".join(parts), others)


def _clause(group: list[Difference], axes: list[str]) -> str:
    """Say how variants compare with one baseline, all alike: `a and b score worse than c`."""
    verbs = OF_ONE if len(_names(group)) == 1 else OF_SEVERAL
    place = place_on(axes, group[0].S, group[0].k) if len(group) == 1 else ""
    return f"{join(_names(group))} {verbs[group[0].state]} {quoted(group[0].baseline)}{place}"


def _short_clause(group: list[Difference]) -> str:
    """Say the same where the baseline was named before: `a and b score worse`."""
    several = len(_names(group)) > 1
    if group[0].state == INCONCLUSIVE:
        return f"{join(_names(group))} {'are' if several else 'is'} inconclusive"
    return f"{join(_names(group))} {'score' if several else 'scores'} {group[0].state}"


def _names(group: list[Difference]) -> list[str]:
    return [*dict.fromkeys(quoted(each.variant) for each in group)]


def _tally(differences: Iterable[Difference]) -> str:
    """Count states: `1 better, 2 worse`."""
    states = [each.state for each in differences]
    return ", ".join(f"{states.count(state)} {state}" for state in STATES if state in states)


def _grid_of(variant: str, seen: Evidence) -> list[str]:
    """List the axes on which a variant has several places, compared or not."""
    mine = seen.own[seen.own["variant"] == variant]
    return [axis for axis in seen.axes if mine[axis].nunique() > 1]


def _varied(main: list[Difference]) -> list[str]:
    return [axis for axis in GRID if len({getattr(each, axis) for each in main}) > 1]


def _along(main: list[Difference]) -> str:
    """Say where on its grid a variant is better, worse or inconclusive; the state of the headline
    comes first.
    """
    groups: dict[str, list[Difference]] = {main[-1].state: []}
    for each in main:
        groups.setdefault(each.state, []).append(each)
    parts = []
    for state, members in groups.items():
        than = state if parts else f"{OF_ONE[state]} {quoted(main[0].baseline)}"
        parts.append(f"{than} {_places(members, main)}")
    return f"{quoted(main[0].variant)} {'; '.join(parts)}"


def _places(members: list[Difference], main: list[Difference]) -> str:
    axes, everywhere = _varied(main), len(members) == len(main)
    each = "any" if members[0].state == INCONCLUSIVE else "each"
    if len(axes) > 1:
        return f"at {each if everywhere else len(members)} of {len(main)} grid points"
    values = [f"{getattr(each, axes[0]):g}" for each in members]
    if everywhere and len(main) > 2:
        return f"at {each} {axes[0]} from {values[0]} to {values[-1]}"
    return f"at {axes[0]} = {join(values)}"


def _of_others(seen: Evidence, main: str) -> list[str]:
    """Give the number of each other variant, at its largest place."""
    last = {each.variant: each for each in seen.differences if each.variant != main}
    lines = []
    for each in last.values():
        place = place_on(seen.axes, each.S, each.k)
        names = f"{capital(quoted(each.variant))} compared with {quoted(each.baseline)}"
        lines.append(f"{names}: {each.text_at(place)}, {each.state}.")
    return lines


# --- many variants ---------------------------------------------------------------------------------------------------


def _of_many(seen: Evidence, settings: Settings) -> Answer:
    """Count the variants that differ from their baselines, each at its largest S and k."""
    last = [*{each.variant: each for each in seen.differences}.values()]
    tested = [each for each in last if each.holm is not None]
    better, worse = (sum(each.state == state for each in tested) for state in (BETTER, WORSE))
    costs = seen.costs.ratios(seen.of)
    learned = caveats.unmoved(seen.runs)
    return _finish(
        seen,
        settings,
        "answered" if better or worse else "inconclusive",
        caveats.still_learning(seen.behind),
        [*learned, *caveats.of_count(tested, seen)],
        [*caveats.along_grid(seen), *caveats.of_comparisons(seen), *why_no_ratio(costs.apart)],
        kind="many",
        headline=_count(better, worse, tested or last),
        sentence=_ends(tested or last),
        others=tuple(seen.differences),
        costs=costs.ratios,
        cost=_write_range(costs.ratios),
    )


def _count(better: int, worse: int, tested: list[Difference]) -> str:
    """Write `1 of 18 variants significantly better, 6 worse (compared with base after Holm
    correction, n = 6 each)`.
    """
    states = [f"{number} {state}" for number, state in ((better, BETTER), (worse, WORSE)) if number]
    how_many, what = states[0].split() if states else ("0", "different")
    rest = f", {states[1]}" if len(states) > 1 else ""
    than = {quoted(each.baseline) for each in tested}
    base = than.pop() if len(than) == 1 else "their baselines"
    n = _range([each.n for each in tested])
    basis = f"compared with {base} after Holm correction, n = {n} each"
    return f"{how_many} of {len(tested)} variants significantly {what}{rest} ({basis})"


def _range(numbers: list[int]) -> str:
    few, most = min(numbers, default=0), max(numbers, default=0)
    return f"{few} to {most}" if few < most else f"{most}"


def _ends(differences: list[Difference]) -> str:
    """Name the worst and the best, between which all others are."""
    signs = {BETTER: 1, WORSE: -1}
    by_score = sorted(differences, key=lambda each: signs[each.direction] * abs(each.mean))
    ends = [f"{each.size} ({quoted(each.variant)})" for each in (by_score[0], by_score[-1])]
    return _shortest(f"differences range from {' to '.join(ends)}")


# --- sizes -----------------------------------------------------------------------------------------------------------


def _over_sizes(seen: Evidence, settings: Settings, found: list[Trend]) -> Answer:
    """Give the difference of the largest models, and whether it changed from the smallest."""
    first, *others = found
    head = first.large
    costs = seen.costs.ratios(seen.of)
    mine = tuple(ratio for ratio in costs.ratios if ratio.variant == head.variant)
    scored = seen.runs[(seen.runs["status"] == "ok") & seen.runs[seen.quantity].notna()]
    notes = [f"{_trend(each)}." for each in others]
    notes += [
        *caveats.failed_at_sizes(seen.runs),
        *caveats.of_comparisons(seen),
        *why_no_ratio(costs.apart),
    ]
    return _finish(
        seen,
        settings,
        "answered" if first.changed or head.significant else "inconclusive",
        caveats.still_learning(scored),
        caveats.of_sizes(first, seen),
        [*notes, *caveats.spans(seen.finished, seen.tokens)],
        kind="sizes",
        corpora=tuple(head.by_corpus),
        headline=head.text_at(f" at {_parameters(first.parameters[1])}"),
        sentence=_shortest(_trend(first), _changed(first)),
        difference=head,
        others=tuple(each.large for each in others),
        costs=mine,
        cost=_write_costs(mine, seen),
    )


def _trend(trend: Trend) -> str:
    """Say how a difference changes from the smallest models to the largest."""
    large, least = trend.large, _parameters(trend.parameters[0])
    names = f"{capital(quoted(large.variant))} compared with {quoted(large.baseline)}"
    return f"{names}: {_change(trend)} from {trend.small.size} at {least}"


def _changed(trend: Trend) -> str:
    change = "changes significantly" if trend.changed else "does not change significantly"
    return f"the difference {change} from {_parameters(trend.parameters[0])} to {_parameters(trend.parameters[1])}"


def _change(trend: Trend) -> str:
    return "a significant change" if trend.changed else "no significant change"


def _parameters(parameters: float) -> str:
    return f"{number(round(parameters))} parameters"


# --- one variant, or nothing to compare
# ------------------------------------------------------------------------------


def _level(seen: Evidence, settings: Settings) -> Answer:
    """Give the mean span of the only variant, or its score where it learns no span, on each
    corpus.
    """
    finished = largest(seen.finished)
    learned = learned_spans(finished[finished["mean_span"].notna()])
    learned = learned[~hardly_moved(learned)]
    quantity, rows = ("mean_span", learned) if len(learned) else (seen.quantity, finished)
    levels = {
        title: group[quantity].astype(float).tolist()
        for title, group in rows.groupby("title", sort=False)
    }
    variant = quoted(finished["variant"].iloc[0])
    sentence = f"{variant} is the only variant at this scale, so there is no comparison"
    limit = ""
    if len(learned):
        longest = learned.groupby("title", sort=False)["max_span"].mean()
        on = " on {}" if len(longest) > 1 else ""
        sentence = f"the longest span is {join([f'{span:.0f}{on.format(title)}' for title, span in longest.items()])}"
        limit = f"; limit {learned['S'].max():.0f} {seen.tokens}"
    return _finish(
        seen,
        settings,
        "answered" if min(map(len, levels.values())) >= FEWEST else "inconclusive",
        caveats.still_learning(finished),
        caveats.unmoved(seen.runs),
        [],
        kind="level",
        corpora=tuple(levels),
        headline=_write_levels(levels, quantity, seen.tokens if len(learned) else seen.unit),
        sentence=_shortest(f"{sentence}{limit}", sentence),
        cost=caveats.cost_alone(finished, seen.tokens),
    )


def _write_levels(levels: dict[str, list[float]], quantity: str, unit: str) -> str:
    """Write the mean on each corpus, then the intervals: `33.06 BLEU (95 % CI 32.76 to 33.36, n =
    6)`.
    """
    means: list[str] = []
    intervals: list[str] = []
    for title, values in levels.items():
        mean, low, high = mean_interval(values, bounds=bounds_of(quantity))
        known = len(values) >= FEWEST and low is not None
        half = (high - low) / 2 if known else None
        write = (
            "{:.0f}".format
            if quantity == "mean_span"
            else lambda value, half=half: to_digits(value, half)
        )
        means.append(write(mean))
        on = f" on {title}" if len(levels) > 1 else ""
        intervals.append(f"{write(low)} to {write(high)}{on}" if known else f"no interval{on}")
    n = f"n = {_range([*map(len, levels.values())])}{' each' if len(levels) > 1 else ''}"
    kind = "Mean span " if quantity == "mean_span" else ""
    basis = (
        f"95 % CI {', '.join(intervals)}"
        if any(" to " in each for each in intervals)
        else ", ".join(intervals)
    )
    return (
        f"{kind}{join(means)} {unit} ({basis}; {n})"
        if len(levels) > 1
        else f"{kind}{means[0]} {unit} ({basis}, {n})"
    )


def _not_tested(seen: Evidence, settings: Settings) -> Answer:
    """Say why nothing was compared."""
    headline, sentence = _why_not_tested(seen)
    return _finish(
        seen,
        settings,
        "not tested",
        caveats.still_learning(seen.finished),
        [],
        [
            *caveats.unmoved(seen.runs),
            *caveats.of_comparisons(seen),
            *caveats.spans(seen.finished, seen.tokens),
        ],
        kind="variants",
        headline=headline,
        sentence=_shortest(sentence),
    )


def _why_not_tested(seen: Evidence) -> tuple[str, str]:
    """Give the reason why nothing was compared, and a sentence on it."""
    if not len(seen.finished):
        return "Every run failed", f"all {count(seen.own['digest'].nunique(), 'run')} failed"
    still = seen.finished[hardly_moved(seen.finished)]
    if len(still):
        still = still[still["variant"] == still["variant"].iloc[0]]
        spans, starts, limit = (still[name].mean() for name in ("mean_span", "start_span", "S"))
        start = f"barely above its initial value of {starts:.1f}"
        return (
            "No conclusion: learned spans barely moved",
            f"mean span {spans:.1f} (limit {limit:.0f}), {start}",
        )
    if seen.comparisons and all(each.keeps_all or each.is_same for each in seen.comparisons):
        return "Nothing to compare", "the variants are the same at this scale"
    bases = [*dict.fromkeys(quoted(each.baseline) for each in seen.comparisons)]
    return (
        "Nothing to compare",
        f"no finished run of {join(bases)} matches a run of another variant",
    )


# --- costs and words -------------------------------------------------------------------------------------------------


def _write_costs(ratios: tuple[Ratio, ...], seen: Evidence) -> str:
    """Write the cost ratios of one variant in a line, and how MACs grow along the grid."""
    lines = []
    if ratios:
        where = place_on(seen.axes, ratios[0].S, ratios[0].k)
        lines.append(
            f"Cost compared with {quoted(ratios[0].baseline)}{where}: {join([each.text for each in ratios])}."
        )
    for axis, low, high, grown in growth(seen.finished):
        each = join([f"{ratio:.1f}× for {quoted(variant)}" for variant, ratio in grown.items()])
        lines.append(f"From {axis} = {low:g} to {high:g} the MACs grow {each}.")
    return " ".join(lines)


def _write_range(ratios: tuple[Ratio, ...]) -> str:
    """Write the least and the most of each cost over many variants, with the variants that have
    them.
    """
    parts = []
    for quantity, title in COST_TITLES.items():
        of_cost = sorted(
            (each for each in ratios if each.quantity == quantity), key=lambda each: each.times
        )
        if of_cost:
            ends = [
                f"{each.number} ({quoted(each.variant)})"
                for each in dict.fromkeys([of_cost[0], of_cost[-1]])
            ]
            parts.append(f"{title} {' to '.join(ends)}")
    return f"Costs that differ from the baseline's: {'; '.join(parts)}." if parts else ""


def _shortest(*sentences: str) -> str:
    """Return the first that has at most `MOST_WORDS` words, else the last, as a sentence."""
    fits = (each for each in sentences if len(each.split()) <= MOST_WORDS)
    return f"{capital(next(fits, sentences[-1])).removesuffix('.')}."
