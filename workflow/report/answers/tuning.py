"""What the trials of a question chose, and what its variants score when each follows its own."""

from dataclasses import dataclass

import pandas as pd

from workflow.report.answers.effects import Effect, baselines, effect_of
from workflow.report.figures.colours import as_named
from workflow.results.datasets import with_titles
from workflow.results.numbers import join, quoted
from workflow.results.runs_table import finished
from workflow.results.statistics import apart_by_chance

PLACE = ["corpus", "S", "k"]
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
class TunedVariant:
    """The trials of one variant and what they changed.

    lr: the learning rate of the runs that follow a trial; None without such runs.
    edge: whether the chosen trial is at an end of the tried range.
    recipe: whether the chosen trial is the recipe, so that its own runs are the tuned ones.
    lead: by how much the best trial leads the next one; None of a single trial.
    apart: by how much two seeds of the recipe differ at most (95 % of pairs); None of few seeds.
    sure: whether the lead exceeds that difference.
    effect: tuned less recipe, paired by corpus and seed; None without pairs.
    """

    variant: str
    trials: list[Trial]
    lr: float | None
    edge: bool
    recipe: bool
    lead: float | None
    apart: float | None
    sure: bool
    effect: Effect | None


@dataclass(frozen=True)
class TuningTable:
    """The trials of a question, a line for each variant that has some.

    edges: the variants whose chosen trial is at an end of the range.
    texts: titles of the corpora. seed: the tuning seed.
    """

    lines: list[TunedVariant]
    edges: list[str]
    texts: list[str]
    seed: int


def tuning_table(runs: pd.DataFrame, quantity: str, decides: str) -> TuningTable | None:
    """Make a line for each variant: its trials, which it follows, and what that changes.

    runs: of the recipe, its trials, and what follows them; None without any trial.
    decides: the score on dev by which a trial is chosen.
    """
    tried = with_titles(runs[runs["tuning"] == "trial"])
    if tried.empty:
        return None
    same_size = as_named(runs[runs["size"] == 1])
    lines = []
    for _, rows in same_size.groupby("variant", sort=False):
        line = _line(rows, quantity, decides)
        if line.trials:
            lines.append(line)
    return TuningTable(
        lines=lines,
        edges=[line.variant for line in lines if line.edge],
        texts=sorted(set(tried["title"])),
        seed=int(tried["seed"].iloc[0]),
    )


def doubts(table: TuningTable | None) -> list[str]:
    """Name the variants whose best trial leads the next by less than two seeds differ by."""
    if table is None:
        return []
    unsure = [quoted(line.variant) for line in table.lines if not line.sure]
    if not unsure:
        return []
    names = join(unsure)
    return [f"With one tuning seed, the choice of rate can be noise ({names})."]


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


def _line(rows: pd.DataFrame, quantity: str, decides: str) -> TunedVariant:
    """Make the line of a variant.

    rows: its runs of the recipe, its trials, and what follows one.
    """
    tuning = rows["tuning"]
    trials = rows[tuning == "trial"]
    tuned = rows[tuning == "tuned"]
    recipe = rows[tuning.isna()]
    follows = next(iter(tuned["follows"].dropna()), None)
    chosen = trials[trials["digest"] == follows]
    best: dict[str, float] = {}
    if len(chosen):
        best = chosen["factors"].iloc[0]
    lead = _lead(trials, decides)
    apart = _seed_difference(trials, recipe, decides)
    is_sure = lead is not None and apart is not None and lead > apart
    return TunedVariant(
        variant=rows["variant"].iloc[0],
        trials=[_trial(run, decides, follows) for run in trials.to_dict("records")],
        lr=float(tuned["lr"].iloc[0]) if len(tuned) else None,
        edge=_is_at_edge(best, trials["factors"].tolist()),
        recipe=set(best.values()) == {1},
        lead=lead,
        apart=apart,
        sure=is_sure,
        effect=effect_of(_gains(tuned, recipe, quantity)),
    )


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


def _lead(trials: pd.DataFrame, decides: str) -> float | None:
    """Compute by how much the best trial leads the next one; lower is better."""
    scores = finished(trials)[decides].astype(float)
    if len(scores) < 2:
        return None
    best, second, *_ = sorted(scores)
    return second - best


def _seed_difference(trials: pd.DataFrame, recipe: pd.DataFrame, decides: str) -> float | None:
    """Compute by how much two seeds of the recipe differ where the trials were made.

    recipe: the variant's runs with the recipe's settings.
    """
    tried_at = trials[PLACE].drop_duplicates()
    same_place = finished(recipe).merge(tried_at)
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
