"""The index of one scale: what was found, in sentences and pictures; and that of all scales,
reports/index.html.
"""

from pathlib import Path
from statistics import median
from urllib.parse import quote

import pandas as pd

from workflow.claims.published import Study, studies
from workflow.config.errors import ConfigError
from workflow.config.files import list_folder
from workflow.plan.questions import Question, known_questions, load_question
from workflow.plan.scales import strength
from workflow.report.answers.files import read_answer
from workflow.report.answers.tuning import same_as_recipe
from workflow.report.overview.files import OVERVIEW, Overview, read_overviews
from workflow.report.overview.findings import list_findings
from workflow.report.overview.matrix import make_matrix
from workflow.report.overview.picture import make_picture
from workflow.report.pages import artefacts
from workflow.report.pages.claims import Ledger, count_verdicts, read_ledger
from workflow.report.pages.scales import write_scales
from workflow.report.pages.site import Site, link_pages
from workflow.report.pages.strips import Row, first_of_each_paper, forest_of
from workflow.results.datasets import name_badges
from workflow.results.numbers import count, join
from workflow.results.precomputed import NOT_RUN
from workflow.results.registry import COSTS
from workflow.results.runs_table import Frames, describe_runs
from workflow.results.trained_enough import converged

SHARED = {
    "headline_claims": "The headline claims",
    "model_selection": "Model selection by budget",
    "coverage": "Coverage: tables and figures of the papers",
    "pivot": "Pivot table",
    "formulas": "Numbers by formula",
}


def index_page(site: Site, frames: Frames, ledger: Ledger | None, overview: Overview) -> dict:
    """Collect what the index shows. frames: runs of all questions, with their costs. overview: of
    all results.
    """
    runs = frames.runs
    questions = questions_in(runs)
    told = {name: study for name, study in studies().items() if name in set(runs["paper"])}
    return {
        "title": "What attention variants cost, and what they buy",
        "own": ledger.set if ledger else None,
        "overview": _shown(overview),
        "printed": _artefacts_of(told, questions),
        "compared": first_of_each_paper(ledger) if ledger else [],
        "forest_rows": forest_of(ledger) if ledger else [],
        "measured": count_verdicts(ledger.measured) if ledger else [],
        "by_formula": count_verdicts(ledger.by_formula) if ledger else [],
        "scale": ", ".join(sorted(runs["scale"].unique())),
        "provenance": describe_runs(runs, name_badges(runs)),
        "commits": sorted(runs["commit"].unique()),
        "papers": [(name, study.heading) for name, study in told.items() if study.authors],
        "own_questions": [
            (name, study.heading) for name, study in told.items() if not study.authors
        ],
        "questions": [
            {"name": name, "question": each.question, "answer": read_answer(site.results, name)}
            for name, each in questions.items()
        ],
        "failures": list_failures(frames.everything),
        "unmeasured": join(list_unmeasured(runs)),
        "runs": frames.everything[~same_as_recipe(frames.everything)]["digest"].nunique(),
        "run_files": offer_runs(site),
    }


def _shown(overview: Overview) -> dict:
    """Make the picture, the findings and the matrix of the first screen."""
    return {
        "own": overview.own,
        "picture": make_picture(overview.points, overview.own),
        "findings": list_findings(overview.isolated),
        "matrix": make_matrix(overview.isolated),
    }


def _artefacts_of(
    told: dict[str, Study], questions: dict[str, Question]
) -> list[tuple[str, list[tuple[str, str]]]]:
    """List for each paper its tables with our numbers next to the printed ones, each as (its name,
    its address).
    """
    made = {table for question in questions.values() for table in question.tables}
    papers = []
    for name, study in told.items():
        tables = {title: each.tables[0] for title, each in study.artefacts.items() if each.tables}
        links = [
            (title, f"papers/{name}.html#table-{table}")
            for title, table in tables.items()
            if table in made
        ]
        if links:
            papers.append((study.title, links))
    return papers


def offer_runs(site: Site) -> list[tuple[str, str]]:
    """List the files that hold all runs as one table, each as (what it is, its address), if they
    were written.
    """
    files = {
        "CSV": "runs.csv",
        "Parquet": "runs.parquet",
        "description of the columns": "runs_columns.csv",
    }
    return [
        (what, site.offer(site.results / name))
        for what, name in files.items()
        if (site.results / name).exists()
    ]


def questions_in(runs: pd.DataFrame) -> dict[str, Question]:
    """Load the questions that were run, in the order of their names."""
    return {
        name: load_question(name) for name in known_questions() if name in set(runs["question"])
    }


