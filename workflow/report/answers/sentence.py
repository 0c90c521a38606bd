"""A few short sentences that answer the question of a question, or say why it cannot be answered yet; by rule."""

from dataclasses import dataclass, field

import pandas as pd

from workflow.report.answers import costs, growth, remarks
from workflow.report.answers.effects import Change, Comparison, Effect, axes_of, change_along, compare, place_on
from workflow.report.answers.phrases import ALIKE, Score, describe_comparisons, quoted, worded
from workflow.report.answers.tuning import follows_recipe, tuned_runs
from workflow.report.figures.colours import as_named
from workflow.report.numbers import capital, count, join, reach, to_digits
from workflow.report.texts import with_titles
from workflow.results.registry import REGISTRY
from workflow.results.runs_table import count_seeds
from workflow.results.statistics import FEWEST, LEVEL, POSITIVE, holm, over_seeds
from workflow.results.trained_enough import hardly_moved, learned_spans
from workflow.tasks.spec import TaskSpec

NAMED = 3  # of so many variants at most it is said what happens along the grid
FOUND, EARLY, UNANSWERED, ALONE = "Found", "So far", "Not answered yet", "Nothing to compare"
TUNED, RECIPE = "with each variant tuned", "with the recipe's settings"
UNTUNED = "not tuned at this scale"  # of a question that has trials


@dataclass(frozen=True)
class Answer:
    """The answer. status: one of the four above. sentence: follows the status.

    costs: what the variants cost beside their baselines, and how far they look. remarks: what else to know. converged:
    whether no run behind the answer was still learning.
    """

    status: str
    sentence: str
    remarks: list[str] = field(default_factory=list)
    costs: list[str] = field(default_factory=list)
    converged: bool = True


def answer_question(runs: pd.DataFrame, task: TaskSpec, *, has_trials: bool) -> Answer:
    """Answer the question of one question: with each variant tuned, then with the recipe's settings.

    runs: of the recipe, at all sizes, with its trials and what follows them. has_trials: whether the question does;
    where nothing follows them, the answer says that its variants are not tuned.
    """
    recipe, tuned = runs[runs["tuning"].isna()], tuned_runs(runs)
    if follows_recipe(runs):
        return answer_of(recipe, task, "each variant tuned: its trials chose the recipe's settings")
    if not len(tuned):
        return answer_of(recipe, task, UNTUNED if has_trials else "")
    alike, plain = answer_of(tuned, task), answer_of(recipe, task)
    status = f" ({plain.status.lower()})" if plain.status != alike.status else ""
    sentence = f"{TUNED}, {alike.sentence} {capital(RECIPE)}{status}: {_what_is_new(plain.sentence, alike.sentence)}"
    cost = [*plain.costs, "Costs and spans are those of the recipe's runs."] if plain.costs else []
    converged = alike.converged and plain.converged
    return Answer(alike.status, sentence, _of_both(alike.remarks, plain.remarks), cost, converged)


def _what_is_new(said: str, before: str) -> str:
    """Keep the sentences that were not said before, and say that the others are the same."""
    first = before.removesuffix(".").split(". ")
    new = [each for each in said.removesuffix(".").split(". ") if each not in first]
    if not new:
        return "the same."
    rest = " The rest is the same." if len(new) < len(said.split(". ")) else ""
    return f"{'. '.join(new)}.{rest}"


def _of_both(tuned: list[str], recipe: list[str]) -> list[str]:
    """Join remarks, each with what it is about unless it holds for both."""
    shared = [remark for remark in tuned if remark in recipe]
    lines = [f"{capital(TUNED)}: {remark}" for remark in tuned if remark not in shared]
    return [*shared, *lines, *(f"{capital(RECIPE)}: {remark}" for remark in recipe if remark not in shared)]


