"""The page of one paper: the tables and figures of its ablations, in the paper's order."""

import pandas as pd

from workflow.papers.published import papers
from workflow.plan.ablations import Ablation
from workflow.report.pages import artefacts
from workflow.report.pages.index import asked_for
from workflow.report.pages.site import Site
from workflow.results.runs_table import describe


def paper(site: Site, name: str, runs: pd.DataFrame) -> dict:
    """runs: those of the paper's ablations."""
    parts = [(ablation, asked) for ablation, asked in asked_for(runs) if asked.paper == name]
    parts.sort(key=lambda part: place_in_paper(part[1]))
    return {
        "title": papers()[name].title,
        "provenance": describe(runs),
        "sections": [
            {
                "name": ablation,
                "question": asked.question,
                "tables": [artefacts.table(site, table, ablation) for table in asked.tables],
                "figures": [artefacts.figure(site, figure, ablation) for figure in asked.figures],
            }
            for ablation, asked in parts
        ],
    }


def place_in_paper(ablation: Ablation) -> tuple[int, str]:
    """Questions that the paper asks come before ours: by their first table, those without one by their first figure."""
    own = [[name for name in names if name.startswith(ablation.paper)] for names in (ablation.tables, ablation.figures)]
    return next(((rank, min(names)) for rank, names in enumerate(own) if names), (len(own), ""))
