"""The page that recommends a model for a budget of MACs: on each corpus, over questions and sizes.

From the cheapest model on, a more expensive one is recommended where it is better on dev and
significantly better on test than the one recommended before. So the cheapest of several models that
are not significantly different is recommended.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cache, cached_property
from urllib.parse import urlencode

import pandas as pd
from matplotlib.figure import Figure as Drawing

from workflow.report.answers.cost_figure import DIFFERS
from workflow.report.answers.effects import Effect, by_text_and_seed, effect_of_pairs, paired
from workflow.report.answers.lines import name_score
from workflow.report.answers.tuning import same_as_recipe
from workflow.report.figures.colours import GREY, INK
from workflow.report.figures.marks import shows
from workflow.report.figures.style import bars_of, canvas, set_log
from workflow.report.pages.artefacts import Figure, embed_drawing, runs_at
from workflow.report.tables.cells import name_runs
from workflow.results.datasets import name_badges, with_titles
from workflow.results.numbers import name_places, number, reach_to_digits, to_digits
from workflow.results.registry import REGISTRY, bounds_of
from workflow.results.runs_table import describe_runs
from workflow.results.statistics import FEWEST, half_width, mean_interval
from workflow.tasks.spec import TASKS
from workflow.tasks.task import Column, TaskSpec

COST = "macs_executed"
FEWEST_MODELS = 4  # on a corpus: among fewer there is nothing to choose
CAPTION = (
    "All configurations with three seeds or more, as means over seeds. "
    "The line joins the recommended models."
)

# variant: the model in words. of: its label. decides: its score on dev. mean, low, high: on test,
# with the 95 % interval over n seeds. runs: which seeds those are, as marks of a figure name them.
COLUMNS = [
    "variant",
    "of",
    "question",
    "configuration",
    COST,
    "decides",
    "mean",
    "low",
    "high",
    "n",
    "runs",
]
UNTOLD = ["configuration", "of", "question"]  # columns that no mark of the figure names


@dataclass(frozen=True)
class Choice:
    """A model that is recommended. place: its row in the models of the contest.

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
    its interval. seeds: how many it was trained with. compared: with the recommended model before
    it, or of an alternative with the recommended model.
    """

    name: str
    page: str
    cost: float
    score: str
    seeds: int
    compared: str


@dataclass(frozen=True)
class Recommendation:
    """A model with its alternatives.

    until: the cost from which another one is recommended; None for the most expensive.
    """

    model: Model
    until: float | None
    alternatives: list[Model]


@dataclass(frozen=True)
class Corpus:
    """What is recommended on one corpus.

    of: what the budget is for, as `character`. decides: title of the score on dev.
    score: title and unit of the score on test. nets: how many models compete.
    axis: title of the cost, as the figure names it. lines: the cheapest first.
    """

    title: str
    of: str
    decides: str
    score: tuple[str, str]
    nets: int
    axis: str
    figure: Figure
    lines: list[Recommendation]


@dataclass(frozen=True)
class ModelSelectionPage:
    """What the page shows. texts: corpora on which there is something to choose."""

    title: str
    provenance: str
    texts: list[Corpus]


def model_selection_page(runs: pd.DataFrame) -> ModelSelectionPage:
    """Collect for each corpus what is recommended at which cost.

    runs: of all questions and sizes, with their costs.
    """
    judged = runs[(runs["tuning"] != "trial") & ~same_as_recipe(runs)]
    finished = with_titles(judged[(judged["status"] == "ok") & judged[COST].notna()])
    corpora = []
    for (task, title), rows in finished.groupby(["task", "title"], sort=False):
        corpus = _corpus(TASKS[task], title, rows)
        if corpus:
            corpora.append(corpus)
    return ModelSelectionPage(
        title="Model selection by budget",
        provenance=describe_runs(runs, name_badges(runs)),
        texts=corpora,
    )


def _corpus(task: TaskSpec, title: str, runs: pd.DataFrame) -> Corpus | None:
    """Describe one corpus; None where there is nothing to choose, or not by cost."""
    score = _test_score(task)
    quantity = score.quantity
    contest = Contest(runs, _deciding_score(task, runs, quantity), quantity)
    models = contest.models
    if len(models) < FEWEST_MODELS or models[COST].max() < DIFFERS * models[COST].min():
        return None
    choices = recommend(contest)
    places = [each.place for each in choices]
    figure = embed_drawing(
        name=f"budget-{runs['corpus'].iloc[0]}",
        title="Quality against cost",
        caption=CAPTION,
        drawing=draw(models, places, name_score(quantity, score.title)),
        numbers=models.drop(columns=UNTOLD).rename(columns={"decides": contest.decides}),
        runs_at="",
    )
    lines = []
    for choice, before in zip(choices, [None, *places], strict=False):
        lines.append(_recommendation(contest, choice, before))
    return Corpus(
        title=title,
        of=task.tokens.removesuffix("s"),
        decides=REGISTRY[contest.decides].title,
        score=(score.title, score.unit),
        nets=len(models),
        axis=REGISTRY[COST].title,
        figure=figure,
        lines=lines,
    )


def _test_score(task: TaskSpec) -> Column:
    """Return the column of the first score on test."""
    tested = [each for each in task.score_columns if each.quantity.startswith("test_")]
    return tested[0]


def _deciding_score(task: TaskSpec, runs: pd.DataFrame, quantity: str) -> str:
    """Name the score on dev that decides: the same as on test, or else the loss."""
    same = quantity.replace("test_", "dev_")
    if same in runs and runs[same].notna().all():
        return same
    return f"dev_{task.curve.unit}"


# --- the models ------------------------------------------------------------------------------


class Contest:
    """The models of one corpus, which compete by cost and score.

    models: a row for each, by rising cost, with `COLUMNS`. decides: their score on dev.
    score: that on test.
    """

    def __init__(self, runs: pd.DataFrame, decides: str, score: str):
        self.decides = decides
        self.score = score
        self.models = list_models(runs, decides, score)
        self._runs = runs
        # hundreds of pairs share a few dozen models
        self.compare = cache(self._compare)
        self._scores_of = cache(self._read_scores)

    @property
    def lower_is_better_on_dev(self) -> bool:
        return REGISTRY[self.decides].better == "lower"

    @property
    def lower_is_better_on_test(self) -> bool:
        return REGISTRY[self.score].better == "lower"

    def is_ahead(self, one: int, other: int) -> bool:
        """Say whether one row is better on dev than another."""
        difference = self.models["decides"][one] - self.models["decides"][other]
        return bool(difference < 0 if self.lower_is_better_on_dev else difference > 0)

    def is_better(self, effect: Effect | None) -> bool:
        """Say whether an effect on test is significant and in favour of the first side."""
        if effect is None or not effect.significant:
            return False
        return (effect.mean < 0) == self.lower_is_better_on_test

    def is_alternative(self, effect: Effect | None) -> bool:
        """Say whether a model, compared with the recommended one, is not significantly worse."""
        if effect is None or effect.low is None:
            return False
        return not effect.significant or self.is_better(effect)

    def _compare(self, one: int, other: int) -> Effect | None:
        """Subtract one row's score on test from another's, paired by seed; None without a pair."""
        ours = self._scores_of(one)
        than = self._scores_of(other)
        return effect_of_pairs(paired(ours, than))

    def _read_scores(self, place: int) -> dict[tuple[str, int], float]:
        """Map (title of the corpus, seed) to one row's score on test."""
        runs = self._by_configuration[self.models["configuration"][place]]
        return by_text_and_seed(runs, self.score)

    @cached_property
    def _by_configuration(self) -> dict[Hashable, pd.DataFrame]:
        return dict(iter(self._runs.groupby("configuration")))


