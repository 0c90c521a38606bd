"""The index of one scale, and the page of numbers by formula."""

import pandas as pd

from workflow.papers.published import papers
from workflow.plan.ablations import Ablation, known_ablations, load_ablation
from workflow.report.pages import artefacts
from workflow.report.pages.ledger import read_ledger
from workflow.report.pages.site import Site
from workflow.report.tables import analytic as analytic_table
from workflow.report.tables._cells import take_rows
from workflow.results.registry import COSTS
from workflow.results.runs_table import describe, name_text
from workflow.results.statistics import mean_interval
from workflow.tasks.spec import TASKS

OPENING, PICTURE = "limit", "quality_against_cost"  # the figures above and under the ledger


def index_page(site: Site, runs: pd.DataFrame) -> dict:
    """runs: of all ablations, with their costs."""
    ablations = ablations_in(runs)
    answers = [
        {"name": name, "question": ablation.question, "paper": ablation.paper, "answer": summarise(runs, name)}
        for name, ablation in ablations.items()
    ]
    return {
        "title": "What does this way of attending cost, and what does it buy?",
        "ledger": read_ledger(site, set(runs["paper"])),
        "provenance": describe(runs),
        "commits": sorted(runs["commit"].unique()),
        "papers": [(paper, papers()[paper].title) for paper in sorted(set(runs["paper"]))],
        "ablations": answers,
        "failures": list_failures(runs),
        "runs": runs["digest"].nunique(),
        "opening": _figure(site, OPENING, ablations),
        "picture": _figure(site, PICTURE, ablations),
    }


def _figure(site: Site, name: str, ablations: dict[str, Ablation]) -> dict | None:
    """A figure, where the ablation that it answers was run."""
    owner = next((key for key, ablation in ablations.items() if name in ablation.figures), None)
    return artefacts.figure(site, name, owner) if owner else None


def ablations_in(runs: pd.DataFrame) -> dict[str, Ablation]:
    """The ablations that were run, in a stable order."""
    return {name: load_ablation(name) for name in known_ablations() if name in set(runs["ablation"])}


def list_failures(runs: pd.DataFrame) -> list[dict]:
    """Runs and measurements that failed, each with its reason."""
    broken = runs[runs["status"] != "ok"].drop_duplicates("digest")
    lines = [_failure(run, run.status, run.reason) for run in broken.itertuples()]
    for kind in (kind for kind in COSTS if f"{kind}_status" in runs):
        bad = runs[runs[f"{kind}_status"].notna() & (runs[f"{kind}_status"] != "ok")].drop_duplicates("configuration")
        lines += [_failure(run, kind, getattr(run, f"{kind}_reason")) for run in bad.itertuples()]
    return lines


def _failure(run, status: str, reason: str) -> dict:
    page = f"{artefacts.runs_at(run.ablation)}{run.digest}.html"
    return {"page": page, "label": f"{run.ablation}: {run.variant}", "status": status, "reason": reason}


def summarise(runs: pd.DataFrame, name: str) -> dict:
    """A small table of one ablation: a line per variant, k and text at its largest S; means over seeds."""
    rows = runs[runs["ablation"] == name]
    columns = TASKS[load_ablation(name).task].columns
    several = rows["paper_corpus"].nunique() > 1
    groups = rows.groupby(["paper_corpus", "variant", "k"], sort=False, dropna=False)
    texts = ", ".join(sorted({name_text(run.paper_corpus, run.corpus) for run in rows.itertuples()}))
    lines = [_summary_line(group, columns, several) for _, group in groups]
    return {"columns": [title for _, title, _ in columns], "rows": lines, "texts": texts}


def _summary_line(group: pd.DataFrame, columns: list[tuple[str, str, str]], name_its_text: bool) -> dict:
    largest = group[group["S"] == group["S"].max()] if group["S"].notna().any() else group
    first, finished = largest.iloc[0], largest[largest["status"] == "ok"]
    grid = [f"{axis} = {first[axis]:.0f}" for axis in "Sk" if pd.notna(first[axis])]
    text = [name_text(first["paper_corpus"], first["corpus"])] if name_its_text else []
    digest = (finished if len(finished) else largest)["digest"].iloc[0]
    return {
        "label": ", ".join([first["variant"], *grid, *text]),
        "values": [(*_mean(finished, quantity), unit) for quantity, _, unit in columns],
        "seeds": len(finished),
        "failed": not len(finished),
        "page": f"{artefacts.runs_at(first['ablation'])}{digest}.html",
    }


def _mean(runs: pd.DataFrame, quantity: str) -> tuple[float | None, float | None]:
    """Mean and half the 95 % interval; no interval of what is measured once, of one seed, or of what never varies."""
    if quantity not in runs:
        return None, None
    values = take_rows(runs, quantity)[quantity].dropna().tolist()
    if not values:
        return None, None
    mean, _, high = mean_interval(values)
    return mean, None if high in (None, mean) else high - mean


def analytic_page() -> dict:
    """Every published number that a formula gives."""
    rows = analytic_table.build()
    return {
        "title": analytic_table.TITLE,
        "rows": rows.to_dict("records"),
        "open": int(rows["result"].isna().sum()),
    }
