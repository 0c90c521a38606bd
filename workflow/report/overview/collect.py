"""What the overview shows of one scale's results.

`Isolated`: every variant that differs from its baseline in one choice. `Point`: the score of every
variant over its cost. Both cross to other scales in a file (`workflow.scripts.evidence`), as an
`Overview`.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pandas as pd

from workflow.config.choices import AXES
from workflow.config.strict import read_json
from workflow.report.answers.answer import Difference, Ratio
from workflow.report.answers.effects import (
    GRID,
    Comparison,
    Scores,
    baselines,
    by_text_and_seed,
    effect_between,
    matching_runs,
)
from workflow.report.answers.evidence import difference_of
from workflow.report.answers.ratios import largest, ratio_of_means
from workflow.report.answers.tuning import follows_recipe, follows_trials, tuned_runs
from workflow.report.figures.colours import as_named
from workflow.report.overview.attention import Attention
from workflow.results.datasets import title_of, with_titles
from workflow.results.makers import why_apart
from workflow.results.numbers import is_number
from workflow.results.record import write_text
from workflow.results.registry import REGISTRY, bounds_of
from workflow.results.runs_table import Frames, finished
from workflow.results.statistics import FEWEST, mean_interval
from workflow.results.timings import SPEEDS, ratio_over_turns
from workflow.results.trained_enough import converged, hardly_moved, supports_nothing
from workflow.settings.questions import load_question
from workflow.tasks.spec import TASKS

OVERVIEW = "overview"  # the key in evidence of other results, and the name of the file of a scale
COSTS = ("macs_executed", "train_tokens_per_s", "memory_train_bytes")
READ = (
    *("question", "task", "variant", "label", "baseline", "colour"),
    *("S", "k", "corpus", "seed", "size", "tuning", "digest", "configuration"),
    *("scale", "status", "follows", "factors", "late_gain", "lr"),
    *("key_heads", "gate", "apply_to", "net", *AXES, "mean_span", "start_span"),
    *(*COSTS, "reference_ms", "train_turns"),
    *("memory_backend", "memory_machine", "throughput_backend", "throughput_machine"),
)
# settings in which two variants must agree, but for the choice itself
SAME = (
    "layers",
    "d_model",
    "heads",
    "d_ff",
    "d_k",
    "d_v",
    "dropout",
    "smoothing",
    "steps",
)
RECIPE = [*SAME, "lr"]


@dataclass(frozen=True)
class Isolated:
    """One choice on one axis compared with its baseline, all else equal, in one question at one
    scale.

    axis, choice, base_choice: as `attention.GROUPS` has them. task, question: where it was asked.
    set: the results, by the name of their folder. scale: of the runs.
    size: of the models, 1 for the scale's own. tuned: whether each side has its tuned settings, in
    a question that runs the recipe's as well.
    late_gain: bits that the last quarter of the updates brought, at most over the runs behind it.
    base_S: span limit of the baseline. xl: whether both sides are a Transformer-XL.
    difference: in the task's score; None without a pair, as where learned spans hardly moved.
    ratios: of costs that were measured alike, at most one of each. corpus: title of the one that it
    is on, where a task's corpora are tasks of their own; None where they are averaged.
    variants: how many of the question have a score that supports a conclusion.
    """

    axis: str
    choice: str
    base_choice: str
    task: str
    question: str
    set: str
    scale: str
    size: float
    tuned: bool
    late_gain: float
    base_S: float | None
    xl: bool
    difference: Difference | None
    ratios: tuple[Ratio, ...] = ()
    corpus: str | None = None
    variants: int = 0

    @property
    def is_converged(self) -> bool:
        """Whether no run behind it was still learning."""
        return converged(self.late_gain)

    def ratio(self, quantity: str) -> Ratio | None:
        """Find the ratio of a cost; None where it was not measured alike."""
        return next((each for each in self.ratios if each.quantity == quantity), None)


@dataclass(frozen=True)
class Point:
    """A variant on one corpus: its mean score with interval, over the executed MACs of a token.

    set, scale, task, corpus, size: as in `Isolated`. title: of the corpus. attention: its choices.
    low, high: the 95 % interval over seeds; None of fewer than three. n: seeds.
    unmoved: whether its learned spans hardly moved from their start.
    """

    set: str
    scale: str
    task: str
    corpus: str
    title: str
    attention: Attention
    size: float
    S: float | None
    k: float | None
    mean: float
    low: float | None
    high: float | None
    n: int
    macs: float
    late_gain: float
    unmoved: bool
    question: str


def score_of(task: str) -> str:
    """Return the quantity by which a task is scored."""
    return TASKS[task].headline[0]


def _columns_of(runs: pd.DataFrame) -> pd.DataFrame:
    """Keep the columns that are read here: pandas takes several times as long with all columns."""
    scores = [score_of(task) for task in TASKS]
    scores += [task.solved.quantity for task in TASKS.values() if task.solved]
    scores += [fact for each in scores if (fact := REGISTRY[each].censored_by)]
    read = runs.columns.intersection([*READ, *SAME, *dict.fromkeys(scores)])
    return runs[read]


# --- choices, one by one ---------------------------------------------------------------------


def collect_isolated(frames: Frames, name: str) -> list[Isolated]:
    """Compare every choice with its baseline in every question. name: of the set of results.

    Questions with another score than their task's are left out: their differences have another
    unit.
    """
    found: list[Isolated] = []
    by_question = _columns_of(frames.everything).groupby("question", sort=False)
    for question, runs in by_question:
        quantity = score_of(runs["task"].iloc[0])
        headline, *_ = load_question(question).spec.headline
        if headline != quantity:
            continue
        recipe = runs[runs["tuning"].isna()]
        for size, rows in recipe.groupby("size", sort=True):
            # A question that is tuned on each corpus has no other runs than these.
            rates_differ = follows_trials(rows)
            for corpus, on_corpus in _by_corpus(rows):
                group = _Group(on_corpus, question, quantity, name, float(size), rates_differ)
                found += [replace(each, corpus=corpus) for each in group.isolate()]
        tuned = tuned_runs(runs)
        if len(tuned) and not follows_recipe(runs):
            group = _Group(tuned, question, quantity, name, 1.0, True, beside_recipe=True)
            found += group.isolate()
    return found


def _by_corpus(runs: pd.DataFrame) -> Iterable[tuple[str | None, pd.DataFrame]]:
    """Take runs apart by the title of their corpus where these are tasks of their own."""
    if not TASKS[runs["task"].iloc[0]].pooled:
        return [(None, runs)]
    return with_titles(runs).groupby("title", sort=False)


@dataclass(frozen=True)
class _Group:
    """The runs of one question in models of one size, all of the recipe or all tuned.

    quantity: the task's score. name: of the set of results. rates_differ: whether each variant has
    a learning rate of its own. beside_recipe: whether the question runs the recipe's as well.
    """

    runs: pd.DataFrame
    question: str
    quantity: str
    name: str
    size: float
    rates_differ: bool
    beside_recipe: bool = False

    def isolate(self) -> list[Isolated]:
        """List the variants that differ from their baseline in one choice."""
        runs = self._named_and_scored()
        by_variant = dict(iter(runs.groupby("variant", sort=False)))
        is_pooled = TASKS[runs["task"].iloc[0]].pooled
        everyone = None
        if is_pooled:
            everyone = [by_text_and_seed(each, self.quantity) for each in by_variant.values()]
        supported = sum(bool(each[self.quantity].notna().any()) for each in by_variant.values())
        found = []
        for variant, baseline in baselines(runs).items():
            isolated = self._compare(by_variant[variant], by_variant[baseline], everyone)
            if isolated:
                found.append(replace(isolated, variants=supported))
        return found

    def _named_and_scored(self) -> pd.DataFrame:
        """Name the runs, and take the score from models that support no conclusion."""
        runs = with_titles(as_named(self.runs))
        is_unsupported = supports_nothing(finished(runs, self.quantity))
        unsupported = is_unsupported.reindex(runs.index, fill_value=False)
        score = runs[self.quantity].mask(unsupported)
        return runs.assign(**{self.quantity: score})

    def _compare(
        self,
        of_variant: pd.DataFrame,
        of_baseline: pd.DataFrame,
        everyone: list[Scores] | None,
    ) -> Isolated | None:
        """Compare a variant at its largest S and k; None where more than one choice differs.

        everyone: as of `effect_between`.
        """
        rows = largest(of_variant)
        S, k = (_known(rows[axis].iloc[0]) for axis in GRID)
        base = matching_runs(of_baseline, S, k)
        if not len(base):
            return None
        ours = Attention.of(rows.iloc[0])
        theirs = Attention.of(base.iloc[0])
        axis = ours.differs_on(theirs)
        if axis is None or not _is_alike(rows, base, tuned=self.rates_differ):
            return None
        scored = finished(rows, self.quantity)
        base_scored = finished(base, self.quantity)
        gains = pd.concat([scored, base_scored])["late_gain"].dropna()
        comparison = Comparison(
            variant=rows["variant"].iloc[0],
            baseline=base["variant"].iloc[0],
            S=S,
            k=k,
            effect=effect_between(rows, base, self.quantity, everyone),
        )
        return Isolated(
            axis=axis,
            choice=ours.choice(axis),
            base_choice=theirs.choice(axis),
            task=rows["task"].iloc[0],
            question=self.question,
            set=self.name,
            scale=rows["scale"].iloc[0],
            size=self.size,
            tuned=self.beside_recipe,
            late_gain=float(gains.max()) if len(gains) else 0.0,
            base_S=_known(base["S"].iloc[0]),
            xl=theirs.is_xl,
            difference=_difference(comparison, self.quantity),
            ratios=tuple(_ratios(comparison, scored, base_scored)),
        )


def _is_alike(rows: pd.DataFrame, base: pd.DataFrame, *, tuned: bool) -> bool:
    """Whether both sides have models of one shape and one recipe, on the corpora that they share.

    Tuned sides may differ in their learning rate.
    """
    rows, base = _on_shared_corpora(rows, base)
    same = SAME if tuned else RECIPE
    for key in same:
        if key not in rows:
            continue
        ours = set(rows[key].dropna())
        theirs = set(base[key].dropna())
        if ours != theirs:
            return False
    return True


def _on_shared_corpora(rows: pd.DataFrame, base: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    shared = {*rows["corpus"]} & {*base["corpus"]}
    is_shared = rows["corpus"].isin(shared)
    is_shared_base = base["corpus"].isin(shared)
    return rows[is_shared], base[is_shared_base]


def _difference(comparison: Comparison, quantity: str) -> Difference | None:
    """Write an effect as the difference of a question; None where there is no pair.

    Its p is not corrected: the matrix corrects it over a column.
    """
    if comparison.effect is None or comparison.is_one:
        return None
    return difference_of(comparison, quantity, REGISTRY[quantity].unit, None)


def _ratios(comparison: Comparison, rows: pd.DataFrame, base: pd.DataFrame) -> Iterator[Ratio]:
    """Divide each cost by the baseline's, where both were measured alike on the same corpora."""
    rows, base = _on_shared_corpora(rows, base)
    for name in COSTS:
        if name not in rows or rows[name].isna().all() or base[name].isna().all():
            continue
        if why_apart(rows, base, name, comparison.baseline):
            continue
        low = high = None
        if name in SPEEDS:
            shown = ratio_over_turns(rows, base, name)
            value = shown.value
            low = shown.low
            high = shown.high
        else:
            value = ratio_of_means(rows, base, name)
        if is_number(value) and value:
            yield Ratio(
                variant=comparison.variant,
                baseline=comparison.baseline,
                S=comparison.S,
                k=comparison.k,
                quantity=name,
                value=value,
                low=low,
                high=high,
            )