def list_failures(runs: pd.DataFrame) -> list[dict]:
    """List the runs, scores and measurements that failed, each with its reason; not what nobody
    tried.
    """
    broken = runs[(runs["status"] != "ok") | runs["missing"].astype(bool)].drop_duplicates("digest")
    lines = [
        _failure(run, run.status.replace("ok", "missing"), run.reason)
        for run in broken.itertuples()
    ]
    for kind in (kind for kind in COSTS if f"{kind}_status" in runs):
        status = runs[f"{kind}_status"]
        bad = _of_each_configuration(runs, status.notna() & ~status.isin(["ok", NOT_RUN]))
        lines += [_failure(run, kind, getattr(run, f"{kind}_reason")) for run in bad.itertuples()]
    return lines


def list_unmeasured(runs: pd.DataFrame) -> list[str]:
    """Say of how many configurations each cost was not measured, since the scale was run in
    part.
    """
    counts = {
        kind: len(_of_each_configuration(runs, runs[f"{kind}_status"] == NOT_RUN))
        for kind in COSTS
        if f"{kind}_status" in runs
    }
    return [
        f"{kind.replace('_', ' ')} of {count(n, 'configuration')}"
        for kind, n in counts.items()
        if n
    ]


def _of_each_configuration(runs: pd.DataFrame, chosen: pd.Series) -> pd.DataFrame:
    """Select a run of each configuration among those that are chosen."""
    return runs[chosen].drop_duplicates("configuration")


def _failure(run, status: str, reason: str) -> dict:
    page = f"{artefacts.runs_at(run.question)}{run.digest}.html"
    label = f"{run.question}: {run.label}, {run.corpus}, seed {run.seed}"
    return {"page": page, "label": label, "digest": run.digest, "status": status, "reason": reason}


def root_page(results: Path, reports: Path, only: str | None = None) -> dict:
    """Say what was found, and list the scales, each with its index if it has one, and its other
    pages. only: one scale.

    Each report knows the results of all scales that shipped; those of all reports are joined.
    """
    folders = [path for path in list_folder(reports) if path.is_dir() and only in (None, path.name)]
    folders.sort(
        key=lambda path: (not _has_converged(results, path.name), -strength(path.name), path.name)
    )
    scales = [_scale(folder) for folder in folders]
    scales = [scale for scale in scales if scale["index"] or scale["lists"]]
    names = [scale["name"] for scale in scales if scale["index"]]
    overviews = read_overviews(results / name / f"{OVERVIEW}.json" for name in names)
    first = overviews[0].joined(overviews[1:]) if overviews else None
    overview = _shown(first) if first and (first.isolated or first.points) else None
    about = {
        "title": "What attention variants cost, and what they buy",
        "compared": _compared(results, names),
    }
    return about | {"scales": scales, "overview": overview}


def _compared(results: Path, scales: list[str]) -> list[Row]:
    """Lay out what the papers print next to ours, by the first scale's ledger; nothing of another
    version's.
    """
    try:
        ledger = read_ledger(results / scales[0] / "ledger.json") if scales else None
    except ConfigError:
        return []
    return first_of_each_paper(ledger) if ledger else []


def _has_converged(results: Path, scale: str) -> bool:
    """Say whether half of a scale's own claims or more rest on models that had stopped learning;
    not without a ledger.

    Only claims count whose effect more training would change.
    """
    try:
        ledger = read_ledger(results / scale / "ledger.json")
    except ConfigError:
        return False
    sets = (
        [each for line in ledger.claims for each in line["sets"] if each["set"] == ledger.set]
        if ledger
        else []
    )
    gains = [each["late_gain"] for each in sets if each["late_gain"] is not None]
    return bool(gains) and converged(median(gains))


def write_root(results: Path, reports: Path) -> bool:
    """Write the page that leads to all reports, unless there is none; return whether it was
    written.
    """
    context = root_page(results, reports)
    if context["scales"]:
        Site(results, reports).write("root.html.j2", "index.html", **context)
        link_pages(reports / "index.html")
        write_scales(reports)
    return bool(context["scales"])


def _scale(folder: Path) -> dict:
    address = quote(folder.name)  # a folder named javascript: stays one
    lists = {
        "Papers": {f"papers/{name}.html": study.heading for name, study in studies().items()},
        "Questions": {
            f"questions/{name}/index.html": load_question(name).question
            for name in known_questions()
        },
        "More": {f"{name}.html": title for name, title in SHARED.items()},
    }
    present = {
        heading: [
            (f"{address}/{place}", title)
            for place, title in pages.items()
            if (folder / place).exists()
        ]
        for heading, pages in lists.items()
    }
    index = f"{address}/index.html" if (folder / "index.html").exists() else None
    return {
        "name": folder.name,
        "address": address,
        "index": index,
        "searched": (folder / "report.js").exists(),
        "lists": {name: pages for name, pages in present.items() if pages},
    }