def list_models(runs: pd.DataFrame, decides: str, score: str) -> pd.DataFrame:
    """Make a row for each configuration with enough seeds, by rising cost, with `COLUMNS`."""
    once = runs.drop_duplicates("digest")
    updates_differ = runs["steps"].nunique() > 1
    rows = []
    for configuration, every in once.groupby("configuration", sort=False):
        mine = every[every[decides].notna() & every[score].notna()]
        if len(mine) < FEWEST:
            continue
        first = mine.iloc[0]
        values = mine[score].astype(float).tolist()
        mean, low, high = mean_interval(values, bounds=bounds_of(score))
        # marks of the figure lead to the pages of the runs
        with_pages = mine.assign(digest=runs_at(first["question"]) + mine["digest"])
        row = {
            "variant": _name(first, updates_differ=updates_differ),
            "of": first["label"],
            "question": first["question"],
            "configuration": configuration,
            COST: float(mine[COST].mean()),
            "decides": float(mine[decides].mean()),
            "mean": mean,
            "low": low,
            "high": high,
            "n": len(mine),
            "runs": name_runs(with_pages, score),
        }
        rows.append(row)
    models = pd.DataFrame(rows, columns=COLUMNS)
    return models.sort_values(COST, kind="stable", ignore_index=True)


def _name(run: pd.Series, *, updates_differ: bool) -> str:
    """Name a model by variant, S, k, width and how it was trained."""
    parts = [run["label"], *name_places(run["S"], run["k"]), f"width {run['d_model']:g}"]
    if updates_differ:
        parts.append(f"{run['steps']:,} updates")
    if run["tuning"] == "tuned":
        parts.append("tuned")
    return ", ".join(parts)


