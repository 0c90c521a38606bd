"""The pages of docs/ as a site: all are in its contents, and what they link to, quote and name is
there.

`make docs` checks more, with Sphinx; these tests need neither it nor a network.
"""

import re
from importlib import import_module
from pathlib import Path

import pytest
from pydantic import BaseModel

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
LINKING = [*PAGES, ROOT / "README.md", ROOT / "config" / "README.md"]
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
each_linking = pytest.mark.parametrize(
    "page", LINKING, ids=lambda page: page.relative_to(ROOT).as_posix()
)


def contents(page: Path) -> list[Path]:
    """The pages that a page's tables of contents name, directly."""
    blocks = re.findall(r"^```\{toctree\}\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    names = [
        line for block in blocks for line in block.splitlines() if line and not line.startswith(":")
    ]
    return [found for name in names for found in sorted(page.parent.glob(f"{name}.md"))]


def anchors(page: Path) -> set[str]:
    """As Sphinx and GitHub name the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_is_in_the_contents_once():
    listed = [page for parent in PAGES for page in contents(parent)]
    assert sorted([*listed, DOCS / "index.md"]) == PAGES


@each_linking
def test_links_lead_to_places_and_headings_that_exist(page):
    text = re.sub(r"`[^`\n]*`", "", FENCED.sub("", page.read_text()))
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if link.startswith(("http://", "https://", "mailto:")):
            continue
        place, _, anchor = link.partition("#")
        target = (page.parent / place).resolve() if place else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_source_that_is_quoted_is_there_word_for_word(page):
    for place, quoted in re.findall(
        r"`([\w/]+\.(?:py|yaml))`[^`]*:\n\n```\w+\n(.*?)```", page.read_text(), re.DOTALL
    ):
        if (ROOT / place).exists():  # others are for the reader to write
            assert quoted in (ROOT / place).read_text(), place


def test_the_page_of_commands_has_every_command_and_none_that_is_not_there():
    commands = {path.stem for path in (ROOT / "workflow" / "cli").glob("[a-z]*.py")}
    named = {
        page: set(re.findall(r"python -m workflow\.cli\.(\w+)", page.read_text()))
        for page in LINKING
    }
    assert named[DOCS / "commands.md"] == commands == set.union(*named.values())


API = [
    name
    for page in (DOCS / "api").glob("*.md")
    for name in re.findall(r"autoapi\w+:: (\S+)", page.read_text())
]


@pytest.mark.parametrize("name", API)
def test_what_the_api_pages_name_is_there_and_says_what_it_is(name):
    """A schema without a docstring would show what pydantic says of its models."""
    module, _, kind = name.rpartition(".")
    shown = getattr(import_module(module), kind)
    assert shown.__module__ == module
    assert (
        vars(shown)["__doc__"]
        if isinstance(shown, type) and issubclass(shown, BaseModel)
        else shown
    )
