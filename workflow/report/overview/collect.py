"""What the overview shows of one scale's results.

`Isolated`: every variant that differs from its baseline in one choice. `Point`: the score of every
variant over its cost. Both cross to other scales in a file (`workflow.scripts.evidence`), which
`workflow.report.overview.files` writes and reads.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from workflow.config.choices import AXES
from workflow.report.answers.answer import Difference, Ratio
from workflow.report.answers.effects import (
    GRID,
    Comparison,
    baselines,
    effect_between,
    matching_runs,
)
from workflow.report.answers.evidence import difference_of
from workflow.report.answers.ratios import largest, ratio_of_means
from workflow.report.answers.tuning import follows_recipe, tuned_runs
from workflow.report.figures.colours import as_named
from workflow.report.overview.attention import Attention
from workflow.results.datasets import title_of, with_titles
from workflow.results.makers import why_apart
from workflow.results.numbers import is_number
from workflow.results.registry import REGISTRY, bounds_of
from workflow.results.runs_table import Frames
from workflow.results.statistics import FEWEST, mean_interval
from workflow.results.timings import SPEEDS, ratio_over_turns
from workflow.results.trained_enough import converged, hardly_moved
from workflow.settings.questions import load_question
from workflow.tasks.spec import TASKS

COSTS = ("macs_executed", "train_tokens_per_s", "memory_train_bytes")
READ = (
    *("question", "task", "variant", "label", "baseline", "colour"),
    *("S", "k", "corpus", "seed", "size", "tuning", "digest", "configuration"),
    *("scale", "status", "follows", "factors", "late_gain", "lr"),
    *("key_heads", "apply_to", "net", *AXES, "mean_span", "start_span"),
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


@dataclass(frozen=True)
class Isolated:
    """One choice on one axis compared with its baseline, all else equal, in one question at one
    scale.

    axis, choice, base_choice: as `attention.GROUPS` has them. task, question: where it was asked.
    set: the results, by the name of their folder. scale: of the runs.
    size: of the models, 1 for the scale's own. tuned: whether each side has its tuned settings.
    late_gain: bits that the last quarter of the updates brought, at most over the runs behind it.
    base_S: span limit of the baseline. xl: whether both sides are a Transformer-XL.
    difference: in the task's score; None without a pair, as where learned spans hardly moved.
    ratios: of costs that were measured alike, at most one of each.
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
    return runs[runs.columns.intersection([*READ, *SAME, *map(score_of, TASKS)])]


# --- choices, one by one ---------------------------------------------------------------------


def collect_isolated(frames: Frames, name: str) -> list[Isolated]:
    """Compare every choice with its baseline in every question. name: of the set of results.

    Questions with another score than their task's are left out: their differences have another
    unit.
    """
    found: list[Isolated] = []
    for question, runs in _columns_of(frames.everything).groupby("question", sort=False):
        quantity = score_of(runs["task"].iloc[0])
        if load_question(question).spec.headline[0] != quantity:
            continue
        recipe = runs[runs["tuning"].isna()]
        for size, rows in recipe.groupby("size", sort=True):
            group = _Group(rows, question, quantity, name, size=float(size), tuned=False)
            found += group.isolate()
        tuned = tuned_runs(runs)
        if len(tuned) and not follows_recipe(runs):
            found += _Group(tuned, question, quantity, name, size=1.0, tuned=True).isolate()
    return found


