"""At most five findings: the answer to each question that a reader has before building on a
variant, in one line.

Each is chosen by rule from the comparisons of all available results, and left out where none tests
it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from workflow.report.answers.answer import BETTER, Difference
from workflow.report.figures.colours import XL
from workflow.report.overview.attention import GROUPS, MODEL, choice_name
from workflow.report.overview.collect import Isolated
from workflow.report.overview.matrix import (
    best,
    page_of,
    rank,
    where,
    write_times,
    write_times_interval,
)
from workflow.results.numbers import capital, join
from workflow.results.statistics import LEVEL

# the choices that the findings are about: an axis and a choice on it
LEARNED = ("span", "adaptive")
SPARSE = (("selection", "top_k"), ("normaliser", "entmax15"))
TRANSLATION = "translation"  # the task in which sparse attention was proposed


@dataclass(frozen=True)
class Part:
    """A piece of a finding. page: of the question behind it, relative to the folder of all reports;
    None of words.
    """

    text: str
    page: str | None = None


@dataclass(frozen=True)
class Finding:
    """One line. asks: the question that a reader has. parts: the answer, each number with a link to
    its question.
    """

    asks: str
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts)


def list_findings(found: Iterable[Isolated]) -> list[Finding]:
    """Answer the five questions, as far as the comparisons do."""
    found = list(found)
    answered = (
        _is_adaptive_worth_it,
        _does_sparse_help,
        _what_it_costs,
        _does_tuning_change_it,
        _does_size_change_it,
    )
    return [finding for answer in answered if (finding := answer(found))]


def _of(choice: tuple[str, str], task: str | None = None) -> Callable[[Isolated], bool]:
    """Select comparisons of a choice by the recipe, in models of the scale's own size."""

    def is_of(each: Isolated) -> bool:
        chosen = (each.axis, each.choice) == choice and task in (None, each.task)
        return chosen and each.size == 1 and not each.tuned and not _is_reversed(each)

    return is_of


def _is_reversed(each: Isolated) -> bool:
    """Whether the baseline is itself a learned span, which a finding would compare the wrong way
    round.
    """
    return each.axis == "span" and each.base_choice not in ("fixed", "full")


def _is_adaptive_worth_it(found: list[Isolated]) -> Finding | None:
    each = best(found, lambda each: _of(LEARNED)(each) and each.base_choice == "fixed")
    if not each:
        return None
    macs, speed = each.ratio("macs_executed"), each.ratio("train_tokens_per_s")
    costs = [f"{write_times(macs)} the MACs"] if macs else []
    costs += [f"{write_times(speed)} the step time"] if speed else []
    saved = f", at {' and '.join(costs)}" if costs else ""
    parts = [_number(each), Part(f"{saved}. {_place(each)}."), *_elsewhere(each, found)]
    verdict = "Mixed" if _is_contradicted(each, found) else _verdict(each)
    return Finding("Is an adaptive span worth it?", (Part(f"{verdict}: "), *parts))


def _does_sparse_help(found: list[Isolated]) -> Finding | None:
    chosen = [each for choice in SPARSE if (each := best(found, _of(choice, TRANSLATION)))]
    if not chosen:
        return None
    first, *others = chosen
    verdict = "Mixed" if _is_contradicted(first, found) else _verdict(first)
    parts = [Part(f"{verdict}: {choice_name(first.axis, first.choice)} is "), _number(first)]
    parts.append(Part(f" than {choice_name(first.axis, first.base_choice)}"))
    for each in others:
        parts += [Part(f"; {choice_name(each.axis, each.choice)}, "), _number(each)]
    return Finding(
        "Does sparse attention help translation?",
        (*parts, Part(f". {_place(first)}."), *_elsewhere(first, found)),
    )


def _what_it_costs(found: list[Isolated]) -> Finding | None:
    """Write the step times of the sparse choices in one question: the first that measured them."""
    timed = [
        each
        for each in sorted(found, key=rank)
        if each.ratio("train_tokens_per_s") and each.task == TRANSLATION
    ]
    timed = [each for each in timed if any(_of(choice)(each) for choice in SPARSE)]
    if not timed:
        return None
    home = timed[0]
    alike = [each for each in found if (each.set, each.question) == (home.set, home.question)]
    alike.sort(key=lambda each: GROUPS.index(each.axis))
    alike = [
        each
        for each in alike
        if each.axis in ("selection", "normaliser") and each.ratio("train_tokens_per_s")
    ]
    parts = []
    for each in [each for each in alike if each.size == 1 and not each.tuned]:
        ratio = each.ratio("train_tokens_per_s")
        # of the first: the rest is in the matrix
        interval = "" if parts else write_times_interval(ratio)
        shown = f"{write_times(ratio)} (95 % CI {interval})" if interval else write_times(ratio)
        parts += [
            Part(f"{', ' if parts else ''}{choice_name(each.axis, each.choice)} "),
            Part(shown, page_of(each)),
        ]
    return Finding(
        "What does sparse attention cost?",
        (
            Part(f"Step time in translation, compared with {home.difference.baseline}: "),
            *parts,
            Part(f". {_place(home, n=False)}."),
        ),
    )


def _does_tuning_change_it(found: list[Isolated]) -> Finding | None:
    """Compare the difference of tuned variants with that of the recipe, for the first choice that
    was tuned.
    """
    for choice in (LEARNED, *SPARSE, (MODEL, XL)):
        of_choice = [
            each
            for each in found
            if each.tuned and each.difference and (each.axis, each.choice) == choice
        ]
        tuned = min(of_choice, key=rank, default=None)
        recipe = tuned and _of_recipe(tuned, found)
        if recipe:
            verdict = (
                "Not its direction" if _is_same(tuned.difference, recipe.difference) else "Yes"
            )
            parts = [
                Part(f"{verdict}: {choice_name(tuned.axis, tuned.choice)} is "),
                _number(tuned),
                Part(" with each variant tuned, and "),
                _number(recipe),
                Part(f" with the recipe's settings. {_place(tuned)}."),
            ]
            return Finding("Does tuning change it?", tuple(parts))
    return None


