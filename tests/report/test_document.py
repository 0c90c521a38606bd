"""Documents as pages: what our Markdown has, escaped, and links to what captions cite."""

import re

from workflow.config.files import ROOT
from workflow.report.pages.document import cited_documents, document_page, link_documents


def test_headings_paragraphs_and_tables(monkeypatch, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(
        "# A *b*\n\nOne `x < y`\nline.\n\n| h | i |\n| --- | --- |\n| a | *b* |\n\n## End\n"
    )
    monkeypatch.setattr("workflow.report.pages.document.ROOT", tmp_path)
    assert document_page("a") == {
        "title": "A *b*",
        "blocks": [
            ("p", "One <code>x &lt; y</code> line."),
            ("table", [["h", "i"], ["a", "<em>b</em>"]]),
            ("h2", "End"),
        ],
    }


def test_every_row_of_the_table_of_choices_has_its_columns():
    text = (ROOT / "docs" / "fidelity.md").read_text()
    (rows,) = [content for kind, content in document_page("fidelity")["blocks"] if kind == "table"]
    assert {len(row) for row in rows} == {5} and len(rows) == text.count("\n|") - 1


def test_a_cited_document_is_a_link_and_nothing_else_is():
    text = "see docs/fidelity.md & docs/none.md"
    link = '<a href="../documents/fidelity.html">docs/fidelity.md</a>'
    assert link_documents(text, "../") == f"see {link} &amp; docs/none.md"
    assert cited_documents(text) == ["fidelity"]


def test_a_list_of_contents_names_nothing_twice(site):
    for path in (site / "papers").glob("*.html"):
        contents = path.read_text().partition('<nav class="contents"')[2].partition("</nav>")[0]
        titles = re.findall(r'<a href="[^"]*">(.*?)</a>', contents)
        assert titles and len(titles) == len(set(titles)), path
