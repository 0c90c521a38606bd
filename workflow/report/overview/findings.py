"""At most five findings: short answers to the questions that a reader has about variants.

Each is chosen by rule from the comparisons of all available results, and left out where none tests
it. The best comparison is the first by `workflow.report.overview.matrix.rank`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from workflow.report.answers.answer import BETTER, Difference
from workflow.report.figures.colours import XL
from workflow.report.overview.attention import GROUPS, MODEL, choice_name
from workflow.report.overview.collect import Isolated
from workflow.report.overview.matrix import (
    at_strongest,
    best,
    page_of,
    rank,
    where,
    write_times,
    write_times_interval,
)
from workflow.results.numbers import capital, join
from workflow.results.statistics import LEVEL, holm

# the choices that the findings are about: an axis and a choice on it
LEARNED = ("span", "adaptive")
SPARSE = (("selection", "top_k"), ("normaliser", "entmax15"))
TRANSLATION = "translation"
# where sparse attention was proposed, and where later papers claim that it matters
WHERE_SPARSE = {TRANSLATION: "Translation", "symbols": "Beyond the training length"}


@dataclass(frozen=True)
class Part:
    """A piece of a finding.

    page: of the question behind it, relative to the folder of all reports; None of words.
    """

    text: str
    page: str | None = None


@dataclass(frozen=True)
class Finding:
    """One line. asks: the reader's question. parts: the answer, each number with a link."""

    asks: str
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts)


def list_findings(found: Iterable[Isolated]) -> list[Finding]:
    """Answer the five questions, as far as the comparisons do."""
    found = list(found)
    findings = (
        _is_adaptive_worth_it(found),
        _does_sparse_help(found),
        _what_it_costs(found),
        _does_tuning_change_it(found),
        _does_size_change_it(found),
    )
    return [finding for finding in findings if finding]


def _of(choice: tuple[str, str], task: str | None = None) -> Callable[[Isolated], bool]:
    """Select comparisons of a choice by the recipe, in models of the scale's own size."""

    def is_of(each: Isolated) -> bool:
        if not _is_of_choice(each, choice, task):
            return False
        return each.size == 1

    return is_of


def _is_of_choice(each: Isolated, choice: tuple[str, str], task: str | None) -> bool:
    """Whether a comparison by the recipe is of a choice, in a task or in any."""
    if (each.axis, each.choice) != choice or each.tuned:
        return False
    if task is not None and each.task != task:
        return False
    return not _is_reversed(each)


def _is_reversed(each: Isolated) -> bool:
    """Whether the baseline is itself a learned span: a finding would compare it the wrong way."""
    return each.axis == "span" and each.base_choice not in ("fixed", "full")


# --- is an adaptive span worth it? -----------------------------------------------------------


def _is_adaptive_worth_it(found: list[Isolated]) -> Finding | None:
    is_learned = _of(LEARNED)
    each = best(found, lambda each: is_learned(each) and each.base_choice == "fixed")
    if not each:
        return None
    costs = []
    macs = each.ratio("macs_executed")
    if macs:
        costs.append(f"{write_times(macs)} the MACs")
    speed = each.ratio("train_tokens_per_s")
    if speed:
        costs.append(f"{write_times(speed)} the step time")
    saved = ""
    if costs:
        saved = f", at {' and '.join(costs)}"
    parts = (
        Part(f"{_verdict(each, found, each.difference.p)}: "),
        _number(each),
        Part(f"{saved}. {_place(each)}."),
        *_elsewhere(each, found),
    )
    return Finding("Is an adaptive span worth it?", parts)


# --- does sparse attention help, and what does it cost? --------------------------------------


def _does_sparse_help(found: list[Isolated]) -> Finding | None:
    """Answer where it was proposed and where it should help most, each with its own verdict."""
    parts = []
    for task, name in WHERE_SPARSE.items():
        of_task = [each for each in at_strongest(found) if each.task == task]
        on_corpora = {}
        for corpus in dict.fromkeys(each.corpus for each in of_task):
            on_corpus = [each for each in of_task if each.corpus == corpus]
            chosen = _sparse_of(task, on_corpus)
            if chosen:
                on_corpora[corpus] = chosen, on_corpus
        p_of = _correct([each for chosen, _ in on_corpora.values() for each in chosen])
        place = ""
        for corpus, (chosen, on_corpus) in on_corpora.items():
            space = " " if parts else ""
            # what several corpora share is said with the first
            lead = ", ".join(filter(None, (name, corpus))) if not place else capital(corpus)
            parts += [Part(f"{space}{lead}: "), *_sparse_in(chosen, on_corpus, p_of)]
            first = chosen[0]
            parts.append(Part("." if _place(first) == place else f". {_place(first)}."))
            parts += _elsewhere(first, on_corpus)
            place = _place(first)
    if not parts:
        return None
    return Finding("Where does sparse attention help?", tuple(parts))


def _correct(chosen: list[Isolated]) -> dict[int, float]:
    """Correct the p values of a task's corpora for each other; by `id` of the comparison."""
    if len({each.corpus for each in chosen}) < 2:
        return {}
    tested = [each for each in chosen if each.difference.p is not None]
    corrected = holm([each.difference.p for each in tested])
    return {id(each): p for each, p in zip(tested, corrected, strict=True)}