# --- the choice ------------------------------------------------------------------------------


def recommend(contest: Contest) -> list[Choice]:
    """List what is recommended, the cheapest first."""
    models = contest.models
    taken: list[int] = []
    for _, rows in models.groupby(COST):
        places = [*rows.index]
        if taken:
            last = taken[-1]
            places = [place for place in places if contest.is_ahead(place, last)]
            places = [place for place in places if contest.is_better(contest.compare(place, last))]
        if places:
            taken.append(_best_of_one_cost(contest, places))
    choices = []
    for order, place in enumerate(taken):
        is_last = place == taken[-1]
        until = None if is_last else float(models[COST][taken[order + 1]])
        gain = contest.compare(place, taken[order - 1]) if order else None
        choices.append(Choice(place, until, gain, _alternatives(contest, place, until)))
    return choices


def _best_of_one_cost(contest: Contest, places: list[int]) -> int:
    """Choose the best on dev, unless another one is significantly better on test."""
    rows = contest.models.loc[places]
    ascending = contest.lower_is_better_on_dev
    best, *others = rows.sort_values("decides", ascending=ascending, kind="stable").index
    for other in others:
        if contest.is_better(contest.compare(other, best)):
            best = other
    return best


def _alternatives(contest: Contest, place: int, until: float | None) -> list[int]:
    """List the rows below a cost that are not significantly worse, the best on test first."""
    models = contest.models
    allowed = models[models.index != place]
    if until:
        allowed = allowed[allowed[COST] < until]
    # the direction of dev, which is that of test wherever both have the same score
    ascending = contest.lower_is_better_on_dev
    ordered = allowed.sort_values("mean", ascending=ascending, kind="stable").index
    return [each for each in ordered if contest.is_alternative(contest.compare(each, place))]


def draw(models: pd.DataFrame, chosen: list[int], score: str) -> Drawing:
    """Draw every model by cost and score, and a line through those that are chosen."""
    figure, axes = canvas(height=2.8)
    every = axes.plot(models[COST], models["mean"], ".", color=GREY, ms=6, ls="none")
    shows(every, models.index)
    best = models.loc[chosen]
    line = axes.errorbar(
        best[COST],
        best["mean"],
        bars_of(best),
        fmt="o-",
        drawstyle="steps-post",
        color=INK,
        ms=5,
        lw=1,
        capsize=3,
    )
    shows(line, best.index)
    set_log(axes.xaxis)
    axes.set_xlabel("executed MACs")
    axes.set_ylabel(score)
    return figure


# --- in words --------------------------------------------------------------------------------


def _recommendation(contest: Contest, choice: Choice, before: int | None) -> Recommendation:
    """Describe a model that is recommended.

    before: the row that is recommended for less, None for the cheapest.
    """
    why = "the cheapest model"
    if before is not None:
        cheaper = contest.models.loc[before]
        macs = number(round(cheaper[COST]))
        why = f"{describe(choice.gain, contest.score)} than {cheaper['variant']} ({macs} MACs)"
    alternatives = []
    for other in choice.alternatives:
        effect = contest.compare(other, choice.place)
        alternatives.append(_model(contest, other, describe(effect, contest.score)))
    return Recommendation(_model(contest, choice.place, why), choice.until, alternatives)


def _model(contest: Contest, place: int, compared: str) -> Model:
    """Describe the model of a row."""
    mine = contest.models.loc[place]
    bounds = (mine["low"], mine["high"])
    half = half_width(*bounds)
    chosen = urlencode({"variant": mine["of"]})
    return Model(
        name=mine["variant"],
        page=f"{runs_at(mine['question'])}index.html#{chosen}",
        cost=float(mine[COST]),
        score=to_digits(mine["mean"], half) + reach_to_digits(mine["mean"], bounds, half),
        seeds=int(mine["n"]),
        compared=compared,
    )


def describe(effect: Effect | None, score: str) -> str:
    """Write a difference on test with its interval, or that it is not significant."""
    if effect is None:
        return "no seed in common"
    quantity = REGISTRY[score]
    is_better = (effect.mean < 0) == (quantity.better == "lower")
    size = to_digits(abs(effect.mean), effect.half)
    written = f"{size} {quantity.unit} {'better' if is_better else 'worse'}"
    if effect.low is None:
        return f"{written} (n = {effect.n}, too few for a test)"
    if not effect.significant:
        low, high = (to_digits(end, effect.half) for end in (effect.low, effect.high))
        interval = f"95 % CI of the difference {low} to {high}"
        return f"not significantly different ({interval}, n = {effect.n})"
    ends = sorted((abs(effect.low), abs(effect.high)))
    low, high = (to_digits(end, effect.half) for end in ends)
    return f"{written} (95 % CI {low} to {high}, n = {effect.n})"