def answer_of(runs: pd.DataFrame, task: TaskSpec, settings: str = "") -> Answer:
    """Answer the question of one question by runs that are all tuned, or all of the recipe; failed ones included.

    runs: those of the first variant first. settings: what is said of them where the numbers' basis is.
    Of nets of several sizes it is said first what size changes; all else is about those of the scale's own size. Runs
    whose learned spans have hardly moved from their start are compared with none.
    """
    (quantity, _, unit), runs = task.columns[0], with_titles(as_named(runs))
    at_every_size = runs[(runs["status"] == "ok") & runs[quantity].notna()]
    runs = runs.assign(**{side: runs[side].map(quoted, na_action="ignore") for side in ("variant", "baseline")})
    unmoved = remarks.unmoved(runs, task.tokens)
    moved = runs.assign(**{quantity: runs[quantity].mask(hardly_moved(runs))})
    grown, lost = growth.trends(Score(quantity, unit, moved)), growth.failures(runs)
    runs, moved = (each[each["size"] == 1] for each in (runs, moved))
    finished = runs[(runs["status"] == "ok") & runs[quantity].notna()]
    failed = remarks.failures(runs, quantity)
    if not len(finished):
        return Answer(UNANSWERED, f"all {count(runs['digest'].nunique(), 'run')} failed.", failed)
    score, comparisons = Score(quantity, unit, runs), compare(moved, quantity)
    changes = _changes(score, moved[moved.index.isin(finished.index)])
    alone = not comparisons and not changes
    if alone:
        status, sentence = _alone(score, finished, task.tokens)
    elif unmoved and not changes and not any(each.effect for each in comparisons):
        status, sentence = UNANSWERED, "no comparison is left in which learned spans moved"
    else:
        status, sentence = _say(score, comparisons, changes, finished)
    still = remarks.learning(at_every_size if grown else _behind(finished, comparisons, changes))
    status = EARLY if status == FOUND and still else status
    texts = [*finished["title"].unique()]
    behind = _compared_on(comparisons, changes, texts)
    mean = "mean of " if len(behind) > 1 and not alone else ""
    judged = "" if alone and status == FOUND else f"{REGISTRY[quantity].title}, "  # of spans there is no score
    basis = f"{judged}{count_seeds(finished)}, {mean}{join(behind)}, scale {join([*runs['scale'].unique()])}"
    basis += f", {settings}" if settings else ""
    basis += remarks.chance(comparisons)
    also = [
        *remarks.on_fewer_texts(comparisons, texts),
        *remarks.by_text(comparisons, changes, score),
        *remarks.few(comparisons),
        *remarks.same_runs(runs),
        *remarks.not_compared(compare(runs, quantity), finished),
        *still,
        *failed,
        *lost,
    ]
    cost = [*costs.of_variants(runs, finished, task.tokens), *costs.growth(finished)]
    cost += costs.spans(finished, task.tokens) if not alone or status == ALONE else []
    status = EARLY if status == UNANSWERED and grown else status
    of_one = f"at the scale's own size {sentence}" if at_every_size["size"].nunique() > 1 else sentence
    first, *others = [*grown, f"{of_one} ({basis}).", *unmoved]
    return Answer(status, " ".join([first, *map(capital, others)]), also, cost, converged=not still)


def _compared_on(comparisons: list[Comparison], changes: list[Change], texts: list[str]) -> list[str]:
    """Select the texts behind the numbers of an answer: all, but where nothing else is said than of some."""
    named = {text for each in comparisons if each.effect for text in each.effect.by_text}
    return texts if changes or not named else [text for text in texts if text in named]


def _behind(finished: pd.DataFrame, comparisons: list[Comparison], changes: list[Change]) -> pd.DataFrame:
    """Select the runs behind an answer: for a comparison those that have a pair, along a grid all."""
    if not comparisons:
        return finished
    paired = finished.groupby(["title", "seed"])["variant"].transform("nunique") > 1
    return finished[paired | finished["variant"].isin([variant for _, variant, _ in changes])]


def _say(score: Score, comparisons: list[Comparison], changes: list, finished: pd.DataFrame) -> tuple[str, str]:
    """Write status and sentence, without the basis and whether runs still learned. changes: from `_changes`."""
    paired = [each for each in comparisons if each.effect]
    if comparisons and not paired:
        if all(each.keeps_all or each.is_same for each in comparisons):
            return ALONE, "the variants are the same at this scale"
        named = dict.fromkeys(each.baseline for each in comparisons)
        failed = [name for name in named if name not in set(finished["variant"])]
        why = "has ended well" if failed else "has the text, seed, S and k of a run of another variant"
        return UNANSWERED, f"no run of {join(failed or [*named])}, with which others are compared, {why}"
    weighed = [each for each in paired if each.effect.p is not None]
    if not weighed and not changes:
        return UNANSWERED, _few_seeds(score, paired)
    ps = [effect.p for effect in (*(each.effect for each in worded(weighed)), *(effect for *_, effect in changes))]
    parts = describe_comparisons(score, weighed) if weighed else []
    first, *others = [*parts, *_describe_changes(score, changes)]
    return _status(ps), ". ".join([first, *(capital(each) for each in others)])


