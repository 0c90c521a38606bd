"""A document of docs/ as a page, so that what the pages cite goes where they go.

It reads the Markdown that is written there: headings, paragraphs and tables, `code` and *emphasis* within them, and
nothing else.
"""

import re
from pathlib import Path

from markupsafe import Markup, escape

from workflow.config.files import ROOT

SPANS = ((re.compile(r"`([^`]+)`"), r"<code>\1</code>"), (re.compile(r"\*([^*]+)\*"), r"<em>\1</em>"))
RULER = re.compile(r"^\|[\s:|-]+\|$")
CITED = re.compile(r"docs/(\w+)\.md")


def document_page(name: str) -> dict:
    """title, and blocks: (kind, content), kind: h2 | p | table, of docs/NAME.md."""
    text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    heading, *blocks = re.split(r"\n\s*\n", text.strip())
    return {"title": heading.removeprefix("# "), "blocks": [_block(block.splitlines()) for block in blocks]}


def _block(lines: list[str]) -> tuple[str, object]:
    if lines[0].startswith("|"):
        rows = [
            [_inline(cell.strip()) for cell in line.strip("|").split("|")] for line in lines if not RULER.match(line)
        ]
        return "table", rows
    kind = "h2" if lines[0].startswith("## ") else "p"
    return kind, _inline(" ".join(lines).removeprefix("## "))


def _inline(text: str) -> Markup:
    """Escaped, with code and emphasis."""
    html = str(escape(text))
    for pattern, replacement in SPANS:
        html = pattern.sub(replacement, html)
    return Markup(html)


def cited_documents(text: str) -> list[str]:
    """Names of the documents that a text cites and that are there."""
    return [name for name in dict.fromkeys(CITED.findall(text)) if Path(ROOT, "docs", f"{name}.md").is_file()]


def link_documents(text: str, up: str) -> Markup:
    """The text, escaped, each document it cites a link to its page. up: from the page to the top of its reports."""
    parts, known = CITED.split(str(text)), cited_documents(str(text))
    links = [
        Markup('<a href="{}documents/{}.html">docs/{}.md</a>').format(up, part, part)
        if part in known
        else f"docs/{part}.md"
        for part in parts[1::2]
    ]
    return Markup("").join([escape(each) for pair in zip(parts[::2], [*links, ""], strict=True) for each in pair])