@dataclass(frozen=True)
class _Group:
    """The runs of one question in models of one size, all of the recipe or all tuned.

    quantity: the task's score. name: of the set of results.
    """

    runs: pd.DataFrame
    question: str
    quantity: str
    name: str
    size: float
    tuned: bool

    def isolate(self) -> list[Isolated]:
        """List the variants that differ from their baseline in one choice."""
        runs = self._named_and_scored()
        by_variant = dict(iter(runs.groupby("variant", sort=False)))
        found = []
        for variant, baseline in baselines(runs).items():
            isolated = self._compare(by_variant[variant], by_variant[baseline])
            if isolated:
                found.append(isolated)
        return found

    def _named_and_scored(self) -> pd.DataFrame:
        """Name the runs, and take the score from models whose learned spans have hardly moved."""
        runs = with_titles(as_named(self.runs))
        finished = (runs["status"] == "ok") & runs[self.quantity].notna()
        unmoved = hardly_moved(runs[finished]).reindex(runs.index, fill_value=False)
        return runs.assign(**{self.quantity: runs[self.quantity].mask(unmoved)})

    def _compare(self, of_variant: pd.DataFrame, of_baseline: pd.DataFrame) -> Isolated | None:
        """Compare a variant at its largest S and k; None where more than one choice differs."""
        rows = largest(of_variant)
        S, k = (_known(rows[axis].iloc[0]) for axis in GRID)
        base = matching_runs(of_baseline, S, k)
        if not len(base):
            return None
        ours = Attention.of(rows.iloc[0])
        theirs = Attention.of(base.iloc[0])
        axis = ours.differs_on(theirs)
        if axis is None or not _is_alike(rows, base, tuned=self.tuned):
            return None
        scored = self._scored(rows)
        base_scored = self._scored(base)
        gains = pd.concat([scored, base_scored])["late_gain"].dropna()
        comparison = Comparison(
            variant=rows["variant"].iloc[0],
            baseline=base["variant"].iloc[0],
            S=S,
            k=k,
            effect=effect_between(rows, base, self.quantity),
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
            tuned=self.tuned,
            late_gain=float(gains.max()) if len(gains) else 0.0,
            base_S=_known(base["S"].iloc[0]),
            xl=theirs.is_xl,
            difference=_difference(comparison, self.quantity),
            ratios=tuple(_ratios(comparison, scored, base_scored)),
        )

    def _scored(self, rows: pd.DataFrame) -> pd.DataFrame:
        return rows[rows[self.quantity].notna() & (rows["status"] == "ok")]


def _is_alike(rows: pd.DataFrame, base: pd.DataFrame, *, tuned: bool) -> bool:
    """Whether both sides have models of one shape and one recipe, on the corpora that they share.

    Tuned sides may differ in their learning rate.
    """
    rows, base = _on_shared_corpora(rows, base)
    same = SAME if tuned else (*SAME, "lr")
    known = [key for key in same if key in rows]
    return all({*rows[key].dropna()} == {*base[key].dropna()} for key in known)


def _on_shared_corpora(rows: pd.DataFrame, base: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    shared = {*rows["corpus"]} & {*base["corpus"]}
    return rows[rows["corpus"].isin(shared)], base[base["corpus"].isin(shared)]


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
    return None if pd.isna(value) else float(value)


# --- scores over costs -----------------------------------------------------------------------


def collect_points(frames: Frames, name: str) -> list[Point]:
    """List every variant of the scale's own recipe on every corpus, at its largest S and k.

    name: of the set of results. Models of all sizes are listed.
    """
    runs = _columns_of(frames.at_every_size)
    runs = runs[(runs["status"] == "ok") & runs["macs_executed"].notna()]
    found: list[Point] = []
    for (task, corpus), rows in runs.groupby(["task", "corpus"], sort=False):
        scored = rows[rows[score_of(task)].notna()]
        if len(scored):
            found += _points_on(scored, name, title_of(task, corpus))
    return found


def _points_on(runs: pd.DataFrame, name: str, title: str) -> Iterator[Point]:
    """Yield the points of one corpus.

    Models of another shape than most of their size have none.
    """
    quantity = score_of(runs["task"].iloc[0])
    attentions = [Attention.of(run) for run in runs.to_dict("records")]
    runs = runs.assign(attention=attentions, unmoved=hardly_moved(runs))
    for attention, every in runs.groupby("attention", sort=False):
        usual = every[every["size"] == 1]
        if not len(usual):
            continue
        # a larger model is comparable at the same place alone
        S = _known(usual["S"].max())
        k = _known(usual["k"].max())
        for size, of_size in every.groupby("size", sort=True):
            rows = _at(of_size, S, k)
            rows = rows[_in_usual_shape(rows, runs[runs["size"] == size])]
            if len(rows):
                yield _point(rows, quantity, name, title, attention)


def _at(rows: pd.DataFrame, S: float | None, k: float | None) -> pd.DataFrame:
    for axis, value in (("S", S), ("k", k)):
        rows = rows[rows[axis].isna() if value is None else rows[axis] == value]
    return rows


def _in_usual_shape(rows: pd.DataFrame, every: pd.DataFrame) -> pd.Series:
    """Mark the runs of the most common recipe: shape, updates and learning rate.

    every: runs of the same size.
    """
    keys = [*SAME, "lr"]
    counts = every.groupby(keys, dropna=False).size()
    common = counts.index[counts.argmax()]
    alike = pd.Series(True, index=rows.index)
    for key, value in zip(keys, common, strict=True):
        alike &= rows[key].isna() if pd.isna(value) else rows[key] == value
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
