"""The page of one ablation: its tables and figures, its runs, what the papers claim about it, and how it was asked."""

import json

import pandas as pd

from workflow.config.files import config_file
from workflow.plan.ablations import load_ablation
from workflow.report.pages import artefacts
from workflow.report.pages.site import Site
from workflow.results.runs_table import describe, name_text
from workflow.tasks.spec import TASKS


def ablation(site: Site, name: str, runs: pd.DataFrame) -> dict:
    """runs: those of the ablation, with their costs."""
    asked = load_ablation(name)
    task = TASKS[asked.task]
    return {
        "title": asked.question,
        "name": name,
        "paper": asked.paper,
        "provenance": describe(runs),
        "tables": [artefacts.table(site, table, name) for table in asked.tables],
        "figures": [artefacts.figure(site, figure, name) for figure in asked.figures],
        "claims": claims(site, name),
        "columns": [(title, unit) for _, title, unit in task.score_columns],
        "runs": [_line(run, task) for run in runs.itertuples()],
        "yaml": config_file(f"ablations/{name}.yaml").read_text(encoding="utf-8"),
    }


def claims(site: Site, name: str) -> list[dict]:
    """What the papers claim about it, with the evidence; verdicts are the ledger's, which has all claims."""
    path = site.results / "claims" / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))["claims"] if path.exists() else []


def _line(run, task) -> dict:
    scores = [(getattr(run, column), unit) for column, _, unit in task.score_columns]
    return {
        "variant": run.variant,
        "seed": run.seed,
        "digest": run.digest,
        "status": run.status,
        "reason": run.reason,
        "S": None if pd.isna(run.S) else int(run.S),
        "k": None if pd.isna(run.k) else int(run.k),
        "text": name_text(run.paper_corpus, run.corpus),
        "choice": f"{run.span}, {run.selection}, {run.normaliser}, {run.position}",
        "scores": scores,
        "seconds": run.seconds,
    }