def _sparse_of(task: str, found: list[Isolated]) -> list[Isolated]:
    """List the best comparison of each sparse choice of a task that has one."""
    chosen = []
    for choice in SPARSE:
        each = best(found, _of(choice, task))
        if each:
            chosen.append(each)
    return chosen


def _sparse_in(chosen: list[Isolated], found: list[Isolated], p_of: dict[int, float]) -> list[Part]:
    """Write the sparse choices of a task with a verdict, or one each where they differ.

    p_of: corrected p values, of comparisons that have one (`_correct`).
    """
    first, *others = chosen
    verdicts = []
    for each in chosen:
        p = p_of.get(id(each), each.difference.p)
        verdicts.append(_verdict(each, found, p).lower())
    is_shared = len(set(verdicts)) == 1
    name = choice_name(first.axis, first.choice)
    base = choice_name(first.axis, first.base_choice)
    parts = [
        Part(f"{verdicts[0]}, {name} is " if is_shared else f"{verdicts[0]} for {name}, "),
        _number(first),
        Part(f" than {base}"),
    ]
    for each, verdict in zip(others, verdicts[1:], strict=True):
        name = choice_name(each.axis, each.choice)
        parts.append(Part(f"; {name}, " if is_shared else f"; {verdict} for {name}, "))
        parts.append(_number(each))
    return parts


def _what_it_costs(found: list[Isolated]) -> Finding | None:
    """Write the step times of the sparse choices in one question: the first that measured them."""
    timed = [
        each
        for each in sorted(found, key=rank)
        if each.task == TRANSLATION and each.ratio("train_tokens_per_s") and _is_sparse(each)
    ]
    if not timed:
        return None
    home = timed[0]
    parts = [Part(f"Step time in translation, compared with {home.difference.baseline}: ")]
    for number, each in enumerate(_timed_with(home, found)):
        comma = ", " if number else ""
        ratio = each.ratio("train_tokens_per_s")
        shown = write_times(ratio)
        # only the first has its interval: the matrix has all others
        interval = "" if number else write_times_interval(ratio)
        if interval:
            shown = f"{shown} (95 % CI {interval})"
        name = choice_name(each.axis, each.choice)
        parts.append(Part(f"{comma}{name} "))
        parts.append(Part(shown, page_of(each)))
    parts.append(Part(f". {_place(home, n=False)}."))
    return Finding("What does sparse attention cost?", tuple(parts))


def _is_sparse(each: Isolated) -> bool:
    return any(_of(choice)(each) for choice in SPARSE)


def _timed_with(home: Isolated, found: list[Isolated]) -> list[Isolated]:
    """List the selections and normalisers that the same question timed, by axis."""
    asked = (home.set, home.question)
    alike = [each for each in found if (each.set, each.question) == asked]
    alike.sort(key=lambda each: GROUPS.index(each.axis))
    return [
        each
        for each in alike
        if each.axis in ("selection", "normaliser")
        and each.ratio("train_tokens_per_s")
        and each.size == 1
        and not each.tuned
    ]


# --- does tuning change it? ------------------------------------------------------------------


def _does_tuning_change_it(found: list[Isolated]) -> Finding | None:
    """Compare the tuned difference with the recipe's, for the first choice that was tuned."""
    for choice in (LEARNED, *SPARSE, (MODEL, XL)):
        # a question that is tuned on each corpus has no runs of the recipe to compare with
        of_choice = [
            each
            for each in found
            if each.tuned
            and each.difference
            and (each.axis, each.choice) == choice
            and _of_recipe(each, found)
        ]
        if of_choice:
            tuned = min(of_choice, key=rank)
            return _compare_tuned(tuned, _of_recipe(tuned, found))
    return None


def _compare_tuned(tuned: Isolated, recipe: Isolated) -> Finding:
    is_same = _is_same(tuned.difference, recipe.difference)
    verdict = "Not its direction" if is_same else "Yes"
    name = choice_name(tuned.axis, tuned.choice)
    parts = (
        Part(f"{verdict}: {name} is "),
        _number(tuned),
        Part(" with each variant tuned, and "),
        _number(recipe),
        Part(f" with the recipe's settings. {_place(tuned)}."),
    )
    return Finding("Does tuning change it?", parts)


def _of_recipe(tuned: Isolated, found: list[Isolated]) -> Isolated | None:
    """Find the comparison of the same variants by the recipe."""
    return best(found, lambda each: _is_same_question(each, tuned) and not each.tuned)


def _is_same(tuned: Difference, recipe: Difference) -> bool:
    """Whether both have one direction, and the tuned interval holds the recipe's mean."""
    if tuned.direction != recipe.direction:
        return False
    return tuned.low is None or tuned.low <= recipe.mean <= tuned.high


def _is_same_question(each: Isolated, other: Isolated) -> bool:
    """Whether a comparison in models of the scale's own size is of the same variants."""
    is_asked_alike = each.set == other.set and each.question == other.question
    if not is_asked_alike or each.size != 1:
        return False
    is_of_choice = each.axis == other.axis and each.choice == other.choice
    return is_of_choice and each.base_choice == other.base_choice


