"""The pages in a real browser; skipped where there is none."""

import shutil

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
BROWSER = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium on this machine")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as running:
        made = running.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield made
        made.close()


@pytest.fixture
def page(browser):
    made = browser.new_page()
    yield made
    made.close()


def some(site):
    """A page of each kind."""
    names = ["index.html", "analytic.html", "papers/adaptive_span.html", "papers/explicit_sparse.html"]
    return (
        [site / name for name in names]
        + sorted((site / "ablations").glob("*.html"))
        + sorted((site / "runs").glob("*.html"))[:3]
    )


def test_pages_load_without_errors_and_ask_for_nothing_else(site, page):
    errors, requests = [], []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    for path in some(site):
        page.goto(path.as_uri())
        assert page.locator("h1").count() == 1
    assert not errors
    assert all(url.startswith(("file:", "data:")) for url in requests)


def column(page, table, index):
    return page.locator(f"{table} tbody tr td:nth-child({index})").evaluate_all(
        "cells => cells.map(cell => cell.dataset.sort)"
    )


def test_a_click_sorts_and_another_turns_it_round(site, page):
    page.goto((site / "ablations" / "span_limit.html").as_uri())
    table = "#table-adaptive_span_costs table"
    head = page.locator(f"{table} thead th").filter(has_text="executed")
    index = head.evaluate("head => head.cellIndex + 1")
    head.locator("button").click()
    up = [float(value) for value in column(page, table, index) if value]
    assert up == sorted(up) and head.get_attribute("aria-sort") == "ascending"
    head.locator("button").press("Enter")
    down = [float(value) for value in column(page, table, index) if value]
    assert down == sorted(up, reverse=True) and head.get_attribute("aria-sort") == "descending"


def order(page, table, head):
    """The first words of the rows after a click on a head."""
    table.locator("thead button").filter(has_text=head).click()
    return table.locator("tbody th").all_inner_texts()


def test_a_table_of_the_index_sorts_by_the_raw_values(site, page):
    page.goto((site / "index.html").as_uri())
    table = page.locator("article", has=page.locator('h3 a[href="ablations/dynamic_span.html"]')).locator("table")
    assert order(page, table, "executed") == ["fixed", "adaptive", "dynamic"]  # 9,900 then 10.67k then 1.2M


def test_runs_that_failed_come_last_and_the_digests_sort_as_text(site, page):
    page.goto((site / "ablations" / "normalisers.html").as_uri())
    table = page.get_by_role("region", name="Runs").locator("table")
    assert order(page, table, "avg. span")[-2:] == ["sparsemax", "sparsemax"]
    assert order(page, table, "run") == sorted(order(page, table, "variant"))


@pytest.mark.parametrize("width", [390, 900, 1440])
def test_no_page_is_wider_than_its_window(site, page, width):
    page.set_viewport_size({"width": width, "height": 800})
    for path in some(site):
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path


def test_dark_mode_is_dark(site, page):
    def shade():
        colour = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        return sum(int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(","))

    page.goto((site / "index.html").as_uri())
    page.emulate_media(color_scheme="light")
    light = shade()
    page.emulate_media(color_scheme="dark")
    assert shade() < 150 < light


def test_a_cell_leads_to_its_run(site, page):
    page.goto((site / "papers" / "adaptive_span.html").as_uri())
    page.locator("td a.ours").first.click()
    assert "/runs/" in page.url and page.locator("h1").inner_text().startswith("Run ")