def _status(ps: list[float]) -> str:
    """Return FOUND if an effect remains after p is corrected for their number, EARLY if one is told alone."""
    if min(holm(ps)) <= LEVEL:
        return FOUND
    return EARLY if min(ps) <= LEVEL else UNANSWERED


def _alone(score: Score, finished: pd.DataFrame, tokens: str) -> tuple[str, str]:
    """Say how far the heads of a single variant look, where they have learned that, else its score; text by text.

    Of several S or k it is about the largest.
    """
    finished = costs.largest(finished)
    seeds = int(finished.groupby("title")["seed"].nunique().min())
    if seeds < FEWEST:
        return UNANSWERED, f"{_too_few(seeds)}; {_level(score, finished)}"
    learned = learned_spans(finished[finished["mean_span"].notna()])
    learned = learned[~hardly_moved(learned)]
    if not len(learned):
        return ALONE, f"one variant was run; {_level(score, finished)}"
    by_text = learned.groupby("title", sort=False)
    on = f"on {join([*by_text.groups])}, " if len(by_text) < finished["title"].nunique() else ""
    average, longest = (join([_span(spans) for _, spans in by_text[name]]) for name in ("mean_span", "max_span"))
    heads = f"{average} {tokens} on average over its heads, and {longest} with the longest of them"
    return FOUND, f"{on}{finished['variant'].iloc[0]} reaches {heads}, of at most {learned['S'].max():.0f}"


def _span(of_seeds: pd.Series) -> str:
    """Write a mean with its interval, `19 ± 4`; the mean alone where seeds are too few for an interval."""
    shown = over_seeds([*of_seeds], bounds=POSITIVE)
    value, low, high = shown["value"], shown["low"], shown["high"]
    return f"{value:.0f}" + ("" if low is None else reach(value, low, high, "{:.0f}".format))


def _level(score: Score, finished: pd.DataFrame) -> str:
    """Write the score on each text."""
    means = finished.groupby("title", sort=False)[score.quantity].mean()
    return f"{finished['variant'].iloc[0]} reaches {join([to_digits(mean) for mean in means])} {score.unit}"


def _too_few(seeds: int) -> str:
    return f"{count(seeds, 'seed')} cannot tell an effect from chance, which takes {FEWEST} on each text"


def _few_seeds(score: Score, paired: list[Comparison]) -> str:
    """Say why so few seeds are not enough, and the largest difference that they show."""
    widest = max(paired, key=lambda each: abs(each.effect.mean))
    place = place_on(axes_of(score.runs), widest.S, widest.k)
    return f"{_too_few(widest.effect.fewest)}; {widest.variant}{place} is {score.size(widest.effect)} " + (
        f"{score.direction(widest.effect)} than {widest.baseline}"
    )


def _changes(score: Score, finished: pd.DataFrame) -> list[Change]:
    """List how a few variants change from the smallest S, or k, to the largest: the ends, the variant and the effect.

    Changes over too few seeds are left out.
    """
    changes = []
    for axis in axes_of(score.runs):
        for variant, rows in list(finished.groupby("variant", sort=False))[:NAMED]:
            effect = change_along(rows, axis, score.quantity)
            if effect and effect.p is not None:
                changes.append((f"from {axis} = {rows[axis].min():g} to {rows[axis].max():g}", variant, effect))
    return changes


def _describe_changes(score: Score, changes: list[Change]) -> list[str]:
    """Write a sentence for each pair of ends; variants that change alike are named together."""
    said: dict[str, dict[str, list[tuple[str, Effect]]]] = {}
    for ends, variant, effect in changes:
        said.setdefault(ends, {}).setdefault(score.state(effect), []).append((variant, effect))
    return [
        f"{ends} {join([_describe_alike(score, state, members) for state, members in states.items()])}"
        for ends, states in said.items()
    ]


def _describe_alike(score: Score, state: str, members: list[tuple[str, Effect]]) -> str:
    names, effects = zip(*members, strict=True)
    several = len(names) > 1
    if state == ALIKE:
        return f"{join([*names])} {'do' if several else 'does'} not change beyond chance"
    sizes = join([to_digits(abs(effect.mean), effect.half) for effect in effects])
    turned = [name for name, effect in members if effect.turns]
    disagree = f" (the texts disagree{f' on {join(turned)}' if several else ''})" if turned else ""
    return f"{join([*names])} {'get' if several else 'gets'} {state} by {sizes} {score.unit}{disagree}"