# --- does model size change it? --------------------------------------------------------------


def _does_size_change_it(found: list[Isolated]) -> Finding | None:
    """Compare the smallest and the largest model: a learned span, and top-k in translation."""
    parts: list[Part] = []
    asked = ((LEARNED, None), (SPARSE[0], TRANSLATION))
    for choice, task in asked:
        ladder = _ladder(found, choice, task)
        if not ladder:
            continue
        small = ladder[0]
        large = ladder[-1]
        overlaps = _overlap(small.difference, large.difference)
        verdict = "No detectable change" if overlaps else "Yes"
        space = " " if parts else ""
        name = choice_name(*choice)
        parts += [
            Part(f"{space}{verdict} for {name}: "),
            _number(small),
            Part(f" at {small.size:g}× the width, "),
            _number(large),
            Part(f" at {large.size:g}× (scale {large.scale})."),
        ]
    if not parts:
        return None
    return Finding("Does model size change it?", tuple(parts))


def _overlap(small: Difference, large: Difference) -> bool:
    """Whether the interval of one holds the mean of the other; without intervals they do."""
    has_interval = False
    for one, other in ((small, large), (large, small)):
        if one.low is None:
            continue
        has_interval = True
        if one.low <= other.mean <= one.high:
            return True
    return not has_interval


def _ladder(found: list[Isolated], choice: tuple[str, str], task: str | None) -> list[Isolated]:
    """List the comparisons of one question over at least two sizes, the smallest first.

    They are those of the best set of results. All are on the same corpora: at some size learned
    spans may have hardly moved on one of them.
    """
    by_home: dict[tuple, list[Isolated]] = {}
    for each in found:
        if not each.difference or not _is_of_choice(each, choice, task):
            continue
        corpora = frozenset(each.difference.by_corpus)
        home = (each.set, each.question, corpora)
        by_home.setdefault(home, []).append(each)
    ladders = []
    for every in by_home.values():
        every.sort(key=lambda each: each.size)
        sizes = {each.size for each in every}
        if len(sizes) > 1:
            ladders.append(every)

    def order(ladder: list[Isolated]) -> tuple:
        largest = ladder[-1]
        return -len(ladder), rank(largest)

    return min(ladders, key=order, default=[])


# --- verdicts, numbers and places ------------------------------------------------------------


def _verdict(each: Isolated, found: list[Isolated], p: float | None) -> str:
    """Say yes, no, mixed, or that the difference is not significant. p: of the difference."""
    if _is_contradicted(each, found):
        return "Mixed"
    difference = each.difference
    if p is None or p > LEVEL:
        return "Inconclusive"
    return "Yes" if difference.direction == BETTER else "No"


def _number(each: Isolated) -> Part:
    """Write a difference with its interval and n, with a link to its question."""
    written = write_number(each.difference, late=not each.is_converged)
    return Part(written, page_of(each))


def write_number(difference: Difference, *, late: bool = False) -> str:
    """Write `0.026 bpc better (95 % CI 0.007 to 0.044, n = 6)`.

    late: whether a run behind it had not converged.
    """
    interval = f"95 % CI {difference.interval}, " if difference.interval else ""
    convergence = ", not converged" if late else ""
    return f"{difference.size} ({interval}n = {difference.n}{convergence})"


def _place(each: Isolated, *, n: bool = True) -> str:
    """Say where a number holds: its scale and, with n, how many corpora."""
    place = capital(where(each))
    if not n or not each.difference or each.corpus:
        return place
    corpora = len(each.difference.by_corpus)
    if not corpora:
        return place
    how_many = "1 corpus" if corpora == 1 else f"{corpora} corpora"
    return f"{place}, {how_many}"


def _elsewhere(each: Isolated, found: list[Isolated]) -> list[Part]:
    """Name the scales that disagree, each with its number and its corpora."""
    parts = []
    for other in _disagreeing(each, found):
        on = join([*other.difference.by_corpus])
        parts += [
            Part(f" Scale {other.scale} disagrees: "),
            _number(other),
            Part(f" on {on}."),
        ]
    return parts


def _disagreeing(each: Isolated, found: list[Isolated]) -> list[Isolated]:
    """List the best comparison of each other set that is significant in the other direction."""
    is_same = _of((each.axis, each.choice), each.task)
    others = []
    for other in found:
        if is_same(other) and other.base_choice == each.base_choice:
            others.append(other)
    sets = [other.set for other in others if other.set != each.set]
    disagreeing = []
    for name in dict.fromkeys(sets):
        other = best(others, lambda other, name=name: other.set == name)
        if other is None:
            continue
        p = other.difference.p
        is_significant = p is not None and p <= LEVEL
        if is_significant and other.difference.direction != each.difference.direction:
            disagreeing.append(other)
    return disagreeing


def _is_contradicted(each: Isolated, found: list[Isolated]) -> bool:
    """Whether a converged scale is significantly on the other side."""
    return any(other.is_converged for other in _disagreeing(each, found))
