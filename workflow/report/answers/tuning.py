"""What the trials of a question chose, and what its variants score when each follows its own."""

import pandas as pd

from workflow.report.answers.effects import baselines, effect_of
from workflow.report.figures.colours import as_named
from workflow.results.datasets import with_titles
from workflow.results.numbers import join, quoted
from workflow.results.statistics import apart_by_chance

PLACE = ["corpus", "S", "k"]
CELL = ["title", "S", "k", "seed"]  # what two runs of a variant have in common


def tuning_table(runs: pd.DataFrame, quantity: str, decides: str) -> dict | None:
    """Make a line for each variant: its trials, which it follows, and what that changes; None where
    none was tried.

    runs: of the recipe, its trials, and what follows them. decides: the score on dev by which one
    is chosen.
    """
    tried = with_titles(runs[runs["tuning"] == "trial"])
    if tried.empty:
        return None
    same_size = as_named(runs[runs["size"] == 1])
    lines = [_line(rows, quantity, decides) for _, rows in same_size.groupby("variant", sort=False)]
    lines = [line for line in lines if line["trials"]]
    edges = [line["variant"] for line in lines if line["edge"]]
    return {
        "lines": lines,
        "edges": edges,
        "texts": sorted(set(tried["title"])),
        "seed": int(tried["seed"].iloc[0]),
    }


def doubts(table: dict | None) -> list[str]:
    """Name the variants whose best trial leads the next by less than two seeds differ by."""
    unsure = [
        quoted(line["variant"]) for line in (table["lines"] if table else []) if not line["sure"]
    ]
    return (
        [f"With one tuning seed, the choice of rate can be noise ({join(unsure)})."]
        if unsure
        else []
    )


def tuned_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """Select the runs that follow trials and can be compared: those of variants whose baseline is
    tuned too.

    runs: of one question; of the recipe, its trials, and what follows them.
    """
    tuned, of = runs[runs["tuning"] == "tuned"], baselines(runs)
    has = set(tuned["variant"])
    compared = {variant for variant in has if of.get(variant) in has}
    return tuned[tuned["variant"].isin(compared | {of[variant] for variant in compared})]


def follows_recipe(runs: pd.DataFrame) -> bool:
    """Say whether each variant has trials and they chose the recipe: its own runs are then the
    tuned ones.
    """
    tuned = runs["tuning"] == "tuned"
    return set(runs.loc[tuned, "variant"]) == set(runs["variant"]) and bool(
        same_as_recipe(runs)[tuned].all()
    )


def same_as_recipe(runs: pd.DataFrame) -> pd.Series:
    """Mark the tuned runs whose trials chose the recipe: what they hold are the numbers of its own
    runs.
    """
    trials = runs[runs["tuning"] == "trial"]
    kept = {run.digest for run in trials.itertuples() if set(run.factors.values()) == {1}}
    return runs["follows"].isin(kept)


def _line(rows: pd.DataFrame, quantity: str, decides: str) -> dict:
    """Make the line of a variant. rows: its runs of the recipe, its trials, and what follows
    one.
    """
    trials, tuned = rows[rows["tuning"] == "trial"], rows[rows["tuning"] == "tuned"]
    follows = next(iter(tuned["follows"].dropna()), None)
    told = [_trial(run, decides, follows) for run in trials.to_dict("records")]
    lead, apart = _lead(trials, rows[rows["tuning"].isna()], decides)
    chosen = [number for number, trial in enumerate(told) if trial["chosen"]]
    best = trials.iloc[chosen[0]]["factors"] if chosen else {}
    return {
        "variant": rows["variant"].iloc[0],
        "trials": told,
        "lr": float(tuned["lr"].iloc[0]) if len(tuned) else None,
        "edge": _at_edge(best, trials["factors"].tolist()),
        "varied": "rate"
        if all(set(factors) == {"lr"} for factors in trials["factors"])
        else "setting",
        "recipe": bool(best) and set(best.values()) == {1},  # its own runs stand for it
        "lead": lead,
        "apart": apart,
        "sure": lead is not None and apart is not None and lead > apart,
        "effect": effect_of(_gains(tuned, rows[rows["tuning"].isna()], quantity)),
    }


def _at_edge(best: dict[str, float], tried: list[dict[str, float]]) -> bool:
    """Say whether a factor of the best trial is the least or the largest that was tried, of
    several.
    """
    factors = {key: {each[key] for each in tried} for key in best}
    return any(len(of) > 1 and best[key] in (min(of), max(of)) for key, of in factors.items())


def _trial(run: dict, decides: str, follows: str | None) -> dict:
    """Say what one trial varied and scored. follows: the digest of the one that was chosen."""
    factors = ", ".join(f"{key} x {factor:g}" for key, factor in run["factors"].items())
    kept = {"digest": run["digest"], "status": run["status"], "score": run[decides]}
    return kept | {"factors": factors, "chosen": run["digest"] == follows}


def _lead(
    trials: pd.DataFrame, recipe: pd.DataFrame, decides: str
) -> tuple[float | None, float | None]:
    """Compute by how much the best trial leads the next, and what two seeds of the recipe differ by
    in the same place.

    Lower is better. recipe: the variant's judged runs.
    """
    tried, judged = (rows[rows["status"] == "ok"] for rows in (trials, recipe))
    first = sorted(tried[decides].astype(float))[:2]
    same = (
        judged.merge(trials[PLACE].drop_duplicates())
        .drop_duplicates("digest")[decides]
        .astype(float)
    )
    return first[1] - first[0] if len(first) > 1 else None, apart_by_chance([*same])


def _gains(tuned: pd.DataFrame, recipe: pd.DataFrame, quantity: str) -> pd.Series:
    """Subtract what the recipe scored from what is tuned, by (text, seed), averaged over S and
    k.
    """
    sides = []
    for runs in (tuned, recipe):
        finished = with_titles(runs[runs["status"] == "ok"]).drop_duplicates(["digest"])
        sides.append(finished.groupby(CELL, dropna=False)[quantity].mean())
    return (sides[0] - sides[1]).dropna().groupby(level=["title", "seed"]).mean().astype(float)
