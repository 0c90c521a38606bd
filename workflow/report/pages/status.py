"""The status of every table and figure of the papers: where it stands, and how many of its cells were measured."""

from collections.abc import Iterable
from pathlib import Path

from workflow.papers.published import Artefact, papers
from workflow.plan.ablations import Ablation
from workflow.report.builders import load_builder
from workflow.report.pages.artefacts import read_table
from workflow.report.pages.site import Site


def status_page(site: Site, ablations: Iterable[Ablation]) -> dict:
    """A line for each: title, links, cells measured, failed and not run, or why there are none.

    ablations: those that were run; a table or figure of another has no page to lead to.
    """
    available = {name for ablation in ablations for name in (*ablation.tables, *ablation.figures)}
    sections = [
        {"title": paper.title, "lines": [_line(site, name, *item, available) for item in paper.artefacts.items()]}
        for name, paper in papers().items()
        if paper.artefacts
    ]
    return {"title": "Every table and figure of the papers", "sections": sections}


def _line(site: Site, paper: str, title: str, artefact: Artefact, available: set[str]) -> dict:
    paths = {("table", name): site.results / "tables" / f"{name}.json" for name in artefact.tables}
    paths |= {("figure", name): site.results / "figures" / f"{name}.svg" for name in artefact.figures}
    present = {key: path for key, path in paths.items() if key[1] in available and path.exists()}
    return {
        "title": title,
        "links": [(f"papers/{paper}.html#{kind}-{name}", _title(kind, name)) for kind, name in present],
        "absent": [_title(kind, name) for kind, name in paths if (kind, name) not in present],
        "cells": _count_cells([path for (kind, _), path in present.items() if kind == "table"]),
        "drawing": artefact.drawing,
    }


def _title(kind: str, name: str) -> str:
    return load_builder(f"{kind}s", name).TITLE


def _count_cells(paths: list[Path]) -> dict[str, int]:
    """How many measured cells there are by status."""
    counts = {"ok": 0, "failed": 0, "not run": 0}
    for path in paths:
        for cell in read_table(path)["cells"]:
            if cell["kind"] == "measured":
                counts[cell["status"]] += 1
    return counts
