"""The summary of a card: a text in Markdown and a picture, next to its page."""

import re

import pytest
from PIL import Image

from tests._cards import card, full_card, part
from workflow.report.pages.card import card_page, write_card
from workflow.report.pages.card_summary import conclusion_in, summary, write_summary
from workflow.report.pages.site import Site
from workflow.results import provenance


def rows_of(text: str) -> list[list[str]]:
    """Read the cells of a table in Markdown."""
    rows = [line for line in text.splitlines() if line.startswith("|")]
    return [re.split(r"(?<!\\)\|", row)[1:-1] for row in rows]


def test_the_text_has_the_conclusion_and_a_row_for_each_part():
    made = full_card(3)
    told = card_page(made)
    text = summary(told, "x")
    every = rows_of(text)
    heads, rule, *rows = every[: 2 + len(told.lines)]
    costs = every[2 + len(told.lines) :]
    assert len(rows) == 4
    assert {len(row) for row in (heads, rule, *rows)} == {5}
    assert len(costs) == 2 + len(told.costs)
    assert {len(row) for row in costs} == {1 + len(told.cost_titles)}
    for line, row in zip(told.lines, rows, strict=True):
        assert line.title in row[0]
        assert line.verdict in row[3]
        assert line.interval in row[2]
    assert "x.png" in text
    assert "Scale laptop, on a device" in text
    for sentence in told.conclusion:
        plain = text.replace("\\", "").replace("`", "")
        assert sentence.replace("\N{NO-BREAK SPACE}", " ") in plain
    assert "`card_" in text  # an option can be copied
    said = " ".join(told.conclusion).replace("\N{NO-BREAK SPACE}", " ")
    assert conclusion_in(text) == said


@pytest.mark.parametrize("evil", ["a | b", "<script>alert(1)</script>", "[x](y)", "a\n\n# b"])
def test_a_text_from_outside_is_no_markup(evil):
    text = summary(card_page(card(part("captions", why=evil), title=evil)), "x")
    assert "<script" not in re.sub(r"\\.", "", text)
    assert "[x](y)" not in text
    assert len([line for line in text.splitlines() if line.startswith("#")]) == 1
    assert {len(row) for row in rows_of(text)} == {5}


def write(folder, made):
    site = Site(results=folder, reports=folder)
    page = folder / "cards" / "x.html"
    write_summary(page, made, write_card(site, "cards/x.html", made))
    return page


def test_the_picture_carries_its_numbers_and_the_page_links_to_both(tmp_path):
    page = write(tmp_path, full_card(2))
    html = page.read_text()
    for ending in (".md", ".png"):
        assert page.with_suffix(ending).is_file()
        assert f'href="x{ending}"' in html
    trace = provenance.read(page.with_suffix(".png"))
    assert "this variant" in trace.data
    assert "Scale laptop" in trace.origin
    first = page.with_suffix(".png").read_bytes()
    assert write(tmp_path / "again", full_card(2)).with_suffix(".png").read_bytes() == first


def test_a_card_without_a_comparison_has_both_too(tmp_path):
    page = write(tmp_path, card(part("sorting")))
    assert "not run" in page.with_suffix(".md").read_text()
    with Image.open(page.with_suffix(".png")) as picture:
        assert picture.width > 100