def _of_recipe(tuned: Isolated, found: list[Isolated]) -> Isolated | None:
    """Find the comparison of the same variants by the recipe."""
    return best(found, lambda each: _same_question(each, tuned) and not each.tuned)


def _is_same(tuned: Difference, recipe: Difference) -> bool:
    """Whether both have one direction, and the tuned interval holds the recipe's mean."""
    held = tuned.low is None or tuned.low <= recipe.mean <= tuned.high
    return held and tuned.direction == recipe.direction


def _same_question(each: Isolated, other: Isolated) -> bool:
    alike = (each.set, each.question, each.axis, each.choice, each.base_choice)
    return (
        alike == (other.set, other.question, other.axis, other.choice, other.base_choice)
        and each.size == 1
    )


def _does_size_change_it(found: list[Isolated]) -> Finding | None:
    """Compare the smallest and the largest model, for a learned span and for top-k in
    translation.
    """
    parts: list[Part] = []
    for choice, task in ((LEARNED, None), (SPARSE[0], TRANSLATION)):
        ladder = _ladder(found, choice, task)
        if ladder:
            small, large = ladder[0], ladder[-1]
            verdict = (
                "No detectable change" if _overlap(small.difference, large.difference) else "Yes"
            )
            parts.append(Part(f"{' ' if parts else ''}{verdict} for {choice_name(*choice)}: "))
            parts += [_number(small), Part(f" at {small.size:g}× the width, "), _number(large)]
            parts.append(Part(f" at {large.size:g}× (scale {large.scale})."))
    return Finding("Does model size change it?", tuple(parts)) if parts else None


def _overlap(small: Difference, large: Difference) -> bool:
    """Whether the interval of one holds the mean of the other; a difference without an interval
    decides nothing.
    """
    ends = [(one, other) for one, other in ((small, large), (large, small)) if one.low is not None]
    return not ends or any(one.low <= other.mean <= one.high for one, other in ends)


def _ladder(found: list[Isolated], choice: tuple[str, str], task: str | None) -> list[Isolated]:
    """List the comparisons of one question over at least two sizes, the smallest first; of the best
    set of results.

    All are on the same corpora: at some size learned spans may have hardly moved on one of them.
    """
    rungs = [
        each for each in found if (each.axis, each.choice) == choice and task in (None, each.task)
    ]
    rungs = [
        each for each in rungs if each.difference and not each.tuned and not _is_reversed(each)
    ]
    by_home: dict[tuple, list[Isolated]] = {}
    for each in rungs:
        home = (each.set, each.question, frozenset(each.difference.by_corpus))
        by_home.setdefault(home, []).append(each)
    ladders = [sorted(every, key=lambda each: each.size) for every in by_home.values()]
    ladders = [every for every in ladders if len({each.size for each in every}) > 1]
    return min(ladders, key=lambda every: (-len(every), rank(every[-1])), default=[])


def _verdict(each: Isolated) -> str:
    """Say yes, no, or that the difference is not significant. Cells of the matrix are corrected for
    each other.
    """
    difference = each.difference
    if difference.p is None or difference.p > LEVEL:
        return "Inconclusive"
    return "Yes" if difference.direction == BETTER else "No"


def _number(each: Isolated) -> Part:
    """Write a difference with its interval and n, with a link to its question."""
    return Part(write_number(each.difference, late=not each.is_converged), page_of(each))


def write_number(difference: Difference, *, late: bool = False) -> str:
    """Write `0.026 bpc better (95 % CI 0.007 to 0.044, n = 6)`. late: whether a run behind it had
    not converged.
    """
    interval = f"95 % CI {difference.interval}, " if difference.interval else ""
    return f"{difference.size} ({interval}n = {difference.n}{', not converged' if late else ''})"


def _place(each: Isolated, *, n: bool = True) -> str:
    """Say where a number holds: its scale and corpora."""
    corpora = len(each.difference.by_corpus) if each.difference else 0
    return f"{capital(where(each))}{f', {_corpora(corpora)}' if n and corpora else ''}"


def _corpora(number: int) -> str:
    return "1 corpus" if number == 1 else f"{number} corpora"


def _elsewhere(each: Isolated, found: list[Isolated]) -> list[Part]:
    """Name the scales that disagree, each with its number and its corpora."""
    parts = []
    for other in _disagreeing(each, found):
        on = join([*other.difference.by_corpus])
        parts += [Part(f" Scale {other.scale} disagrees: "), _number(other), Part(f" on {on}.")]
    return parts


def _disagreeing(each: Isolated, found: list[Isolated]) -> list[Isolated]:
    """List the best comparison of each other set of results that is significant in the other
    direction.
    """
    same = _of((each.axis, each.choice), each.task)
    others = [other for other in found if same(other) and other.base_choice == each.base_choice]
    disagreeing = []
    for name in dict.fromkeys(other.set for other in others if other.set != each.set):
        other = best(others, lambda other, name=name: other.set == name)
        told = other is not None and other.difference.p is not None and other.difference.p <= LEVEL
        if told and other.difference.direction != each.difference.direction:
            disagreeing.append(other)
    return disagreeing


def _is_contradicted(each: Isolated, found: list[Isolated]) -> bool:
    """Whether a converged scale is significantly on the other side."""
    return any(other.is_converged for other in _disagreeing(each, found))
