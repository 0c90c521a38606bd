"""What the trials of a question chose, and what its variants score when each follows its own."""

from dataclasses import dataclass

import pandas as pd

from workflow.report.answers.effects import Effect, baselines, effect_of
from workflow.report.figures.colours import as_named
from workflow.results.conditions import scores_at
from workflow.results.datasets import with_titles
from workflow.results.numbers import join, quoted
from workflow.results.runs_table import finished
from workflow.results.statistics import apart_by_chance
from workflow.results.trials import choose
from workflow.tasks.task import Selection, TaskSpec

PLACE = ["corpus", "S", "k"]
NAMED = 3  # so many choices are named one by one; more are counted
CELL = ["title", "S", "k", "seed"]  # what two runs of a variant have in common


@dataclass(frozen=True)
class Trial:
    """One trial of a variant.

    factors: what it multiplied, as the page writes it: `lr x 2`.
    score: on dev; missing where the run failed. chosen: whether the tuned runs follow it.
    """

    digest: str
    status: str
    score: float
    factors: str
    chosen: bool


@dataclass(frozen=True)
class Choice:
    """The trial that a criterion chooses: its learning rate, and the task's score of that trial.

    Both None where no trial has what the criterion reads.
    """

    lr: float | None = None
    score: float | None = None


@dataclass(frozen=True)
class TunedVariant:
    """The trials of one variant, on one corpus, and what they changed.

    corpus: title. lr: the learning rate of the runs that follow a trial; None without such runs.
    edge: whether the chosen trial is at an end of the tried range.
    recipe: whether the chosen trial is the recipe, so that its own runs are the tuned ones.
    lead: by how much the best trial leads the next one; None of a single trial.
    apart: by how much two seeds of the same settings differ at most (95 % of pairs); None of few
    seeds. sure: whether the lead exceeds that difference.
    effect: tuned less recipe, paired by corpus and seed; None without pairs.
    choices: of each criterion in `TuningTable.criteria`.
    """

    variant: str
    corpus: str
    trials: list[Trial]
    lr: float | None
    edge: bool
    recipe: bool
    lead: float | None
    apart: float | None
    sure: bool
    effect: Effect | None
    choices: list[Choice]


@dataclass(frozen=True)
class TuningTable:
    """The trials of a question, a line for each variant that has some, or for each on each corpus.

    by, unit: of the score by which a trial is chosen. tie: scores that differ from the best by so
    much are as good. learned: what a trial must score at the training length unless none does; None
    where that does not matter. on_each: whether variants are tuned on each corpus.
    texts: titles of the corpora. seed: the tuning seed.
    criteria: titles of the ways to choose, the one that was used first; of one alone there is
    nothing to compare.
    """

    by: str
    unit: str
    tie: float
    learned: float | None
    lines: list[TunedVariant]
    on_each: bool
    texts: list[str]
    seed: int
    criteria: list[str]

    @property
    def edges(self) -> list[str]:
        """Name the lines whose chosen trial is at an end of the tried range."""
        return [self.name(line) for line in self.lines if line.edge]

    @property
    def differing(self) -> list[tuple[str, int]]:
        """Count for each other criterion the lines in which it chooses another learning rate."""
        counted = []
        for place, title in enumerate(self.criteria[1:], start=1):
            rates = [(line.choices[0].lr, line.choices[place].lr) for line in self.lines]
            others = sum(rate not in (None, used) for used, rate in rates)
            counted.append((title, others))
        return counted

    def name(self, line: TunedVariant) -> str:
        """Name a line, with its corpus where each corpus has one."""
        return f"{line.variant} on {line.corpus}" if self.on_each else line.variant


