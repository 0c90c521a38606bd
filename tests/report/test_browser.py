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
WIDTHS = (390, 900, 1440)  # of a window


@pytest.fixture(scope="session")
def browser():
    with playwright.sync_playwright() as running:
        chromium = running.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser):
    tab = browser.new_page()
    yield tab
    tab.close()


def sample_pages(site):
    """Pages of each kind: all but the runs, of which there are three."""
    names = [
        "../index.html",
        "index.html",
        "ledger.html",
        "analytic.html",
        "status.html",
        "pivot.html",
    ]
    names += ["papers/adaptive_span.html", "papers/explicit_sparse.html"]
    ablations = sorted((site / "ablations").glob("*/index.html"))
    runs = [f"ablations/{name}-1.html" for name in ("span_limit/span_limit-adaptive-64-None", "top_k/top_k-xl-64-None")]
    runs += ["ablations/quality_against_cost/quality_against_cost-sparsemax-64-None-1.html"]
    return [*((site / name).resolve() for name in (*names, *runs)), *ablations]


def test_pages_load_without_errors_ask_for_nothing_else_and_fit_their_window(site, page):
    errors, requests = [], []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    for path in sample_pages(site):
        page.goto(path.as_uri())
        assert page.locator("h1").count() == 1
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (path, width)
    assert not errors
    assert all(url.startswith(("file:", "data:")) for url in requests)


def column(page, table, index):
    return page.locator(f"{table} tbody tr td:nth-child({index})").evaluate_all(
        "cells => cells.map(cell => cell.dataset.sort)"
    )


def test_a_click_sorts_and_another_turns_it_round(site, page):
    page.goto((site / "ablations" / "span_limit" / "index.html").as_uri())
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


def test_runs_that_failed_come_last_and_the_digests_sort_as_text(site, page):
    page.goto((site / "ablations" / "quality_against_cost" / "index.html").as_uri())
    table = page.get_by_role("region", name="Runs").locator("table")
    assert order(page, table, "avg. span")[-2:] == ["sparsemax", "sparsemax"]
    assert order(page, table, "run") == sorted(order(page, table, "variant"), key=str.lower)


def test_dark_mode_is_dark(site, page):
    def shade():
        colour = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        return sum(int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(","))

    page.goto((site / "index.html").as_uri())
    page.emulate_media(color_scheme="light")
    light = shade()
    page.emulate_media(color_scheme="dark")
    assert shade() < 150 < light


def visible(page, rows):
    return page.locator(rows).evaluate_all("rows => rows.filter(row => row.getClientRects().length).length")


def test_words_filter_the_rows_of_a_table(site, page):
    page.goto((site / "ablations" / "span_limit" / "index.html").as_uri())
    rows = '[aria-label="Runs"] tbody tr'
    every = visible(page, rows)
    page.get_by_label("Filter the rows of Runs").fill("adaptive 64")
    assert 0 < visible(page, rows) < every
    assert all("adaptive" in text for text in page.locator(f"{rows}:visible").all_inner_texts())
    page.get_by_label("Filter the rows of Runs").fill("nothing of the kind")
    assert visible(page, rows) == 0
    assert page.get_by_role("status").filter(has_text="no row has these words").count() == 1
    page.get_by_label("Filter the rows of Runs").fill("")
    assert visible(page, rows) == every


def test_a_verdict_shows_its_claims_alone_and_again_all(site, page):
    page.goto((site / "ledger.html").as_uri())
    rows = "tr[data-verdict]"
    every, button = visible(page, rows), page.locator('button[data-verdict="cannot tell"]')
    button.press("Enter")
    assert button.get_attribute("aria-pressed") == "true"
    assert visible(page, rows) == visible(page, 'tr[data-verdict="cannot tell"]') < every
    button.click()
    assert visible(page, rows) == every and button.get_attribute("aria-pressed") == "false"


def test_a_note_opens_inside_the_window_by_key(site, page):
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto((site / "ablations" / "span_limit" / "index.html").as_uri())
    tip = page.locator("#table-adaptive_span_costs .tip").first
    assert not tip.locator("span").is_visible()
    tip.focus()
    box = tip.locator("span").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390


def test_a_wide_table_is_printed_whole(site, page):
    page.set_viewport_size({"width": 1030, "height": 700})  # A4 across, without its margins
    page.goto((site / "ablations" / "span_limit" / "index.html").as_uri())
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    edges = page.locator(".scroll > table").evaluate_all("tables => tables.map(t => t.getBoundingClientRect().right)")
    assert len(edges) > 2 and max(edges) <= 1030


