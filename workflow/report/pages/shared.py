"""The pages that a scale's questions share: index, ledger, coverage, pivot table, formulas.

The workflow writes them once everything is made. Where some questions alone were asked for by name, they are written
anew of what is there by then, so that an answer stands on the index as soon as it has a page.
"""

from pathlib import Path

import pandas as pd

from workflow.plan.ablations import known_ablations
from workflow.plan.claims import FORMULAS
from workflow.report.claims.ledger import write_ledger
from workflow.report.claims.measures import LAYERS
from workflow.report.pages.claims import ledger_page, read_ledger
from workflow.report.pages.index import ablations_in, index_page
from workflow.report.pages.papers import analytic_page, paper_page, status_page
from workflow.report.pages.pivot import pivot_page
from workflow.report.pages.site import Site
from workflow.results.registry import COSTS
from workflow.results.runs_table import read_frames


def write_shared(site: Site, runs: pd.DataFrame) -> None:
    """The index, and the pages beside it. runs: of all questions that have a page, with their costs."""
    ledger, ablations = read_ledger(site.results / "ledger.json"), ablations_in(runs)
    pages = {
        "index": index_page(site, runs, ledger),
        **({"ledger": ledger_page(site, ledger, ablations.values())} if ledger else {}),
        "analytic": analytic_page(),
        "status": status_page(site, ablations.values()),
        "pivot": pivot_page(runs),
    }
    for name, context in pages.items():
        site.write(f"{name}.html.j2", f"{name}.html", shared=list(pages), **context)


def write_made(site: Site) -> None:
    """The ledger, the papers' pages and the shared ones, of the questions whose page is there; nothing without any."""
    made = [name for name in known_ablations() if _is_made(site, name)]
    if not made:
        return
    costs = [path for kind in COSTS for path in sorted((site.results / kind).glob("*.json"))]
    runs = read_frames([*(_rows(site, name) for name in made), *costs]).runs
    claims = [site.results / "claims" / f"{group}.json" for group in (*made, LAYERS, FORMULAS)]
    evidence = [path for path in (*claims, *sorted((site.results / "evidence").glob("*.json"))) if path.exists()]
    write_ledger(site.results / "ledger.json", (site.results.name, runs["scale"].iloc[0]), evidence)
    for paper in sorted(set(runs["paper"])):
        site.write("paper.html.j2", f"papers/{paper}.html", **paper_page(site, paper, runs[runs["paper"] == paper]))
    write_shared(site, runs)


def _rows(site: Site, ablation: str) -> Path:
    return site.results / "ablations" / f"{ablation}.json"


def _is_made(site: Site, ablation: str) -> bool:
    return _rows(site, ablation).exists() and (site.reports / "ablations" / ablation / "index.html").exists()
