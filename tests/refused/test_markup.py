"""Whatever text reaches a page is text there, though every string carries markup here."""

import re
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import pandas as pd
import pytest
from markupsafe import Markup
from pydantic import BaseModel

from tests import _site
from tests._cards import full_card
from workflow.report.pages import site
from workflow.report.pages.card import write_card
from workflow.report.pages.cards import write_cards

EVIL = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>&"
QUESTIONS = ["span_limit", "transformer"]
# templates compare such texts with their own, or look something up by them
KEYWORD = re.compile(r"[A-Za-z_]{1,14}")


def spiked(value):
    """Append markup to every text in a value."""
    if isinstance(value, Markup) or value is None:
        return value
    if isinstance(value, str):
        return value if KEYWORD.fullmatch(value) else value + EVIL
    if isinstance(value, dict):
        return {key: spiked(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(spiked(each) for each in value)
    if isinstance(value, pd.DataFrame):
        return value.map(spiked)
    if isinstance(value, Path):
        return spiked(str(value))
    if is_dataclass(value):
        values = {field.name: spiked(getattr(value, field.name)) for field in fields(value)}
        return replace(value, **values)
    if isinstance(value, BaseModel):
        values = {key: spiked(getattr(value, key)) for key in type(value).model_fields}
        return value.model_copy(update=values)
    return value


@pytest.fixture
def used(monkeypatch):
    """Collect the templates of which a page was written."""
    names, render = set(), site.render

    def render_spiked(template, place, page, **more):
        names.add(template)
        return render(template, place, spiked(dict(site.names_of(page))), **spiked(more))

    monkeypatch.setattr(site, "render", render_spiked)
    return names


@pytest.mark.slow
def test_no_text_is_markup_on_any_page(tmp_path, used):
    """At least one page of each template is written."""
    rows = [row for row in _site.rows_of(QUESTIONS, broken=True) if row["seed"] == 1]
    _site.write_results(tmp_path, rows)
    _site.write_pages(tmp_path)
    reports = tmp_path / "reports"
    of_cards = site.Site(tmp_path, reports)
    write_card(of_cards, "cards/entmax15.html", full_card())
    write_cards(of_cards, [(full_card(), "entmax15.html")])
    for path in reports.rglob("*.html"):
        page = path.read_text()
        assert "alert(1)" in page, path
        assert "<script>alert" not in page and "<img src=x" not in page, path
    assert used == {path.name for path in site.TEMPLATES.glob("[!_]*.j2")} - {"base.html.j2"}
