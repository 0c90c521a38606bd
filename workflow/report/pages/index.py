"""The index of one scale, and that of all scales, reports/index.html.

They show what was found, in sentences and pictures. The findings, the picture and the matrix of the
first screen are made in `workflow.report.overview`, the answers in `workflow.report.answers`.
"""

from dataclasses import dataclass
from pathlib import Path
from statistics import median
from urllib.parse import quote

import pandas as pd

from workflow.claims.evidence import Ledger, read_ledger
from workflow.claims.ledger import count_verdicts
from workflow.claims.published import Study, studies
from workflow.config.errors import ConfigError
from workflow.config.files import list_folder
from workflow.config.process import one_at_a_time
from workflow.report.answers.answer import Answer, read_answer
from workflow.report.answers.tuning import same_as_recipe
from workflow.report.overview.collect import OVERVIEW, Overview, read_overviews
from workflow.report.overview.findings import Finding, list_findings
from workflow.report.overview.matrix import Matrix, make_matrix
from workflow.report.overview.picture import Picture, make_picture
from workflow.report.pages import artefacts
from workflow.report.pages.cards import CardsPage, find_cards
from workflow.report.pages.scales import write_scales
from workflow.report.pages.site import Site, link_pages
from workflow.report.pages.strips import Group, Row, first_of_each_paper, forest_of
from workflow.results.datasets import name_badges
from workflow.results.numbers import count, join
from workflow.results.precomputed import NOT_RUN
from workflow.results.registry import COSTS
from workflow.results.runs_table import Frames, describe_runs
from workflow.results.trained_enough import converged
from workflow.settings.questions import Question, known_questions, load_question
from workflow.settings.scales import strength

TITLE = "What attention variants cost, and what they buy"
SHARED = {
    "headline_claims": "The headline claims",
    "model_selection": "Model selection by budget",
    "coverage": "Coverage: tables and figures of the papers",
    "pivot": "Pivot table",
    "formulas": "Numbers by formula",
    "cards/index": "Cards of variants",
}
Link = tuple[str, str]  # words, address; in lists of pages the address comes first


@dataclass(frozen=True)
class FirstScreen:
    """The picture, the findings and the matrix. own: the set of results that it is about."""

    own: str
    picture: Picture
    findings: list[Finding]
    matrix: Matrix


@dataclass(frozen=True)
class AnsweredQuestion:
    """A question with its answer. name: of its file."""

    name: str
    question: str
    answer: Answer


@dataclass(frozen=True)
class Failure:
    """A run, score or measurement that failed.

    page: of the run, relative to the scale's reports. status: of the run, or the kind of cost.
    """

    page: str
    label: str
    digest: str
    status: str
    reason: str


@dataclass(frozen=True)
class IndexPage:
    """What the index of a scale shows.

    own: the set of results that the ledger is about; None without a ledger.
    printed: for each paper, its tables with our numbers. compared: a headline of each paper.
    forest_rows: headline claims by unit. measured, by_formula: verdicts with their counts.
    papers, own_questions: name and heading of the papers, and of the suite's own questions.
    unmeasured: costs that were not measured, in words. runs: how many there are.
    run_files: the files of all runs as one table.
    """

    title: str
    own: str | None
    overview: FirstScreen
    printed: list[tuple[str, list[Link]]]
    compared: list[Row]
    forest_rows: list[Group]
    measured: list[tuple[str, int]]
    by_formula: list[tuple[str, int]]
    scale: str
    provenance: str
    commits: list[str]
    papers: list[tuple[str, str]]
    own_questions: list[tuple[str, str]]
    questions: list[AnsweredQuestion]
    failures: list[Failure]
    unmeasured: str
    runs: int
    run_files: list[Link]