def tuning_table(runs: pd.DataFrame, quantity: str, task: TaskSpec) -> TuningTable | None:
    """Make a line for each variant: its trials, which it follows, and what that changes.

    runs: of the recipe, its trials, and what follows them; None without any trial.
    quantity: the score of the question.
    """
    tried = with_titles(runs[runs["tuning"] == "trial"])
    if tried.empty:
        return None
    same_size = with_titles(as_named(runs[runs["size"] == 1]))
    on_each = follows_trials(runs)
    selection = task.selection
    lines = []
    for _, rows in same_size.groupby(["title", "variant"] if on_each else ["variant"], sort=False):
        if (rows["tuning"] == "trial").any():
            lines.append(_line(rows, quantity, task, on_each=on_each))
    return TuningTable(
        by=task.title_of(selection),
        unit=task.known[selection.score].unit,
        tie=selection.tie,
        learned=selection.learned,
        lines=lines,
        on_each=on_each,
        texts=sorted(set(tried["title"])),
        seed=int(tried["seed"].iloc[0]),
        criteria=[task.title_of(each) for each in _criteria(task)],
    )


def _criteria(task: TaskSpec) -> tuple[Selection, ...]:
    """List how trials are compared, and how else they could be."""
    return task.selection, *task.not_tuned_by


def doubts(table: TuningTable | None) -> list[str]:
    """Say what makes the choice of a trial doubtful.

    That is: it leads the next by less than two seeds differ by, or is at the end of the range.
    """
    if table is None:
        return []
    lines = []
    unsure = [quoted(table.name(line)) for line in table.lines if not line.sure]
    if unsure:
        names = _few(unsure, table)
        lines.append(f"With one tuning seed, the choice of rate can be noise ({names}).")
    if table.edges:
        names = _few([*map(quoted, table.edges)], table)
        lines.append(f"The best rate is at the edge of the tried range ({names}).")
    return lines


def _few(names: list[str], table: TuningTable) -> str:
    """Name lines of a table; many are counted."""
    if len(names) > NAMED and table.on_each:
        return f"{len(names)} of {len(table.lines)} choices"
    return join(names)


def follows_trials(runs: pd.DataFrame) -> bool:
    """Say whether the runs of a question follow trials, so that none has the recipe's settings."""
    judged = runs[runs["tuning"].isna()]
    return bool(judged["follows"].notna().any())


def tuned_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """Select the runs that follow trials, of variants whose baseline is tuned too.

    runs: of one question; of the recipe, its trials, and what follows them.
    """
    tuned = runs[runs["tuning"] == "tuned"]
    of = baselines(runs)
    has = set(tuned["variant"])
    shown: set[str] = set()
    for variant in has:
        base = of.get(variant)
        if base in has:
            shown |= {variant, base}
    return tuned[tuned["variant"].isin(shown)]


def follows_recipe(runs: pd.DataFrame) -> bool:
    """Say whether each variant has trials and they chose the recipe.

    Its own runs are then the tuned ones.
    """
    tuned = runs["tuning"] == "tuned"
    with_trials = set(runs.loc[tuned, "variant"])
    if with_trials != set(runs["variant"]):
        return False
    is_same = same_as_recipe(runs)
    return bool(is_same[tuned].all())


def same_as_recipe(runs: pd.DataFrame) -> pd.Series:
    """Mark the tuned runs whose trials chose the recipe: its own runs have the same numbers."""
    trials = runs[runs["tuning"] == "trial"]
    kept = set()
    for run in trials.itertuples():
        if set(run.factors.values()) == {1}:
            kept.add(run.digest)
    return runs["follows"].isin(kept)


def _line(rows: pd.DataFrame, quantity: str, task: TaskSpec, *, on_each: bool) -> TunedVariant:
    """Make the line of a variant.

    rows: its runs of the recipe, its trials, and what follows one. on_each: of one corpus, without
    any of the recipe.
    """
    tuning = rows["tuning"]
    trials = rows[tuning == "trial"]
    judged = rows[tuning.isna()]
    tuned = judged if on_each else rows[tuning == "tuned"]
    recipe = judged[:0] if on_each else judged
    decides = task.selection.score
    follows = next(iter(tuned["follows"].dropna()), None)
    chosen = trials[trials["digest"] == follows]
    best: dict[str, float] = {}
    if len(chosen):
        best = chosen["factors"].iloc[0]
    lead = _lead(trials, task.selection)
    apart = _seed_difference(trials, judged, decides)
    is_sure = lead is not None and apart is not None and lead > apart
    return TunedVariant(
        variant=rows["variant"].iloc[0],
        corpus=trials["title"].iloc[0],
        trials=[_trial(run, decides, follows) for run in trials.to_dict("records")],
        lr=float(tuned["lr"].iloc[0]) if len(tuned) else None,
        edge=_is_at_edge(best, trials["factors"].tolist()),
        recipe=set(best.values()) == {1},
        lead=lead,
        apart=apart,
        sure=is_sure,
        effect=effect_of(_gains(tuned, recipe, quantity)),
        choices=[_choice(trials, quantity, each) for each in _criteria(task)],
    )


