"""The pages in a real browser; skipped where there is none."""

import re

import pytest

WIDTHS = (390, 900, 1440)  # of a window
SPANS, ASKED = "questions/span_limit", "questions/quality_vs_cost"
RUN = f"{SPANS}/span_limit-adaptive-64-None-1"


@pytest.fixture(scope="module")
def one_of_each_kind(site):
    names = ["../index", "index", "ledger", "formulas", "coverage", "pivot", "papers/adaptive_span"]
    names += [f"{ASKED}/index", f"{ASKED}/quality_vs_cost-sparsemax-64-None-1", RUN]
    return [(site / f"{name}.html").resolve() for name in names]


def test_pages_load_without_errors_ask_for_nothing_else_and_fit_their_window(
    site, page, one_of_each_kind
):
    errors, requests = [], []
    page.on(
        "console", lambda message: errors.append(message.text) if message.type == "error" else None
    )
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    for path in {
        *one_of_each_kind,
        *(site / "questions").glob("*/index.html"),
        *(site / "papers").iterdir(),
    }:
        page.goto(path.as_uri())
        assert page.locator("h1").count() == 1
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (path, width)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            colour = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
            brightness = sum(map(int, re.findall(r"\d+", colour)))
            assert (brightness < 150) == (scheme == "dark"), path
    assert not errors
    assert all(url.startswith(("file:", "data:")) for url in requests)


def test_a_click_sorts_and_another_turns_it_round(site, page):
    """By number, text or digest; runs that failed come last."""

    def column(head: str, act: str, turn: str, *words: str) -> list[str]:
        """What the cells of a column sort by, after its head was touched."""
        column = table.locator("thead th").filter(has_text=head)
        getattr(column.locator("button"), act)(*words)
        assert column.get_attribute("aria-sort") == turn
        cells = table.locator(
            f"tbody tr > :nth-child({column.evaluate('head => head.cellIndex + 1')})"
        )
        return cells.evaluate_all("cells => cells.map(cell => cell.dataset.sort ?? cell.innerText)")

    page.goto((site / f"{ASKED}/index.html").as_uri())
    table = page.get_by_role("region", name="Runs").locator("table")
    up, down = (
        column("mean span", "click", "ascending"),
        column("mean span", "press", "descending", "Enter"),
    )
    assert up[:-2] == sorted(up[:-2], key=float)
    assert down[:-2] == up[:-2][::-1]
    assert up[-2:] == down[-2:] == ["", ""]
    for head in ("variant", "run"):
        names = column(head, "click", "ascending")
        assert names == sorted(names, key=str.lower)


@pytest.fixture
def grid(site, page):
    """Shows the pivot table as asked, with other numbers if some are given, and reads it."""

    def read(bpc: str = "", on=page, **view):
        if bpc:
            on.evaluate(
                f"""questions.span_limit.cells.forEach((cell) => {{ cell["dev bpc"] = {bpc}; }})"""
            )
        for name, value in view.items():
            on.locator(f'select[name="{name}"]').select_option(value)
        return [row.split("\t") for row in on.locator("#pivot tr").all_inner_texts()]

    page.goto((site / "pivot.html").as_uri())
    read(question="span_limit", measure="dev bpc")
    return read


def test_the_grid_is_turned_and_a_link_keeps_the_view(grid, page, browser):
    shown = grid(rows="variant", columns="S")
    assert shown[0] == ["variant", "S = 32", "S = 64"]
    assert [row[0] for row in shown[1:]] == ["fixed span", "adaptive span"]
    assert shown[2][1:] == ["2.15 (2.1, 2.2)"] * 2  # seeds 1 and 2 of 2 + seed / 10
    turned = grid(rows="S", columns="variant", baseline="32")
    assert turned[0] == ["S", "fixed span", "adaptive span"]
    assert turned[1] == [
        "S = 32",
        "1 x",
        "1 x",
    ]
    for _ in range(2):
        page.locator("#pivot thead button").first.press("Enter")
    assert [row[0] for row in grid()[1:]] == ["S = 64", "S = 32"]
    other = browser.new_page()
    other.goto(page.url)
    assert grid(on=other) == [turned[0], *turned[:0:-1]]
    other.close()


def test_the_grid_shows_intervals_and_keeps_variants_apart(grid):
    values = 'cell.variant === "fixed span" ? { 1: 1, 2: 2, 3: 3 } : { 1: 7, 2: 7, 3: 7 }'
    # of the first variant: 2 and 4.303 / sqrt(3) on either side, but for what is below 0
    assert grid(values, rows="S", columns="S")[1] == ["S = 32", "2.0 (0.0 to 4.5)"]
    assert grid(variant="")[1] == ["S = 32", "4.5 ± 1.2"]  # by seed 4, 4.5, 5: asked for


@pytest.mark.parametrize("scheme, rules", [("light", None), ("dark", ["color-contrast"])])
def test_nothing_serious_stands_between_a_reader_and_a_page(scheme, rules, page, one_of_each_kind):
    """axe-core: contrast, names, roles, order; what is dark differs in contrast alone."""
    playwright = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe is not installed"
    )
    axe = playwright.Axe()
    options = {"resultTypes": ["violations"]}
    paths = one_of_each_kind
    if rules:
        options["runOnly"] = rules
        paths = one_of_each_kind[::3]  # all pages share one style
    page.emulate_media(color_scheme=scheme)
    for path in paths:
        page.goto(path.as_uri())
        violations = axe.run(page, options=options).response["violations"]
        for each in violations:
            assert each["impact"] not in ("serious", "critical"), (path, each["id"])


def test_what_a_filtered_table_shows_is_copied(site, page):
    page.goto((site / f"{SPANS}/index.html").as_uri())
    # a clipboard is the browser's matter
    page.evaluate("copy = async (text) => { window.copied = text; }")
    page.get_by_label("Filter the rows of Runs").fill("64")
    page.get_by_label("Copy Runs as CSV").click()
    page.wait_for_function("window.copied")
    first, *lines = page.evaluate("window.copied").splitlines()
    assert first.startswith("variant,corpus,S,k,seed")
    assert lines
    assert not any(",32," in line for line in lines)