def index_page(site: Site, frames: Frames, ledger: Ledger | None, overview: Overview) -> IndexPage:
    """Collect what the index shows.

    frames: runs of all questions, with their costs. overview: of all results.
    """
    runs = frames.runs
    every = frames.everything
    questions = questions_in(runs)
    shown = {name: study for name, study in studies().items() if name in set(runs["paper"])}
    answered = [
        AnsweredQuestion(name, each.question, read_answer(site.results, name))
        for name, each in questions.items()
    ]
    return IndexPage(
        title=TITLE,
        own=ledger.set if ledger else None,
        overview=make_first_screen(overview),
        printed=_link_tables(shown, questions),
        compared=first_of_each_paper(ledger) if ledger else [],
        forest_rows=forest_of(ledger) if ledger else [],
        measured=count_verdicts(ledger.measured) if ledger else [],
        by_formula=count_verdicts(ledger.by_formula) if ledger else [],
        scale=", ".join(sorted(runs["scale"].unique())),
        provenance=describe_runs(runs, name_badges(runs)),
        commits=sorted(runs["commit"].unique()),
        papers=[(name, study.heading) for name, study in shown.items() if study.authors],
        own_questions=[(name, study.heading) for name, study in shown.items() if not study.authors],
        questions=answered,
        failures=list_failures(every),
        unmeasured=join(list_unmeasured(runs)),
        runs=every[~same_as_recipe(every)]["digest"].nunique(),
        run_files=offer_runs(site),
    )


def make_first_screen(overview: Overview) -> FirstScreen:
    """Make the picture, the findings and the matrix of the first screen."""
    return FirstScreen(
        own=overview.own,
        picture=make_picture(overview.points, overview.own),
        findings=list_findings(overview.isolated),
        matrix=make_matrix(overview.isolated),
    )


def _link_tables(
    shown: dict[str, Study], questions: dict[str, Question]
) -> list[tuple[str, list[Link]]]:
    """List for each paper its tables with our numbers next to the printed ones."""
    made = {table for question in questions.values() for table in question.tables}
    papers = []
    for name, study in shown.items():
        links = []
        for title, artefact in study.artefacts.items():
            if artefact.tables and artefact.tables[0] in made:
                links.append((title, f"papers/{name}.html#table-{artefact.tables[0]}"))
        if links:
            papers.append((study.title, links))
    return papers


def offer_runs(site: Site) -> list[Link]:
    """List the files that hold all runs as one table, as far as they were written."""
    files = {
        "CSV": "runs.csv",
        "Parquet": "runs.parquet",
        "description of the columns": "runs_columns.csv",
    }
    links = []
    for what, name in files.items():
        path = site.results / name
        if path.exists():
            links.append((what, site.offer(path)))
    return links


def questions_in(runs: pd.DataFrame) -> dict[str, Question]:
    """Load the questions that were run, in the order of their names."""
    present = set(runs["question"])
    return {name: load_question(name) for name in known_questions() if name in present}


# --- what failed, and what was not measured --------------------------------------------------


def list_failures(runs: pd.DataFrame) -> list[Failure]:
    """List the runs, scores and measurements that failed; not what nobody tried."""
    broken = runs[(runs["status"] != "ok") | runs["missing"].astype(bool)].drop_duplicates("digest")
    failures = []
    for run in broken.itertuples():
        # a run that ended well is here because a score is missing
        status = run.status.replace("ok", "missing")
        failures.append(_failure(run, status, run.reason))
    for kind in COSTS:
        if f"{kind}_status" not in runs:
            continue
        status = runs[f"{kind}_status"]
        failed = runs[status.notna() & ~status.isin(["ok", NOT_RUN])]
        for run in failed.drop_duplicates("configuration").itertuples():
            failures.append(_failure(run, kind, getattr(run, f"{kind}_reason")))
    return failures


def _failure(run, status: str, reason: str) -> Failure:
    """Name what failed. run: a row of the table of runs."""
    return Failure(
        page=f"{artefacts.runs_at(run.question)}{run.digest}.html",
        label=f"{run.question}: {run.label}, {run.corpus}, seed {run.seed}",
        digest=run.digest,
        status=status,
        reason=reason,
    )


def list_unmeasured(runs: pd.DataFrame) -> list[str]:
    """Say of how many configurations each cost was not measured, as the scale was run in part."""
    phrases = []
    for kind in COSTS:
        if f"{kind}_status" not in runs:
            continue
        unmeasured = runs[runs[f"{kind}_status"] == NOT_RUN].drop_duplicates("configuration")
        if len(unmeasured):
            words = kind.replace("_", " ")
            phrases.append(f"{words} of {count(len(unmeasured), 'configuration')}")
    return phrases


