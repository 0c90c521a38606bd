"""The index of one scale: what was found, in sentences and pictures."""

import pandas as pd

from workflow.papers.published import papers
from workflow.plan.ablations import Ablation, known_ablations, load_ablation
from workflow.report.answers.sentence import answer_of
from workflow.report.pages import artefacts
from workflow.report.pages.engine import engine_table
from workflow.report.pages.headlines import forest_of, list_findings, read_limit
from workflow.report.pages.ledger import Ledger, count_verdicts
from workflow.report.pages.site import Site
from workflow.report.texts import name_badges
from workflow.results.registry import COSTS
from workflow.results.runs_table import describe_runs
from workflow.tasks.spec import TASKS

OPENING = "limit"  # the question, its table and its figure, that the report opens with


def index_page(site: Site, runs: pd.DataFrame, ledger: Ledger | None) -> dict:
    """runs: of all ablations, with their costs."""
    ablations = ablations_in(runs)
    questions = [_question(name, ablation, runs[runs["ablation"] == name]) for name, ablation in ablations.items()]
    return {
        "title": "What attention variants cost, and what they buy",
        "limit": read_limit(site) if OPENING in ablations else None,
        "own": ledger.set if ledger else None,
        "findings": list_findings(ledger.claims) if ledger else [],
        "forest_rows": forest_of(ledger) if ledger else [],
        "measured": count_verdicts(ledger.measured) if ledger else [],
        "by_formula": count_verdicts(ledger.by_formula) if ledger else [],
        "scale": ", ".join(sorted(runs["scale"].unique())),
        "provenance": describe_runs(runs, name_badges(runs)),
        "commits": sorted(runs["commit"].unique()),
        "papers": [(paper, papers()[paper].title) for paper in sorted(set(runs["paper"]))],
        "questions": questions,
        "failures": list_failures(runs),
        "runs": runs["digest"].nunique(),
        "run_files": offer_runs(site),
        "opening": _figure(site, OPENING, ablations),
        "engine": engine_table(site),
    }


def _question(name: str, ablation: Ablation, runs: pd.DataFrame) -> dict:
    """runs: of the ablation."""
    return {"name": name, "question": ablation.question, "answer": answer_of(runs, TASKS[ablation.task])}


def offer_runs(site: Site) -> list[tuple[str, str]]:
    """(what it is, its address) of all runs as one table, where the workflow wrote it."""
    files = {"CSV": "runs.csv", "Parquet": "runs.parquet", "what each column holds": "runs_columns.csv"}
    return [(what, site.offer(site.results / name)) for what, name in files.items() if (site.results / name).exists()]


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
    return {"page": page, "label": f"{run.ablation}: {run.label}", "status": status, "reason": reason}
