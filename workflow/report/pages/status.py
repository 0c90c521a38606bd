"""Every table and figure of the papers: where it stands, and how much of it was measured."""

import json
from functools import cache
from pathlib import Path

from pydantic import model_validator

from workflow.config.files import ROOT
from workflow.config.strict import StrictModel, parse, read_yaml
from workflow.papers import PAPERS
from workflow.papers.published import papers
from workflow.report.pages.site import Site

ARTEFACTS = ROOT / "config" / "published" / "artefacts.yaml"


class Artefact(StrictModel):
    """What makes a table or figure of a paper; drawing: why nothing does."""

    tables: list[str] = []
    figures: list[str] = []
    drawing: str | None = None

    @model_validator(mode="after")
    def made_or_not(self):
        if bool(self.drawing) == bool(self.tables or self.figures):
            raise ValueError("takes tables or figures, or says of a drawing why nothing makes it")
        return self


class Artefacts(StrictModel):
    adaptive_span: dict[str, Artefact]
    explicit_sparse: dict[str, Artefact]
    aiayn: dict[str, Artefact]


@cache
def artefacts() -> dict[str, dict[str, Artefact]]:
    read = parse(Artefacts, read_yaml(ARTEFACTS), "config/published/artefacts.yaml")
    return {paper: getattr(read, paper) for paper in PAPERS}


def status(site: Site) -> dict:
    """A line for each: title, links, cells measured, failed and not run, or why there are none."""
    sections = [
        {"paper": paper, "title": papers()[paper].title, "lines": [_line(site, paper, *one) for one in found.items()]}
        for paper, found in artefacts().items()
    ]
    return {"title": "What stands of the papers", "sections": sections}


def _line(site: Site, paper: str, name: str, made: Artefact) -> dict:
    tables = [(one, site.results / "tables" / f"{one}.json") for one in made.tables]
    figures = [(one, site.results / "figures" / f"{one}.svg") for one in made.figures]
    there = [
        (f"{kind}-{one}", one)
        for kind, found in (("table", tables), ("figure", figures))
        for one, path in found
        if path.exists()
    ]
    absent = [one for one, path in (*tables, *figures) if not path.exists()]
    counts = _cells([path for _, path in tables if path.exists()])
    links = [(f"papers/{paper}.html#{anchor}", one) for anchor, one in there]
    return {"name": name, "links": links, "absent": absent, "cells": counts, "drawing": made.drawing}


def _cells(paths: list[Path]) -> dict[str, int]:
    """How many measured cells there are by status."""
    found = {"ok": 0, "failed": 0, "not run": 0}
    for path in paths:
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["kind"] == "measured":
                found[cell["status"]] += 1
    return found
