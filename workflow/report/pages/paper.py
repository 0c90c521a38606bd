"""The page of one paper: the tables and figures of its ablations, in the paper's order."""

import pandas as pd

from workflow.papers.published import papers
from workflow.plan.ablations import Ablation
from workflow.report.pages import artefacts
from workflow.report.pages.index import ablations_in
from workflow.report.pages.site import Site
from workflow.report.texts import name_badges
from workflow.results.runs_table import describe_runs


def paper_page(site: Site, name: str, runs: pd.DataFrame) -> dict:
    """runs: those of the paper's ablations."""
    ablations = {key: ablation for key, ablation in ablations_in(runs).items() if ablation.paper == name}
    return {
        "title": papers()[name].title,
        "provenance": describe_runs(runs, name_badges(runs)),
        "sections": [
            {
                "name": key,
                "question": ablation.question,
                "tables": [artefacts.table(site, table, key) for table in ablation.tables],
                "figures": [artefacts.figure(site, figure, key) for figure in ablation.figures],
            }
            for key, ablation in sorted(ablations.items(), key=lambda item: order_in_paper(item[1]))
        ],
    }


def order_in_paper(ablation: Ablation) -> tuple[int, str]:
    """Questions that the paper asks come before ours: by their first table, those without one by their first figure."""
    own = [[name for name in names if name.startswith(ablation.paper)] for names in (ablation.tables, ablation.figures)]
    return next(((rank, min(names)) for rank, names in enumerate(own) if names), (len(own), ""))