def _known(value: float) -> float | None:
    if pd.isna(value):
        return None
    return float(value)


# --- scores over costs -----------------------------------------------------------------------


def collect_points(frames: Frames, name: str) -> list[Point]:
    """List every variant of the scale's own recipe on every corpus, at its largest S and k.

    name: of the set of results. Models of all sizes are listed.
    """
    runs = _columns_of(frames.at_every_size)
    by_corpus = finished(runs, "macs_executed").groupby(["task", "corpus"], sort=False)
    found: list[Point] = []
    for (task, corpus), rows in by_corpus:
        scored = rows[rows[score_of(task)].notna()]
        if len(scored):
            title = title_of(task, corpus)
            found += _points_on(scored, name, title)
    return found


def _points_on(runs: pd.DataFrame, name: str, title: str) -> Iterator[Point]:
    """Yield the points of one corpus.

    Models of another shape than most of their size have none.
    """
    quantity = score_of(runs["task"].iloc[0])
    attentions = [Attention.of(run) for run in runs.to_dict("records")]
    runs = runs.assign(attention=attentions, unmoved=hardly_moved(runs))
    recipes = {size: _usual_recipe(of_size) for size, of_size in runs.groupby("size")}
    for attention, every in runs.groupby("attention", sort=False):
        usual = every[every["size"] == 1]
        if not len(usual):
            continue
        # a larger model is comparable at the same place alone
        S = _known(usual["S"].max())
        k = _known(usual["k"].max())
        for size, of_size in every.groupby("size", sort=True):
            rows = _at(of_size, S, k)
            is_usual = _of_recipe(rows, recipes[size])
            shown = rows[is_usual]
            if len(shown):
                yield _point(shown, quantity, name, title, attention)


