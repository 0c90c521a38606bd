"""A real browser; what asks for it is skipped where there is none."""

import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    paths = list(filter(None, map(shutil.which, NAMES)))
    if not paths:
        pytest.skip("no chromium on this machine")
    with playwright.sync_playwright() as running:
        chromium = running.chromium.launch(executable_path=paths[0], args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser):
    tab = browser.new_page()
    yield tab
    tab.close()