@pytest.mark.parametrize(
    "name, first, row",
    [
        ("CSV", "variant,text,S,k,seed", "fixed span,Python sources in 27 letters,64,,1,"),
        ("Markdown", "| variant | text | S |", "| fixed span | Python sources in 27 letters | 64 |  | 1 |"),
        ("LaTeX", "\\begin{tabular}{lrrrr", "fixed span & Python sources in 27 letters & 64 &  & 1 &"),
    ],
)
def test_what_a_table_shows_is_copied(name, first, row, site, page):
    page.goto((site / "ablations" / "span_limit" / "index.html").as_uri())
    page.evaluate("copy = async (text) => { window.copied = text; }")  # a clipboard is the browser's matter
    page.get_by_label("Filter the rows of Runs").fill("64")
    page.get_by_label(f"Copy Runs as {name}").click()
    page.wait_for_function("window.copied")
    lines = page.evaluate("window.copied").splitlines()
    assert lines[0].startswith(first) and any(line.startswith(row) for line in lines)
    assert not any(",32," in line or "| 32 |" in line or "& 32 &" in line for line in lines)  # the filter holds
    assert page.get_by_role("status").filter(has_text=f"{name} copied").count() == 1


def select(page, **view):
    for name, value in view.items():
        page.locator(f'select[name="{name}"]').select_option(value)


def grid(page):
    return [row.split("\t") for row in page.locator("#pivot tr").all_inner_texts()]


def test_the_grid_is_turned_and_a_link_keeps_the_view(site, page, browser):
    page.goto((site / "pivot.html").as_uri())
    select(page, question="span_limit", rows="variant", columns="S", measure="dev bpc")
    shown = grid(page)
    assert shown[0] == ["variant", "S = 32", "S = 64"]
    assert [row[0] for row in shown[1:]] == ["fixed span", "adaptive span"]
    assert shown[2][1:] == ["2.15 (2.1, 2.2)"] * 2  # seeds 1 and 2 of 2 + seed / 10
    select(page, rows="S", columns="variant", baseline="32")
    turned = grid(page)
    assert turned[0] == ["S", "fixed span", "adaptive span"] and turned[1] == ["S = 32", "1 x", "1 x"]
    page.locator("#pivot thead button").first.press("Enter")
    page.locator("#pivot thead button").first.press("Enter")
    assert [row[0] for row in grid(page)[1:]] == ["S = 64", "S = 32"]
    other = browser.new_page()
    other.goto(page.url)
    assert grid(other) == turned
    other.close()


def test_the_grid_is_a_mean_over_what_stands_on_no_side_or_one_part_of_it(site, page):
    page.goto((site / "pivot.html").as_uri())
    page.evaluate('questions.span_limit.cells.forEach((cell) => { cell["dev bpc"] = { 1: cell.S }; })')
    select(page, question="span_limit", rows="variant", columns="variant", measure="dev bpc")
    assert grid(page) == [["variant", "dev bpc"], ["fixed span", "48"], ["adaptive span", "48"]]  # S is 32 and 64
    select(page, S="64")
    assert grid(page)[1:] == [["fixed span", "64"], ["adaptive span", "64"]] and "S=64" in page.url


def test_the_grid_shows_intervals_and_keeps_variants_apart(site, page):
    page.goto((site / "pivot.html").as_uri())
    values = 'cell.variant === "fixed span" ? { 1: 1, 2: 2, 3: 3 } : { 1: 7, 2: 7, 3: 7 }'
    page.evaluate(f'questions.span_limit.cells.forEach((cell) => {{ cell["dev bpc"] = {values}; }})')
    select(page, question="span_limit", rows="S", columns="S", measure="dev bpc")
    assert grid(page)[1] == ["S = 32", "2.0 ± 2.5"]  # of the first variant: 2 and 4.303 / sqrt(3)
    select(page, variant="")
    assert grid(page)[1] == ["S = 32", "4.5 ± 1.2"]  # by seed 4, 4.5, 5: asked for


def test_the_page_of_a_run_draws_its_curves(site, page):
    """Train and dev at two steps, and the mean span; a mark for each, and one for each name."""
    page.goto((site / "ablations" / "span_limit" / "span_limit-adaptive-64-None-1.html").as_uri())
    scores, spans = page.locator("figure.curve").all()
    assert scores.locator("path").count() == 2 * 2 + 2 and spans.locator("path").count() == 2 + 1
    assert "bits per character, by steps" in scores.inner_text()


def one_of_each_kind(site):
    names = ["../index", "index", "ledger", "analytic", "status", "pivot", "papers/adaptive_span"]
    question = "quality_against_cost"
    names += [f"ablations/{question}/index", f"ablations/{question}/{question}-sparsemax-64-None-1"]
    return [(site / f"{name}.html").resolve() for name in names]


@pytest.mark.parametrize("scheme, rules", [("light", None), ("dark", ["color-contrast"])])
def test_nothing_serious_stands_between_a_reader_and_a_page(scheme, rules, site, page):
    """axe-core: contrast, names, roles, order; what is dark differs in contrast alone."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    page.emulate_media(color_scheme=scheme)
    for path in one_of_each_kind(site):
        page.goto(path.as_uri())
        options = {"resultTypes": ["violations"], **({"runOnly": rules} if rules else {})}
        violations = axe.run(page, options=options).response["violations"]
        serious = [violation for violation in violations if violation["impact"] in ("serious", "critical")]
        assert not serious, [(path, each["id"], each["nodes"][0]["html"][:300]) for each in serious]
