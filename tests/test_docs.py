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
    text = page.read_text()
    for block in CONTENTS.findall(text):
        names = re.findall(r"^[^:\n].*", block, re.MULTILINE)
        for name in names:
            found += page.parent.glob(f"{name}.md")
    return found


def anchors(page: Path) -> set[str]:
    """Name the headings of a page as Sphinx and GitHub do."""
    text = FENCED.sub("", page.read_text())
    found = set()
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    for heading in headings:
        words = re.sub(r"[^\w\- ]", "", heading.lower())
        found.add(words.replace(" ", "-"))
    return found


def test_every_page_is_in_the_contents_once():
    listed = [DOCS / "index.md"]
    for page in PAGES:
        listed += contents(page)
    assert sorted(listed) == PAGES


@pytest.mark.parametrize("page", LINKING, ids=place_of)
def test_links_lead_to_places_and_headings_that_exist(page):
    text = FENCED.sub("", page.read_text())
    text = re.sub(r"`[^`\n]*`", "", text)
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    for link in links:
        if link.startswith(ELSEWHERE):
            continue
        place, _, anchor = link.partition("#")
        target = page
        if place:
            target = page.parent / place
            target = target.resolve()
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


@pytest.mark.parametrize("page", PAGES, ids=place_of)
def test_source_that_is_quoted_is_there_word_for_word(page):
    for place, quoted in QUOTED.findall(page.read_text()):
        source = ROOT / place
        # others are for the reader to write
        if source.exists():
            assert quoted in source.read_text(), place


def test_the_page_of_commands_has_every_command_and_no_other():
    modules = (ROOT / "workflow" / "cli").glob("[a-z]*.py")
    commands = {path.stem for path in modules}
    for page in LINKING:
        text = page.read_text()
        named = re.findall(r"python -m workflow\.cli\.(\w+)", text)
        assert commands.issuperset(named), page
        if page == DOCS / "commands.md":
            assert commands.issubset(named)


def test_every_key_of_the_config_is_explained():
    text = (ROOT / "config" / "README.md").read_text()
    begin = text.index("## config.yaml")
    end = text.index("## studies/")
    keys = re.findall(r"^\| `(\w+)` \|", text[begin:end], re.MULTILINE)
    assert set(keys) == set(Config.model_fields)


def test_what_the_api_pages_name_exists_and_has_a_docstring():
    """A schema without one would show what pydantic says of its models."""
    for page in (DOCS / "api").glob("*.md"):
        text = page.read_text()
        names = re.findall(r"autoapi\w+:: (\S+)", text)
        for name in names:
            place, _, kind = name.rpartition(".")
            module = import_module(place)
            shown = getattr(module, kind)
            assert shown.__module__ == place
            is_class = isinstance(shown, type)
            if is_class and issubclass(shown, BaseModel):
                assert vars(shown)["__doc__"], name