def _at(rows: pd.DataFrame, S: float | None, k: float | None) -> pd.DataFrame:
    is_at_S = _equal(rows["S"], S)
    is_at_k = _equal(rows["k"], k)
    return rows[is_at_S & is_at_k]


def _equal(values: pd.Series, value) -> pd.Series:
    """Mark the values that are equal to one, or missing like it."""
    if pd.isna(value):
        return values.isna()
    return values == value


def _usual_recipe(runs: pd.DataFrame) -> tuple:
    """Return the most common recipe of runs of one size: shape, updates and learning rate."""
    counts = runs.groupby(RECIPE, dropna=False).size()
    return counts.index[counts.argmax()]


def _of_recipe(rows: pd.DataFrame, recipe: tuple) -> pd.Series:
    """Mark the runs of one recipe. recipe: the values of `RECIPE`."""
    alike = pd.Series(True, index=rows.index)
    for key, value in zip(RECIPE, recipe, strict=True):
        alike &= _equal(rows[key], value)
    return alike


def _point(rows: pd.DataFrame, quantity: str, name: str, title: str, attention: Attention) -> Point:
    first = rows.iloc[0]
    once = rows.drop_duplicates("digest")
    values = once[quantity].astype(float).tolist()
    mean, low, high = mean_interval(values, bounds=bounds_of(quantity))
    enough = len(values) >= FEWEST
    gains = once["late_gain"].dropna()
    return Point(
        set=name,
        scale=first["scale"],
        task=first["task"],
        corpus=first["corpus"],
        title=title,
        attention=attention,
        size=float(first["size"]),
        S=_known(first["S"]),
        k=_known(first["k"]),
        mean=mean,
        low=low if enough else None,
        high=high if enough else None,
        n=len(values),
        macs=float(once["macs_executed"].mean()),
        late_gain=float(gains.max()) if len(gains) else 0.0,
        unmoved=bool(once["unmoved"].any()),
        question=first["question"],
    )


