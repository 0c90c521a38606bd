"""The page that recommends a model for a budget of MACs: on each corpus, over all questions and
sizes.

From the cheapest model on, a dearer one is recommended where it is better on dev and significantly
better on test than the one recommended before. So the cheapest of several models that are not
significantly different is recommended.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from urllib.parse import urlencode

import pandas as pd

from workflow.report.answers.cost_figure import DIFFERS
from workflow.report.answers.effects import Effect, by_text_and_seed, effect_of
from workflow.report.answers.lines import name_score
from workflow.report.answers.tuning import same_as_recipe
from workflow.report.figures.colours import GREY, INK
from workflow.report.figures.marks import shows
from workflow.report.figures.style import bars_of, canvas, set_log
from workflow.report.pages.artefacts import drawn_here, runs_at
from workflow.report.tables.cells import name_runs
from workflow.results.datasets import name_badges, with_titles
from workflow.results.numbers import name_places, number, reach_to_digits, to_digits
from workflow.results.registry import REGISTRY, bounds_of
from workflow.results.runs_table import describe_runs
from workflow.results.statistics import FEWEST, half_width, mean_interval
from workflow.tasks.spec import TASKS
from workflow.tasks.task import TaskSpec

COST = "macs_executed"
BEST = {"lower": "min", "higher": "max"}
FEWEST_NETS = 4  # on a text: among fewer there is nothing to choose
CAPTION = "All configurations with three seeds or more, as means over seeds. The line joins the recommended models."

# two rows of the table of models, by their number, on test
Compare = Callable[[int, int], Effect | None]


@dataclass(frozen=True)
class Choice:
    """A model that is recommended. place: its row.

    until: the cost of the model that is recommended next. gain: its effect on test compared with
    the model recommended before, None for the first. alternatives: rows that cost less than `until`
    and are not significantly different on test, or significantly better on test but not on dev; the
    best on test first.
    """

    place: int
    until: float | None
    gain: Effect | None
    alternatives: list[int]


@dataclass(frozen=True)
class Model:
    """A model as the page lists it.

    page: of its question, with its variant chosen. cost: MACs of a prediction. score: on test with
    its interval.
    seeds: how many it was trained with. compared: with the recommended model before it, or of an
    alternative with the recommended model.
    """

    name: str
    page: str
    cost: float
    score: str
    seeds: int
    compared: str


@dataclass(frozen=True)
class Recommendation:
    """A model with its alternatives. until: the cost from which another one is recommended; None
    for the dearest.
    """

    model: Model
    until: float | None
    alternatives: list[Model]


def model_selection_page(runs: pd.DataFrame) -> dict:
    """Collect for each corpus what is recommended at which cost. runs: of all questions and sizes,
    with costs.
    """
    judged = runs[(runs["tuning"] != "trial") & ~same_as_recipe(runs)]
    tried = with_titles(judged[(judged["status"] == "ok") & judged[COST].notna()])
    texts = [
        _text(TASKS[task], title, rows)
        for (task, title), rows in tried.groupby(["task", "title"], sort=False)
    ]
    return {
        "title": "Model selection by budget",
        "provenance": describe_runs(runs, name_badges(runs)),
        "texts": [text for text in texts if text],
    }


def _text(task: TaskSpec, title: str, runs: pd.DataFrame) -> dict | None:
    """Describe one corpus: its models as a figure, and what is recommended at which cost."""
    score = next(each for each in task.score_columns if each[0].startswith("test_"))
    scored = score[0].replace("test_", "dev_")  # where dev has no such score, the loss decides
    decides = scored if scored in runs and runs[scored].notna().all() else f"dev_{task.curve[0]}"
    numbers = nets(runs, decides, score[0])
    if len(numbers) < FEWEST_NETS or numbers[COST].max() < DIFFERS * numbers[COST].min():
        return None  # nothing to choose, or not by cost
    best, better = BEST[REGISTRY[decides].better], REGISTRY[score[0]].better
    compare = compare_rows(numbers, runs, score[0])
    chosen = recommend(numbers, compare, best, better)
    told = numbers.drop(columns=["configuration", "of", "question"]).rename(
        columns={"decides": decides}
    )
    figure = draw(numbers, [each.place for each in chosen], name_score(score[0], score[1]))
    figure = drawn_here(
        f"budget-{runs['corpus'].iloc[0]}", "Quality against cost", CAPTION, figure, told, ""
    )
    before = [None, *(each.place for each in chosen)]
    lines = [
        _recommendation(numbers, *pair, compare, score[0])
        for pair in zip(chosen, before, strict=False)
    ]
    return {
        "title": title,
        "of": task.tokens[:-1],
        "decides": REGISTRY[decides].title,
        "score": score[1:],
        "nets": len(numbers),
        "axis": REGISTRY[COST].title,
        "figure": figure,
        "lines": lines,
    }


def nets(runs: pd.DataFrame, decides: str, score: str) -> pd.DataFrame:
    """Make a row for each configuration with enough seeds: its cost, its score on dev that decides,
    its test score.
    """
    rows, updates = [], runs["steps"].nunique() > 1
    for configuration, mine in runs.drop_duplicates("digest").groupby("configuration", sort=False):
        mine = mine[mine[decides].notna() & mine[score].notna()]
        if len(mine) >= FEWEST:
            mean, low, high = mean_interval(
                mine[score].astype(float).tolist(), bounds=bounds_of(score)
            )
            first, cost = mine.iloc[0], float(mine[COST].mean())
            about = (
                _name(first, updates=updates),
                first["label"],
                first["question"],
                configuration,
                cost,
                float(mine[decides].mean()),
            )
            # where their pages lie
            placed = mine.assign(digest=runs_at(first["question"]) + mine["digest"])
            rows.append((*about, mean, low, high, len(mine), name_runs(placed, score)))
    columns = [
        "variant",
        "of",
        "question",
        "configuration",
        COST,
        decides,
        "mean",
        "low",
        "high",
        "n",
        "runs",
    ]
    table = pd.DataFrame(rows, columns=columns).rename(columns={decides: "decides"})
    return table.sort_values(COST, kind="stable", ignore_index=True)


def _name(run: pd.Series, *, updates: bool) -> str:
    """Name a model by variant, S, k, width and how it was trained. updates: whether models differ
    in their number.
    """
    trained = [f"{run['steps']:,} updates"] if updates else []
    trained += ["tuned"] if run["tuning"] == "tuned" else []
    return ", ".join(
        [run["label"], *name_places(run["S"], run["k"]), f"width {run['d_model']:g}", *trained]
    )


def compare_rows(numbers: pd.DataFrame, runs: pd.DataFrame, score: str) -> Compare:
    """Make a function that compares two rows on test, paired by seed: None where they have no seed
    in common.
    """
    by_configuration = dict(iter(runs.groupby("configuration")))

    # hundreds of pairs share a few dozen models
    @cache
    def scores_of(place: int) -> pd.Series:
        return by_text_and_seed(by_configuration[numbers["configuration"][place]], score)

    @cache
    def compare(one: int, other: int) -> Effect | None:
        ours, than = scores_of(one), scores_of(other)
        return effect_of((ours - than.reindex(ours.index)).dropna())

    return compare


def recommend(numbers: pd.DataFrame, compare: Compare, best: str, better: str) -> list[Choice]:
    """List what is recommended, the cheapest first. numbers: by rising cost.

    best: `min` or `max` of what decides. better: whether a lower or a higher score on test is.
    """
    taken: list[int] = []
    for _, rows in numbers.groupby(COST):
        places = [*rows.index]
        if taken:
            places = [place for place in places if _is_ahead(numbers, place, taken[-1], best)]
            places = [place for place in places if is_better(compare(place, taken[-1]), better)]
        if places:
            taken.append(_of_one_cost(numbers, places, compare, best, better))
    ends = [*(float(numbers[COST][place]) for place in taken[1:]), None]
    gains = [None, *(compare(place, last) for last, place in zip(taken, taken[1:], strict=False))]
    chosen = []
    for place, until, gain in zip(taken, ends, gains, strict=True):
        allowed = numbers[numbers.index != place]
        allowed = allowed[allowed[COST] < until] if until else allowed
        rows = [*allowed.sort_values("mean", ascending=best == "min", kind="stable").index]
        others = [each for each in rows if _is_alternative(compare(each, place), better)]
        chosen.append(Choice(place, until, gain, others))
    return chosen


def _is_alternative(effect: Effect | None, better: str) -> bool:
    """Say whether a model, compared with the recommended one, has an interval and is not
    significantly worse.
    """
    return (
        effect is not None
        and effect.low is not None
        and (not effect.told or is_better(effect, better))
    )


def is_better(effect: Effect | None, better: str) -> bool:
    """Say whether an effect is significant and in favour of the first side."""
    return effect is not None and effect.told and (effect.mean < 0) == (better == "lower")


def _is_ahead(numbers: pd.DataFrame, one: int, other: int, best: str) -> bool:
    """Say whether one row is better on dev than another."""
    apart = numbers["decides"][one] - numbers["decides"][other]
    return bool(apart < 0 if best == "min" else apart > 0)


def _of_one_cost(
    numbers: pd.DataFrame, places: list[int], compare: Compare, best: str, better: str
) -> int:
    """Pick of rows that cost the same the best on dev, unless another is significantly better on
    test.
    """
    first, *others = (
        numbers.loc[places].sort_values("decides", ascending=best == "min", kind="stable").index
    )
    for other in others:
        if is_better(compare(other, first), better):
            first = other
    return first


def draw(numbers: pd.DataFrame, chosen: list[int], score: str):
    """Draw every model by cost and score, and a line through those that are chosen."""
    figure, axes = canvas(height=2.8)
    shows(
        axes.plot(numbers[COST], numbers["mean"], ".", color=GREY, ms=6, ls="none"), numbers.index
    )
    best = numbers.loc[chosen]
    bars = bars_of(best)
    style = {"color": INK, "ms": 5, "lw": 1, "capsize": 3}
    shows(
        axes.errorbar(best[COST], best["mean"], bars, fmt="o-", drawstyle="steps-post", **style),
        best.index,
    )
    set_log(axes.xaxis)
    axes.set_xlabel("executed MACs")
    axes.set_ylabel(score)
    return figure


def _recommendation(
    numbers: pd.DataFrame, choice: Choice, before: int | None, compare: Compare, score: str
) -> Recommendation:
    """Describe a model that is recommended. before: the row that was recommended for less, None for
    the cheapest.
    """
    why = "the cheapest model"
    if before is not None:
        why = f"{describe(choice.gain, score)} than {_place(numbers, before)}"
    others = [
        _model(numbers, each, describe(compare(each, choice.place), score))
        for each in choice.alternatives
    ]
    return Recommendation(_model(numbers, choice.place, why), choice.until, others)


def _model(numbers: pd.DataFrame, place: int, compared: str) -> Model:
    """Describe the model of a row."""
    mine = numbers.loc[place]
    half = half_width(mine["low"], mine["high"])
    score = to_digits(mine["mean"], half) + reach_to_digits(
        mine["mean"], (mine["low"], mine["high"]), half
    )
    page = f"{runs_at(mine['question'])}index.html#{urlencode({'variant': mine['of']})}"
    return Model(mine["variant"], page, float(mine[COST]), score, int(mine["n"]), compared)


def _place(numbers: pd.DataFrame, place: int) -> str:
    return f"{numbers['variant'][place]} ({number(round(numbers[COST][place]))} MACs)"


def describe(effect: Effect | None, score: str) -> str:
    """Write a difference on test with its interval, or that it is not significant."""
    if effect is None:
        return "no seed in common"
    way = "better" if (effect.mean < 0) == (REGISTRY[score].better == "lower") else "worse"
    unit = REGISTRY[score].unit
    if effect.low is None:
        return f"{to_digits(abs(effect.mean))} {unit} {way} (n = {effect.n}, too few for a test)"
    if not effect.told:
        low, high = (to_digits(each, effect.half) for each in (effect.low, effect.high))
        return f"not significantly different (95 % CI of the difference {low} to {high}, n = {effect.n})"
    low, high = (
        to_digits(each, effect.half) for each in sorted((abs(effect.low), abs(effect.high)))
    )
    return f"{to_digits(abs(effect.mean), effect.half)} {unit} {way} (95 % CI {low} to {high}, n = {effect.n})"
