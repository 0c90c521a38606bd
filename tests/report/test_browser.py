"""The pages in a real browser; skipped where there is none."""

import json

import pytest

from workflow.report.pages.search import BEGINS, synonyms
from workflow.report.pages.site import Site

SPANS = "questions/span_limit"
ASKED = "questions/quality_vs_cost"
KINDS = (
    "../index",
    "index",
    "ledger",
    "formulas",
    "coverage",
    "pivot",
    "papers/adaptive_span",
    f"{ASKED}/index",
    f"{SPANS}/span_limit-adaptive-64-None-1",
)


@pytest.fixture(scope="module")
def one_of_each_kind(site):
    return [(site / f"{name}.html").resolve() for name in KINDS]


@pytest.fixture
def spans(site, page):
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto((site / f"{SPANS}/index.html").as_uri())
    return page


def test_pages_load_without_errors_ask_for_nothing_else_and_fit_their_window(
    site, page, one_of_each_kind
):
    messages = []
    requests = []
    page.on("console", lambda message: messages.append(message))
    page.on("pageerror", lambda error: messages.append(error))
    page.on("request", lambda request: requests.append(request.url))
    paths = set(one_of_each_kind)
    paths.update((site / "questions").glob("*/index.html"))
    for path in paths:
        page.goto(path.as_uri())
        assert page.locator("h1").count() == 1
        for width in (390, 900, 1440):
            page.set_viewport_size({"width": width, "height": 800})
            needed = page.evaluate("document.documentElement.scrollWidth")
            assert needed <= width, path
    # what a script raises has no type
    errors = [each for each in messages if getattr(each, "type", "error") == "error"]
    assert not errors
    for url in requests:
        assert url.startswith(("file:", "data:"))


@pytest.mark.parametrize("scheme, every", [("light", 1), ("dark", 3)])
def test_nothing_serious_stands_between_a_reader_and_a_page(scheme, every, page, one_of_each_kind):
    """axe-core: contrast, names, roles, order; all pages share one style."""
    playwright = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe is not installed"
    )
    axe = playwright.Axe()
    page.emulate_media(color_scheme=scheme)
    for path in one_of_each_kind[::every]:
        page.goto(path.as_uri())
        results = axe.run(page, options={"resultTypes": ["violations"]})
        serious = []
        for violation in results.response["violations"]:
            if violation["impact"] in ("serious", "critical"):
                serious.append(violation["id"])
        assert not serious, path


def test_a_click_sorts_and_another_turns_it_round(site, page):
    """By number, text or digest; runs that failed come last."""
    page.goto((site / f"{ASKED}/index.html").as_uri())
    table = page.get_by_role("region", name="Runs").locator("table")

    def sort(head: str) -> list[str]:
        """Click a head; what the cells of its column sort by."""
        column = table.locator("thead th").filter(has_text=head)
        column.locator("button").click()
        place = column.evaluate("head => head.cellIndex + 1")
        cells = table.locator(f"tbody tr > :nth-child({place})")
        return cells.evaluate_all("cells => cells.map(cell => cell.dataset.sort ?? cell.innerText)")

    *up, failed, also_failed = sort("mean span")
    assert up == sorted(up, key=float)
    assert failed == ""
    assert also_failed == ""
    assert sort("mean span") == [*reversed(up), "", ""]
    names = sort("variant")
    assert names == sorted(names, key=str.lower)


@pytest.fixture
def grid(site, page):
    """Shows the pivot table as asked, and reads it."""

    def read(on=page, **view):
        for name, value in view.items():
            field = on.locator(f'select[name="{name}"]')
            field.select_option(value)
        rows = on.locator("#pivot tr").all_inner_texts()
        return [row.split("\t") for row in rows]

    page.goto((site / "pivot.html").as_uri())
    read(question="span_limit", measure="dev bpc")
    return read