# --- all scales ------------------------------------------------------------------------------


@dataclass(frozen=True)
class ScaleLinks:
    """A scale that has a report.

    address: its folder. index: address of its index, None where it has none.
    searched: whether it has a script for the search. lists: heading -> pages, address first.
    """

    name: str
    address: str
    index: str | None
    searched: bool
    lists: dict[str, list[tuple[str, str]]]


@dataclass(frozen=True)
class RootPage:
    """What the index of all scales shows. overview: of all reports; None if it is empty. cards: of
    each scale that has some.
    """

    title: str
    compared: list[Row]
    scales: list[ScaleLinks]
    overview: FirstScreen | None
    cards: list[CardsPage]


def root_page(results: Path, reports: Path, only: str | None = None) -> RootPage:
    """Say what was found, and list the scales with their pages.

    only: one scale. Each report knows the results of all scales that shipped; those of all reports
    are joined.
    """
    folders = [path for path in list_folder(reports) if path.is_dir() and only in (None, path.name)]
    folders.sort(key=lambda path: _order_of_scale(results, path.name))
    scales = [_link_scale(folder) for folder in folders]
    scales = [scale for scale in scales if scale.index or scale.lists]
    names = [scale.name for scale in scales if scale.index]
    return RootPage(
        title=TITLE,
        compared=_compare_with_papers(results, names),
        scales=scales,
        overview=_join_overviews(results, names),
        cards=[page for folder in folders if (page := find_cards(results, folder.name))],
    )


def _order_of_scale(results: Path, name: str) -> tuple:
    """Order scales: converged ones first, then the strongest."""
    return not _has_converged(results, name), -strength(name), name


def _has_converged(results: Path, scale: str) -> bool:
    """Say whether half of a scale's own claims rest on models that had stopped learning.

    Only claims count whose effect more training would change. Without a ledger the answer is no.
    """
    try:
        ledger = read_ledger(results / scale / "ledger.json")
    except ConfigError:
        return False
    gains = []
    for line in ledger.claims if ledger else ():
        for each in line.sets:
            if each.set == ledger.set and each.late_gain is not None:
                gains.append(each.late_gain)
    return bool(gains) and converged(median(gains))


def _compare_with_papers(results: Path, scales: list[str]) -> list[Row]:
    """Lay out what the papers print next to ours, by the ledger of the first scale.

    There is nothing where another version wrote that ledger.
    """
    try:
        ledger = read_ledger(results / scales[0] / "ledger.json") if scales else None
    except ConfigError:
        return []
    return first_of_each_paper(ledger) if ledger else []


def _join_overviews(results: Path, scales: list[str]) -> FirstScreen | None:
    overviews = read_overviews(results / name / f"{OVERVIEW}.json" for name in scales)
    if not overviews:
        return None
    joined = overviews[0].joined(overviews[1:])
    return make_first_screen(joined) if joined.isolated or joined.points else None


def write_root(results: Path, reports: Path) -> bool:
    """Write the page that leads to all reports; return False where there is no report.

    Workflows of several scales may end at the same time: the last one to write has seen the pages
    of all.
    """
    if not reports.is_dir():
        return False
    with one_at_a_time(reports):
        page = root_page(results, reports)
        if not page.scales:
            return False
        Site(results, reports).write("root.html.j2", "index.html", page)
        link_pages(reports / "index.html")
        write_scales(reports)
    return True


def _link_scale(folder: Path) -> ScaleLinks:
    address = quote(folder.name)  # a folder named javascript: stays one
    pages = {
        "Papers": {f"papers/{name}.html": study.heading for name, study in studies().items()},
        "Questions": {
            f"questions/{name}/index.html": load_question(name).question
            for name in known_questions()
        },
        "More": {f"{name}.html": title for name, title in SHARED.items()},
    }
    lists = {}
    for heading, titles in pages.items():
        present = [
            (f"{address}/{place}", title)
            for place, title in titles.items()
            if (folder / place).exists()
        ]
        if present:
            lists[heading] = present
    return ScaleLinks(
        name=folder.name,
        address=address,
        index=f"{address}/index.html" if (folder / "index.html").exists() else None,
        searched=(folder / "report.js").exists(),
        lists=lists,
    )
