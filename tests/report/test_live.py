"""Figures that answer, a variant that is followed, and a view that is an address; in a real
browser.
"""

import json
import re

import pytest

from workflow.report.pages.scales import write_scales
from workflow.report.pages.search import BEGINS, synonyms
from workflow.report.pages.site import Site

SPANS = "questions/span_limit"


@pytest.fixture
def spans(site, page):
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto((site / f"{SPANS}/index.html").as_uri())
    return page


def point_at(page, place: int) -> None:
    found = page.locator("#figure-answer-effect [data-rows] use").nth(place)
    found.scroll_into_view_if_needed()
    box = found.bounding_box()
    across = box["x"] + box["width"] / 2
    down = box["y"] + box["height"] / 2
    page.mouse.move(across, down)


def test_a_pointer_shows_a_mark_and_a_click_its_runs(spans):
    """Two seeds of fixed span at S = 32: 2.1 and 2.2."""
    card = spans.locator(".card")
    assert not card.is_visible()
    point_at(spans, 0)
    told = card.inner_text()
    for part in ("fixed span", "S 32", "mean 2.15"):
        assert part in told
    spans.mouse.down()
    spans.mouse.up()
    assert card.locator("a").all_inner_texts() == ["2.1", "2.2"]
    card.locator("a").first.click()
    assert re.search(f"{SPANS}/span_limit-fixed-32-None-1.html$", spans.url)


def test_a_variant_is_followed_through_tables_and_figures_and_by_its_address(spans, browser):
    def dimmed(page) -> set[str]:
        rows = page.locator("tr.dim[data-variant]").all()
        return {row.get_attribute("data-variant") for row in rows}

    assert not dimmed(spans)
    spans.get_by_role("button", name="adaptive span", exact=True).click()
    assert dimmed(spans) == {"fixed span"}
    assert spans.locator("figure .dim").count()
    other = browser.new_page()
    other.goto(spans.url)
    assert dimmed(other) == {"fixed span"}
    other.close()
    spans.go_back()
    assert not dimmed(spans)
    spans.go_forward()
    assert dimmed(spans) == {"fixed span"}
    spans.locator("#figure-answer-effect text").filter(has_text="fixed span").first.click()
    assert dimmed(spans) == {"adaptive span"}


def test_variants_that_have_baselines_of_their_own_begin_with_these(site, page):
    page.goto((site / "questions/adaptive_vs_xl/index.html").as_uri())
    field, own = page.get_by_label("compared with"), page.locator("[data-own]")
    large = page.locator('.variants tr[data-variant="large adaptive span"]').first
    assert field.input_value() == "its own baseline"
    assert "0.000" in large.inner_text()
    assert all(name in own.inner_text() for name in ("large adaptive span", "large Transformer-XL"))
    field.select_option("large adaptive span")
    assert not own.is_visible()
    assert "0.000" not in large.inner_text()
    shown = page.locator("[data-baseline]:visible")
    assert [each.get_attribute("data-baseline") for each in shown.all()] == ["large adaptive span"]
    assert "large adaptive span" not in shown.locator("tr th[scope=row]").all_inner_texts()
    page.reload()  # a copied address keeps the baseline
    assert shown.get_attribute("data-baseline") == "large adaptive span"


@pytest.mark.parametrize(
    "typed, title",
    [
        ("pivot table", "Pivot table"),  # an exact title comes before what only has the words
        ("GQA", "shared keys"),
        ("sparse attention", "top-k"),
    ],
)
def test_search_puts_exact_titles_first_and_knows_the_synonyms_of_the_field(
    typed, title, page, tmp_path
):
    """The report has a page of each title, and one that only mentions the words."""
    titles = ["shared keys", "top-k", "The pivot table, explained"]
    entries = [["About everything", "all.html", ", ".join([*titles, "Pivot table"])]]
    entries += [[title, f"{number}.html", ""] for number, title in enumerate(titles)]
    kinds = {"questions": entries, "pages": [["Pivot table", "pivot.html", ""]]}
    parts = json.dumps({"synonyms": synonyms(), "kinds": kinds}).removeprefix("{")
    (tmp_path / "report.js").write_text(f"{BEGINS}{parts});", encoding="utf-8")
    Site(tmp_path / "results", tmp_path).write("base.html.j2", "index.html", {"title": "t"})
    page.goto((tmp_path / "index.html").as_uri())
    page.get_by_role("searchbox").fill(typed)
    assert page.locator(".results a").first.inner_text() == title


def test_links_keep_the_baseline_and_lead_to_the_same_page_of_another_scale(page, tmp_path):
    for scale in ("a", "b"):
        site = Site(tmp_path / "results" / scale, tmp_path / scale)
        for name in ("pivot", "ledger"):
            site.write(
                "base.html.j2",
                f"{name}.html",
                {"title": f"{name} {scale}", "shared": ["ledger", "pivot"]},
            )
    (tmp_path / "b/pivot.html").unlink()
    write_scales(tmp_path)
    page.goto((tmp_path / "a/pivot.html").as_uri() + "#baseline=fixed span&sort.t=2")
    assert not page.get_by_role("link", name="b", exact=True).count()  # it has no such page
    page.get_by_role("link", name="Ledger", exact=True).click()
    page.get_by_role("link", name="b", exact=True).click()
    page.wait_for_load_state()  # the scripts come last
    assert page.title() == "ledger b"
    assert page.evaluate("view.all()") == {"baseline": "fixed span"}
