"""The pages of docs/: all are in the contents, and what they link to, quote and name exists.

`make docs` checks more, with Sphinx; these tests need neither it nor a network.
"""

import re
from importlib import import_module
from pathlib import Path

import pytest
from pydantic import BaseModel

from workflow.settings.config import Config

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
LINKING = [*PAGES, ROOT / "README.md", ROOT / "config" / "README.md"]
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
CONTENTS = re.compile(r"^```\{toctree\}\n(.*?)^```", re.MULTILINE | re.DOTALL)
QUOTED = re.compile(r"`([\w/]+\.(?:py|yaml))`[^`]*:\n\n```\w+\n(.*?)```", re.DOTALL)
ELSEWHERE = ("http://", "https://", "mailto:")


def place_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def contents(page: Path) -> list[Path]:
    """List the pages that a page's tables of contents name, directly."""
    found = []
    for block in CONTENTS.findall(page.read_text()):
        for line in block.splitlines():
            if line and not line.startswith(":"):
                found += page.parent.glob(f"{line}.md")
    return found


def anchors(page: Path) -> set[str]:
    """Name the headings of a page as Sphinx and GitHub do."""
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_is_in_the_contents_once():
    listed = [page for parent in PAGES for page in contents(parent)]
    assert sorted([*listed, DOCS / "index.md"]) == PAGES


@pytest.mark.parametrize("page", LINKING, ids=place_of)
def test_links_lead_to_places_and_headings_that_exist(page):
    text = re.sub(r"`[^`\n]*`", "", FENCED.sub("", page.read_text()))
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if not link.startswith(ELSEWHERE):
            place, _, anchor = link.partition("#")
            target = (page.parent / place).resolve() if place else page
            assert target.exists(), link
            assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("page", PAGES, ids=place_of)
def test_source_that_is_quoted_is_there_word_for_word(page):
    for place, quoted in QUOTED.findall(page.read_text()):
        if (ROOT / place).exists():  # others are for the reader to write
            assert quoted in (ROOT / place).read_text(), place


def test_the_page_of_commands_has_every_command_and_no_other():
    commands = {path.stem for path in (ROOT / "workflow" / "cli").glob("[a-z]*.py")}
    named = {}
    for page in LINKING:
        named[page] = {*re.findall(r"python -m workflow\.cli\.(\w+)", page.read_text())}
    assert named[DOCS / "commands.md"] == commands
    assert set.union(*named.values()) == commands


def test_every_key_of_the_config_is_explained():
    text = (ROOT / "config" / "README.md").read_text()
    section = text[text.index("## config.yaml") : text.index("## studies/")]
    assert {*re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)} == set(Config.model_fields)


def test_what_the_api_pages_name_exists_and_has_a_docstring():
    """A schema without one would show what pydantic says of its models."""
    for page in (DOCS / "api").glob("*.md"):
        for name in re.findall(r"autoapi\w+:: (\S+)", page.read_text()):
            module, _, kind = name.rpartition(".")
            shown = getattr(import_module(module), kind)
            assert shown.__module__ == module
            if isinstance(shown, type) and issubclass(shown, BaseModel):
                assert vars(shown)["__doc__"], name