def test_the_grid_is_turned_and_a_link_keeps_the_view(grid, page, browser):
    shown = grid(rows="variant", columns="S")
    assert shown[0] == ["variant", "S = 32", "S = 64"]
    # seeds 1 and 2 of 2 + seed / 10
    assert shown[2] == ["adaptive span", "2.15 (2.1, 2.2)", "2.15 (2.1, 2.2)"]
    head, *rows = grid(rows="S", columns="variant", baseline="32")
    assert head == ["S", "fixed span", "adaptive span"]
    assert rows[0] == ["S = 32", "1 x", "1 x"]
    button = page.locator("#pivot thead button").first
    button.press("Enter")
    button.press("Enter")
    other = browser.new_page()
    other.goto(page.url)
    assert grid(on=other) == [head, *reversed(rows)]
    other.close()


def test_the_grid_shows_intervals_and_keeps_variants_apart(grid, page):
    """Of the first variant 2 and 4.303 / sqrt(3) on either side, but for what is below 0."""
    bpc = 'cell.variant === "fixed span" ? { 1: 1, 2: 2, 3: 3 } : { 1: 7, 2: 7, 3: 7 }'
    cells = "questions.span_limit.cells"
    page.evaluate(f'{cells}.forEach((cell) => {{ cell["dev bpc"] = {bpc}; }})')
    of_fixed = grid(rows="S", columns="S")
    assert of_fixed[1] == ["S = 32", "2.0 (0.0 to 4.5)"]
    # by seed 4, 4.5, 5: asked for
    of_both = grid(variant="")
    assert of_both[1] == ["S = 32", "4.5 ± 1.2"]


def dimmed(page) -> set[str]:
    rows = page.locator("tr.dim[data-variant]").all()
    return {row.get_attribute("data-variant") for row in rows}


def test_a_variant_is_followed_through_tables_and_figures_and_by_its_address(spans, browser):
    spans.get_by_role("button", name="adaptive span", exact=True).click()
    assert dimmed(spans) == {"fixed span"}
    assert spans.locator("figure .dim").count()
    other = browser.new_page()
    other.goto(spans.url)
    assert dimmed(other) == {"fixed span"}
    other.close()
    spans.go_back()
    assert not dimmed(spans)
    labels = spans.locator("#figure-answer-effect text")
    labels.filter(has_text="fixed span").first.click()
    assert dimmed(spans) == {"adaptive span"}


def test_variants_that_have_baselines_of_their_own_begin_with_these(site, page):
    page.goto((site / "questions/adaptive_vs_xl/index.html").as_uri())
    field = page.get_by_label("compared with")
    large = page.locator('.variants tr[data-variant="large adaptive span"]').first
    assert field.input_value() == "its own baseline"
    assert "0.000" in large.inner_text()
    field.select_option("large adaptive span")
    assert not page.locator("[data-own]").is_visible()
    assert "0.000" not in large.inner_text()
    # a copied address keeps the baseline
    page.reload()
    shown = page.locator("[data-baseline]:visible")
    assert shown.get_attribute("data-baseline") == "large adaptive span"


@pytest.mark.parametrize(
    "typed, title",
    [
        # an exact title comes before what only has the words
        ("pivot table", "Pivot table"),
        ("GQA", "shared keys"),
        ("sparse attention", "top-k"),
    ],
)
def test_search_puts_exact_titles_first_and_knows_the_synonyms_of_the_field(
    typed, title, page, tmp_path
):
    """The report has a page of each title, and one that only mentions the words."""
    titles = ["shared keys", "top-k", "The pivot table, explained", "Pivot table"]
    questions = [
        ["About everything", "all.html", ", ".join(titles)],
        ["shared keys", "0.html", ""],
        ["top-k", "1.html", ""],
        ["The pivot table, explained", "2.html", ""],
    ]
    pages = [["Pivot table", "pivot.html", ""]]
    index = {
        "synonyms": synonyms(),
        "kinds": {"questions": questions, "pages": pages},
    }
    parts = json.dumps(index).removeprefix("{")
    (tmp_path / "report.js").write_text(f"{BEGINS}{parts});", encoding="utf-8")
    built = Site(tmp_path / "results", tmp_path)
    built.write("base.html.j2", "index.html", {"title": "t"})
    page.goto((tmp_path / "index.html").as_uri())
    page.get_by_role("searchbox").fill(typed)
    assert page.locator(".results a").first.inner_text() == title
