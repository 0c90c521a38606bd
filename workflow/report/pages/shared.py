"""The pages that a scale's questions share: index, ledger, papers, coverage, pivot, formulas.

The workflow writes them once everything is made. Where some questions alone were asked for by name,
they are written again from what is there by then, so that an answer is on the index as soon as it
has a page.
"""

import shutil
from pathlib import Path

from workflow.claims.evidence import read_ledger
from workflow.claims.ledger import write_ledger
from workflow.claims.schema import known_claims, load_claims
from workflow.config import renamed
from workflow.config.files import list_folder
from workflow.plan.rows import read_plan
from workflow.report.answers.answer import answer_file
from workflow.report.overview.collect import (
    OVERVIEW,
    Overview,
    overview_of,
    read_overviews,
    write_overview,
)
from workflow.report.pages.cards import read_cards, write_cards
from workflow.report.pages.claims import ledger_page
from workflow.report.pages.headline_claims import headline_claims_page
from workflow.report.pages.index import index_page, questions_in
from workflow.report.pages.model_selection import model_selection_page
from workflow.report.pages.papers import coverage_page, formulas_page, paper_page
from workflow.report.pages.pivot import pivot_page
from workflow.report.pages.search import search_script
from workflow.report.pages.site import Site
from workflow.results.record import write_if_changed
from workflow.results.registry import COSTS
from workflow.results.runs_table import Frames, read_frames
from workflow.settings.questions import known_questions


def write_shared(site: Site, frames: Frames, overview: Overview | None = None) -> None:
    """Write the index, the pages next to it, and those of the papers.

    frames: runs of all questions that have a page, with their costs. overview: of these and of
    other results; by default of these alone.
    """
    runs = frames.runs
    ledger = read_ledger(site.results / "ledger.json")
    questions = questions_in(runs)
    overview = overview or overview_of(frames, site.results.name)
    index = index_page(site, frames, ledger, overview)
    pages: dict[str, object] = {"index": index}
    if ledger:
        pages["headline_claims"] = headline_claims_page(ledger)
        pages["ledger"] = ledger_page(site, ledger, questions.values())
    pages["model_selection"] = model_selection_page(frames.everything)
    pages["formulas"] = formulas_page()
    pages["coverage"] = coverage_page(site, questions.values())
    pages["pivot"] = pivot_page(runs)
    answers = {each.name: each.answer for each in index.questions}
    write_if_changed(site.reports / "report.js", search_script(runs, ledger, questions, answers))
    _remove_renamed(site.reports)
    for name, page in pages.items():
        site.write(f"{name}.html.j2", f"{name}.html", page, shared=list(pages))
    for paper, of_paper in runs.groupby("paper"):
        page = paper_page(site, paper, of_paper)
        site.write("paper.html.j2", f"papers/{paper}.html", page)
    write_cards(site, read_cards(site.results.parent, site.results.name))


def _remove_renamed(reports: Path) -> None:
    """Remove pages that now have another address, which a bundle would include."""
    shutil.rmtree(reports / "ablations", ignore_errors=True)
    for name in renamed.PAGES:
        (reports / name).unlink(missing_ok=True)


def write_together(site: Site, frames: Frames, evidence: list[Path]) -> None:
    """Write the ledger, then the pages that show it.

    frames: runs with costs, and layers if they were measured. evidence: files of claims.
    """
    scale = frames.runs["scale"].iloc[0]
    own = (site.results.name, scale)
    claims = load_claims(known_claims())
    write_ledger(site.results / "ledger.json", own, evidence, frames.layers, claims)
    overview = overview_of(frames, site.results.name).joined(read_overviews(evidence))
    write_overview(site.results / f"{OVERVIEW}.json", overview)
    write_shared(site, frames, overview)


def write_made(site: Site, others: list[Path]) -> None:
    """Write the ledger and the shared pages of the questions that have a page.

    others: evidence of other results.
    """
    made = [name for name in known_questions() if _is_made(site, name)]
    layers = [path for path in [site.results / "layers.json"] if path.exists()]
    if not made:
        write_ledger_alone(site, others, layers)
        return
    rows = [_rows(site, name) for name in made]
    costs = []
    for kind in COSTS:
        costs += list_folder(site.results / kind, ".json")
    claims = [site.results / "claims" / f"{name}.json" for name in made]
    write_together(site, read_frames([*rows, *costs, *layers]), [*claims, *others])


def write_ledger_alone(site: Site, evidence: list[Path], layers: list[Path]) -> None:
    """Write the ledger while no question has a page.

    Claims about formulas and layers need no question.
    """
    plan = site.results / "plan.json"
    if not plan.exists():
        return
    path = site.results / "ledger.json"
    own = (site.results.name, read_plan(plan)[0]["job"]["scale"])
    claims = load_claims(known_claims())
    write_ledger(path, own, evidence, read_frames(layers).layers, claims)
    page = ledger_page(site, read_ledger(path), ())
    site.write("ledger.html.j2", "ledger.html", page)


def _rows(site: Site, question: str) -> Path:
    return site.results / "questions" / f"{question}.json"


def _is_made(site: Site, question: str) -> bool:
    """Say whether a question has its rows, its answer and its page."""
    page = site.reports / "questions" / question / "index.html"
    needed = (_rows(site, question), answer_file(site.results, question), page)
    return all(path.exists() for path in needed)