# --- all of it, as a file ------------------------------------------------------------------------


@dataclass(frozen=True)
class Overview:
    """What the first screen shows.

    own: the set that a report is about. isolated, points: of all sets.
    """

    own: str
    isolated: tuple[Isolated, ...] = ()
    points: tuple[Point, ...] = ()

    def joined(self, others: Iterable["Overview"]) -> "Overview":
        """Add what other sets have; a set that it has already is left out."""
        isolated = list(self.isolated)
        points = list(self.points)
        for other in others:
            known = {each.set for each in (*isolated, *points)}
            for each in other.isolated:
                if each.set not in known:
                    isolated.append(each)
            for each in other.points:
                if each.set not in known:
                    points.append(each)
        return Overview(self.own, tuple(isolated), tuple(points))


def overview_of(frames: Frames, name: str) -> Overview:
    """Collect what one set of results has. name: of the set."""
    isolated = collect_isolated(frames, name)
    points = collect_points(frames, name)
    return Overview(
        own=name,
        isolated=tuple(isolated),
        points=tuple(points),
    )


def as_content(overview: Overview) -> dict:
    """Make plain data of an overview, for JSON."""
    return asdict(overview)


def from_content(content: dict) -> Overview:
    """Make an overview of plain data; `KeyError` or `TypeError` for data of another version."""
    isolated = [_read_isolated(each) for each in content["isolated"]]
    points = [_read_point(each) for each in content["points"]]
    return Overview(
        own=content["own"],
        isolated=tuple(isolated),
        points=tuple(points),
    )


def _read_isolated(content: dict) -> Isolated:
    difference = content["difference"]
    if difference is not None:
        difference = Difference(**difference)
    ratios = tuple(Ratio(**ratio) for ratio in content["ratios"])
    typed = {"difference": difference, "ratios": ratios}
    return Isolated(**content | typed)


def _read_point(content: dict) -> Point:
    attention = content["attention"]
    applied = tuple(attention["apply_to"])
    typed = Attention(**attention | {"apply_to": applied})
    return Point(**content | {"attention": typed})


def write_overview(path: Path, overview: Overview) -> None:
    """Write the overview of a scale's report."""
    content = as_content(overview)
    write_text(path, json.dumps(content, indent=1))


def read_overviews(paths: Iterable[Path]) -> list[Overview]:
    """Read the overviews in files of evidence, or of scales; files that have none are left out."""
    found = []
    for path in paths:
        content = read_json(path) if path.exists() else {}
        content = content.get(OVERVIEW, content)
        try:
            found.append(from_content(content))
        except (KeyError, TypeError):
            continue  # claims alone, or written by another version
    return found