def _choice(trials: pd.DataFrame, quantity: str, criterion: Selection) -> Choice:
    """Find the trial that a criterion chooses."""
    ended = finished(trials)
    compared = ended if criterion.at is None else scores_at(ended, criterion.at, criterion.score)
    scored = compared[compared[criterion.score].notna()]
    scored = _learned(scored, criterion)
    if not len(scored):
        return Choice()
    scores = scored[criterion.score].astype(float).tolist()
    place = choose(scores, scored["lr"].tolist(), criterion)
    best = scored.iloc[place]
    has_score = pd.notna(best[quantity])
    return Choice(lr=float(best["lr"]), score=float(best[quantity]) if has_score else None)


def _learned(trials: pd.DataFrame, criterion: Selection) -> pd.DataFrame:
    """Leave out the trials that have not learned their task, unless none has."""
    first = next((each[0]["at"] for each in trials["over_condition"] if each), None)
    if criterion.learned is None or first is None:
        return trials
    reached = scores_at(trials, first, criterion.score)[criterion.score] >= criterion.learned
    return trials[reached] if reached.any() else trials


def _is_at_edge(best: dict[str, float], tried: list[dict[str, float]]) -> bool:
    """Say whether a factor of the best trial is the least or largest of several that were tried."""
    for key, factor in best.items():
        values = {each[key] for each in tried}
        ends = (min(values), max(values))
        if len(values) > 1 and factor in ends:
            return True
    return False


def _trial(run: dict, decides: str, follows: str | None) -> Trial:
    """Say what one trial varied and scored.

    run: a row of the table of runs. follows: the digest of the trial that was chosen.
    """
    factors = []
    for key, factor in run["factors"].items():
        factors.append(f"{key} x {factor:g}")
    return Trial(
        digest=run["digest"],
        status=run["status"],
        score=run[decides],
        factors=", ".join(factors),
        chosen=run["digest"] == follows,
    )


def _lead(trials: pd.DataFrame, selection: Selection) -> float | None:
    """Compute by how much the best trial leads the next one."""
    scores = finished(trials)[selection.score].astype(float)
    if len(scores) < 2:
        return None
    best, second, *_ = sorted(scores, reverse=selection.better == "higher")
    return abs(second - best)


def _seed_difference(trials: pd.DataFrame, judged: pd.DataFrame, decides: str) -> float | None:
    """Compute by how much two seeds of the same settings differ where the trials were made.

    judged: the variant's runs with the recipe's settings, or with those that were chosen.
    """
    tried_at = trials[PLACE].drop_duplicates()
    same_place = finished(judged).merge(tried_at)
    once = same_place.drop_duplicates("digest")
    scores = once[decides].astype(float)
    return apart_by_chance([*scores])


def _gains(tuned: pd.DataFrame, recipe: pd.DataFrame, quantity: str) -> pd.Series:
    """Subtract the recipe's score from the tuned one, by (title, seed), averaged over S and k."""
    of_tuned = _by_cell(tuned, quantity)
    of_recipe = _by_cell(recipe, quantity)
    gains = (of_tuned - of_recipe).dropna()
    by_pair = gains.groupby(level=["title", "seed"])
    return by_pair.mean().astype(float)


def _by_cell(runs: pd.DataFrame, quantity: str) -> pd.Series:
    named = with_titles(finished(runs))
    once = named.drop_duplicates(["digest"])
    by_cell = once.groupby(CELL, dropna=False)
    return by_cell[quantity].mean()
