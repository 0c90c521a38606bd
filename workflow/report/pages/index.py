"""The index of one scale, and what stands beside it."""

import pandas as pd

from workflow.papers.published import papers
from workflow.plan.ablations import known_ablations, load_ablation
from workflow.report.pages import artefacts
from workflow.report.pages.ledger import ledger
from workflow.report.pages.site import Site
from workflow.report.tables import analytic as analytic_table
from workflow.report.tables._cells import take_rows as behind
from workflow.results.registry import COSTS
from workflow.results.runs_table import describe, name_text
from workflow.results.statistics import mean_interval
from workflow.tasks.spec import TASKS

PICTURE = ("quality_against_cost", "normalisers")  # a figure, and its ablation


def index(site: Site, runs: pd.DataFrame) -> dict:
    """runs: of all ablations, with their costs."""
    answers = [
        {"name": name, "question": asked.question, "paper": asked.paper, "answer": headline(runs, name)}
        for name, asked in asked_for(runs)
    ]
    return {
        "title": "What does this way of attending cost, and what does it buy?",
        "ledger": ledger(site),
        "provenance": describe(runs),
        "sources": sorted(runs["commit"].unique()),
        "papers": [(paper, papers()[paper].title) for paper in sorted(set(runs["paper"]))],
        "ablations": answers,
        "failures": failures(runs),
        "runs": runs["digest"].nunique(),
        "picture": artefacts.figure(site, *PICTURE),
    }


def asked_for(runs: pd.DataFrame) -> list[tuple[str, object]]:
    """The ablations that were run, in a stable order."""
    return [(name, load_ablation(name)) for name in known_ablations() if name in set(runs["ablation"])]


def failures(runs: pd.DataFrame) -> list[dict]:
    """Runs and measures that broke, each with its reason."""
    broken = runs[runs["status"] != "ok"].drop_duplicates("digest")
    lines = [_failure(run, run.status, run.reason) for run in broken.itertuples()]
    for kind in (kind for kind in COSTS if f"{kind}_status" in runs):
        bad = runs[runs[f"{kind}_status"].notna() & (runs[f"{kind}_status"] != "ok")].drop_duplicates("configuration")
        lines += [_failure(run, kind, getattr(run, f"{kind}_reason")) for run in bad.itertuples()]
    return lines


def _failure(run, status: str, reason: str) -> dict:
    page = f"{artefacts.runs_at(run.ablation)}{run.digest}.html"
    return {"page": page, "what": f"{run.ablation}: {run.variant}", "status": status, "reason": reason}


def headline(runs: pd.DataFrame, ablation: str) -> dict:
    """A small table per question: a line per variant, k and text at its largest S; means and intervals over seeds."""
    mine = runs[runs["ablation"] == ablation]
    columns, rows = TASKS[load_ablation(ablation).task].columns, []
    for (corpus, variant, _), group in mine.groupby(["paper_corpus", "variant", "k"], sort=False, dropna=False):
        largest = group[group["S"] == group["S"].max()] if group["S"].notna().any() else group
        first = largest.iloc[0]
        grid = [f"{axis} = {first[axis]:.0f}" for axis in "Sk" if pd.notna(first[axis])]
        text = [name_text(corpus, first["corpus"])] if mine["paper_corpus"].nunique() > 1 else []
        ended_well = largest[largest["status"] == "ok"]
        values = [(*_mean(ended_well, name), unit) for name, _, unit in columns]
        row = {"label": ", ".join([variant, *grid, *text]), "values": values, "seeds": len(ended_well)}
        digest = (ended_well if len(ended_well) else largest)["digest"].iloc[0]
        rows.append(row | {"failed": not len(ended_well), "page": f"{artefacts.runs_at(ablation)}{digest}.html"})
    texts = ", ".join(sorted({name_text(run.paper_corpus, run.corpus) for run in mine.itertuples()}))
    return {"columns": [title for _, title, _ in columns], "rows": rows, "texts": texts}


def _mean(runs: pd.DataFrame, name: str) -> tuple[float | None, float | None]:
    """Mean and half the 95 % interval; none of what is measured once, of one seed, or of a count that never varies."""
    if name not in runs:
        return None, None
    values = behind(runs, name)[name].dropna().tolist()
    if not values:
        return None, None
    mean, _, high = mean_interval(values)
    return mean, None if high in (None, mean) else high - mean


def analytic(site: Site) -> dict:
    """Every published number that a formula gives."""
    rows = analytic_table.build()
    return {
        "title": analytic_table.TITLE,
        "rows": rows.to_dict("records"),
        "open": int(rows["result"].isna().sum()),
    }
