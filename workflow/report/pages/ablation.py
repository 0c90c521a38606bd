"""The page of one ablation: its answer, its tables and figures, its runs, what the papers claim, its definition."""

import pandas as pd

from workflow.config.files import config_file
from workflow.papers.published import papers
from workflow.plan.ablations import load_ablation
from workflow.report.claims.lines import read_lines
from workflow.report.pages import artefacts
from workflow.report.pages.answer import answer
from workflow.report.pages.claim_numbers import write_details, write_numbers
from workflow.report.pages.site import Site
from workflow.report.texts import name_badges, title_of
from workflow.results.runs_table import describe_runs
from workflow.tasks.spec import TASKS, TaskSpec


def ablation_page(site: Site, name: str, runs: pd.DataFrame) -> dict:
    """runs: those of the ablation, with their costs; the first variant is the one that the others are compared with."""
    ablation = load_ablation(name)
    task = TASKS[ablation.task]
    return {
        "title": ablation.question,
        "name": name,
        "paper": papers()[ablation.paper].title,
        "provenance": describe_runs(runs, name_badges(runs)),
        "answer": answer(runs, task),
        "tables": [artefacts.table(site, table, name) for table in ablation.tables],
        "figures": [artefacts.figure(site, figure, name) for figure in ablation.figures],
        "claims": read_claims(site, name),
        "columns": [(title, unit) for _, title, unit in task.score_columns],
        "runs": [_line(run, task) for run in runs.itertuples()],
        "yaml": config_file(f"ablations/{name}.yaml").read_text(encoding="utf-8"),
    }


def read_claims(site: Site, name: str) -> list[dict]:
    """What the papers claim about it, with the evidence. Verdicts are the ledger's: they take all claims together."""
    path = site.results / "claims" / f"{name}.json"
    lines = read_lines(path, ["provenance"])["claims"] if path.exists() else []
    return [_written(line) for line in lines]


def _written(line: dict) -> dict:
    unit = line["unit"] or ""
    return line | {"unit": unit, "written": write_numbers(line, line) | write_details(line, unit)}


def _line(run, task: TaskSpec) -> dict:
    return {
        "variant": run.label,
        "seed": run.seed,
        "digest": run.digest,
        "status": run.status,
        "reason": run.reason,
        "S": None if pd.isna(run.S) else int(run.S),
        "k": None if pd.isna(run.k) else int(run.k),
        "text": title_of(run.task, run.corpus),
        "choices": f"{run.span}, {run.selection}, {run.normaliser}, {run.position}",
        "scores": [(getattr(run, quantity), unit) for quantity, _, unit in task.score_columns],
        "seconds": run.seconds,
    }
